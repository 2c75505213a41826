#include "measure/pace.h"

#include <gtest/gtest.h>

#include "measure/fake_timer_for_test.h"

namespace trivet {
namespace {

PaceResult paced(double run_ms, double fps, std::size_t frames) {
  FakeTimer timer;
  const auto run = [&]() -> Result<void> {
    timer.pass(run_ms / 1000);
    return {};
  };
  const auto result = measure_pace(run, {.fps = fps, .frames = frames}, timer);
  EXPECT_TRUE(result);
  return *result;
}

TEST(Pace, WorkThatFitsMissesNothing) {
  const PaceResult result = paced(33.0, 30, 30);
  EXPECT_EQ(result.missed(), 0U);
  EXPECT_EQ(result.latency_ms.size(), 30U);
  EXPECT_NEAR(result.latency_ms.back(), 33.0, 1e-6);
  EXPECT_NEAR(result.seconds, 29.0 / 30 + 0.033, 1e-6);
}

TEST(Pace, SteadyWorkOverThePeriodDropsNowAndThen) {
  // 37 ms against 33.3 ms: of 30 frames a second 27 are met.
  const PaceResult result = paced(37.0, 30, 300);
  EXPECT_NEAR(static_cast<double>(result.dropped), 30, 1);
  EXPECT_EQ(result.latency_ms.size() + result.dropped, 300U);
  EXPECT_EQ(result.late, result.latency_ms.size());
}

TEST(Pace, TwiceThePeriodTakesEverySecondFrame) {
  const PaceResult result = paced(20.0, 100, 100);
  EXPECT_NEAR(static_cast<double>(result.dropped), 50, 1);
}

TEST(Pace, OneSlowFrameIsOneMissAndWhatItDelays) {
  FakeTimer timer;
  int runs = 0;
  const auto run = [&]() -> Result<void> {
    timer.pass(++runs == 5 ? 0.025 : 0.004);
    return {};
  };
  const auto result = measure_pace(run, {.fps = 100, .frames = 20}, timer);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->late, 1U);     // the slow one
  EXPECT_EQ(result->dropped, 1U);  // of the two that came meanwhile the newer one is taken
  EXPECT_EQ(result->latency_ms.size(), 19U);
}

TEST(Pace, AnErrorEndsIt) {
  FakeTimer timer;
  const auto run = []() -> Result<void> { return fail(ErrorCode::kFailed, "no"); };
  EXPECT_FALSE(measure_pace(run, {.fps = 30, .frames = 3}, timer));
}

}  // namespace
}  // namespace trivet

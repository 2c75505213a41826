#include "measure/scenario.h"

#include <gtest/gtest.h>

#include "measure/fake_timer_for_test.h"

namespace trivet {
namespace {

ScenarioResult loaded(const ScenarioOptions& options, double run_ms) {
  FakeTimer timer;
  const auto run = [&]() -> Result<void> {
    timer.pass(run_ms / 1000);
    return {};
  };
  const auto result = run_scenario(run, options, timer);
  EXPECT_TRUE(result);
  return *result;
}

TEST(Scenario, FewestQueriesAreLoadGens) {
  EXPECT_EQ(fewest_queries(0.90), 64U);
  EXPECT_EQ(fewest_queries(0.99), 662U);
}

TEST(Scenario, SingleStreamCountsQueriesAndTime) {
  const ScenarioResult result = loaded({.scenario = Scenario::kSingleStream, .seconds = 1}, 10);
  EXPECT_NEAR(static_cast<double>(result.queries), 100, 1);
  EXPECT_NEAR(result.metric, 10, 1e-6);
  EXPECT_TRUE(result.valid());
  const ScenarioResult few = loaded({.scenario = Scenario::kSingleStream, .seconds = 0.5}, 10);
  EXPECT_FALSE(few.valid());
  EXPECT_NE(few.faults.front().find("a p90 needs 64"), std::string::npos);
}

TEST(Scenario, MultiStreamAnswersEightSamplesAtATime) {
  const ScenarioResult alone = loaded({.scenario = Scenario::kMultiStream, .seconds = 1}, 10);
  EXPECT_NEAR(alone.metric, 80, 1e-6);
  EXPECT_EQ(alone.samples, 8 * alone.queries);
  const ScenarioResult batched =
      loaded({.scenario = Scenario::kMultiStream, .seconds = 1, .samples_per_run = 8}, 10);
  EXPECT_NEAR(batched.metric, 10, 1e-6);
  EXPECT_FALSE(batched.valid());  // 100 queries are too few for a p99
}

TEST(Scenario, OfflineIsThroughput) {
  const ScenarioResult result =
      loaded({.scenario = Scenario::kOffline, .seconds = 2, .samples_per_run = 4}, 10);
  EXPECT_NEAR(result.metric, 400, 1e-6);
  EXPECT_TRUE(result.valid());
}

TEST(Scenario, ServerWaitsWhenQueriesComeTogether) {
  // M/D/1 at half load: the mean wait is ρ / (2 (1 − ρ)) = 0.5 of a service of 10 ms.
  const ScenarioResult result = loaded(
      {.scenario = Scenario::kServer, .seconds = 2000, .queries_per_second = 50, .target_ms = 60},
      10);
  double sum = 0;
  for (const double latency : result.latency_ms) sum += latency;
  EXPECT_NEAR(sum / static_cast<double>(result.queries), 15, 0.5);
  EXPECT_TRUE(result.valid());
  const ScenarioResult over = loaded(
      {.scenario = Scenario::kServer, .seconds = 100, .queries_per_second = 50, .target_ms = 11},
      10);
  EXPECT_FALSE(over.valid());
}

TEST(Scenario, Names) {
  EXPECT_EQ(*scenario_from_name("single-stream"), Scenario::kSingleStream);
  EXPECT_EQ(*scenario_from_name("OFFLINE"), Scenario::kOffline);
  EXPECT_FALSE(scenario_from_name("burst"));
  EXPECT_EQ(scenario_name(Scenario::kServer), "Server");
}

}  // namespace
}  // namespace trivet

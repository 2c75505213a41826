#include "measure/conditions.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

TEST(Conditions, ClockAndGovernorOfAMadeTree) {
  const TempDirForTest dir;
  for (const int cpu : {0, 1}) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
    dir.write(folder + "scaling_cur_freq", cpu == 0 ? "2000000\n" : "3000000\n");
    dir.write(folder + "scaling_governor", "powersave\n");
  }
  const ClockState state = clock_state({dir.path()});
  EXPECT_EQ(state.governor, "powersave");
  ASSERT_TRUE(state.mhz);
  EXPECT_DOUBLE_EQ(*state.mhz, 2500);
  EXPECT_FALSE(clock_state({dir.file("nothing")}).mhz);
}

TEST(Conditions, ProcessorTimeOfAMadeTree) {
  const TempDirForTest dir;
  dir.write("proc/stat", "cpu  100 20 30 4000 50 6 7 80 0 0\ncpu0 1 2 3 4\n");
  const auto time = processor_time({dir.path()});
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->busy, 1.63, 1e-9);
  EXPECT_NEAR(time->stolen, 0.80, 1e-9);
  EXPECT_FALSE(processor_time({dir.file("nothing")}));
  dir.write("proc/stat", "intr 1 2 3 4 5 6 7 8\n");
  EXPECT_FALSE(processor_time({dir.path()}));
}

TEST(Conditions, ForeignLoadIsWhatIsNotOurs) {
  const TempDirForTest dir;
  dir.write("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
  const ConditionsMeter meter({dir.path()});
  dir.write("proc/stat", "cpu  1000000 0 0 0 0 0 0 0 0 0\n");
  const Conditions conditions = meter.finish();
  ASSERT_TRUE(conditions.foreign_load);
  EXPECT_GT(*conditions.foreign_load, 1);
}

TEST(Conditions, DriftComparesTheEndsOfTheRun) {
  std::vector<double> samples(30, 10.0);
  EXPECT_DOUBLE_EQ(drift(samples), 1);
  for (std::size_t i = 20; i < 30; ++i) samples[i] = 11;
  EXPECT_DOUBLE_EQ(drift(samples), 1.1);
  EXPECT_DOUBLE_EQ(drift(std::vector<double>(5, 1.0)), 1);
}

TEST(Conditions, EachDisturbanceIsNamed) {
  const std::vector<double> calm(60, 10.0);
  EXPECT_TRUE(disturbances(calm, {}).empty());
  std::vector<double> tail = calm;
  for (std::size_t i = 0; i < 60; i += 10) tail[i] = 20;
  EXPECT_NE(disturbances(tail, {}).front().find("p95"), std::string::npos);
  std::vector<double> hot = calm;
  for (std::size_t i = 40; i < 60; ++i) hot[i] = 12;
  EXPECT_EQ(disturbances(hot, {}).front(),
            "the last third of the runs was 20.0 % slower than the first");
  Conditions busy;
  busy.seconds = 2;
  busy.foreign_load = 0.5;
  EXPECT_EQ(disturbances(calm, busy).front(), "other programs used 50.0 % of a processor");
  busy.seconds = 0.1;
  EXPECT_TRUE(disturbances(calm, busy).empty());
  Conditions throttled;
  throttled.before.mhz = 2000;
  throttled.after.mhz = 1500;
  EXPECT_EQ(disturbances(calm, throttled).front(), "the clock went from 2000 to 1500 MHz");
}

}  // namespace
}  // namespace trivet

#include "cli/machine.h"

#include <gtest/gtest.h>

#include "base/temp_dir_for_test.h"
#include "cli/command.h"
#include "cli/json.h"
#include "measure/machine_file.h"

namespace trivet::cli {
namespace {

std::string output_of(const MachineOptions& options) {
  ::testing::internal::CaptureStdout();
  const auto code = run_machine(options);
  std::fflush(stdout);
  std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(code) << code.error().message;
  EXPECT_EQ(code.value_or(-1), kPassed);
  return out;
}

TEST(MachineCommand, PrintsWhatItWrites) {
  const TempDirForTest dir;
  // Small caches, so that little memory is taken.
  dir.write("sys/devices/system/cpu/online", "0\n");
  dir.write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  dir.write("sys/devices/system/cpu/cpu0/cache/index0/size", "16K\n");
  const MachineOptions options = {.threads = 1,
                                  .save = dir.file("peaks.json"),
                                  .force = false,
                                  .json = true,
                                  .seconds = 0.01,
                                  .root = {dir.path()}};
  const Json printed = Json::parse(output_of(options));
  const auto written = read_machine_file(options.save);
  ASSERT_TRUE(written) << written.error().message;
  Json expected = machine_to_json(*written);
  expected["file"] = options.save;
  EXPECT_EQ(printed, expected);

  MachineOptions again = options;
  again.json = false;
  const auto refused = run_machine(again);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);
  again.force = true;
  const std::string text = output_of(again);
  for (const char* part :
       {"processor", "threads", "float32 GFLOP/s", "memory GB/s", "peaks.json"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  const bool has_bf16 = !written->bf16_instruction.empty();
  EXPECT_EQ(text.find("not available") == std::string::npos, has_bf16) << text;
}

}  // namespace
}  // namespace trivet::cli

#include "measure/machine.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "base/temp_dir_for_test.h"
#include "kernels/kernels.h"
#include "measure/machine_file.h"

namespace trivet {
namespace {

using Json = nlohmann::ordered_json;

MachinePeaks sample() {
  MachinePeaks peaks;
  peaks.cpu = "Fast CPU";
  peaks.isa = "avx2";
  peaks.date = "2024-05-01T12:00:00Z";
  peaks.int8_instruction = "vpdpbusd";
  peaks.caches = {.l1 = {32768, 2}, .l2 = {524288, 1}, .l3 = {0, 1}, .last_level_bytes = 1048576};
  peaks.threads.push_back({.threads = 1,
                           .fma_gflops = 100.5,
                           .int8_gops = 400.25,
                           .bf16_gflops = 200,
                           .l1_gb_s = 300,
                           .l2_gb_s = 150,
                           .l3_gb_s = {},
                           .dram_gb_s = 20,
                           .dram_copy_gb_s = 15});
  peaks.threads.push_back(peaks.threads.front());
  peaks.threads.back().threads = 4;
  peaks.threads.back().fma_gflops = 390;
  peaks.threads.back().dram_gb_s = 35;
  return peaks;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Machine, TheFileBringsEverythingBack) {
  const TempDirForTest dir;
  const std::string path = dir.file("new/folder/machine.json");
  const MachinePeaks peaks = sample();
  ASSERT_TRUE(write_machine_file(peaks, path, /*overwrite=*/false));
  const auto read = read_machine_file(path, "Fast CPU");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(machine_to_json(*read), machine_to_json(peaks));
  EXPECT_EQ(read->threads[1].fma_gflops, 390);
  EXPECT_EQ(read->threads[0].bf16_gflops, 200);
  EXPECT_FALSE(read->threads[0].l3_gb_s);
  EXPECT_EQ(read->caches.last_level_bytes, 1048576);

  EXPECT_FALSE(write_machine_file(peaks, path, /*overwrite=*/false));
  EXPECT_TRUE(write_machine_file(peaks, path, /*overwrite=*/true));
}

TEST(Machine, AnotherProcessorsFileIsRefused) {
  const TempDirForTest dir;
  const std::string path = dir.file("machine.json");
  ASSERT_TRUE(write_machine_file(sample(), path, false));
  const auto read = read_machine_file(path, "Slow CPU");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("holds the peaks of 'Fast CPU', and this processor is "
                                      "'Slow CPU'; measure again with trivet bench --machine"),
            std::string::npos)
      << read.error().message;
}

TEST(Machine, DamagedFilesAreRefusedWithTheReason) {
  const TempDirForTest dir;
  const auto refusal = [&dir](const std::string& text) {
    const auto read = read_machine_file(dir.write("machine.json", text), "Fast CPU");
    return read ? std::string("accepted") : read.error().message;
  };
  const Json good = machine_to_json(sample());
  ASSERT_EQ(refusal(good.dump()), "accepted");
  struct Case {
    const char* pointer;
    Json value;
    const char* reason;
  };
  const Case cases[] = {
      {"/format", 2, "format 2, not 1"},
      {"/cpu", 5, "'cpu' is missing or is no text"},
      {"/caches", 5, "'caches'"},
      {"/caches/l1/bytes", -1, "'bytes'"},
      {"/caches/l3/sharers", 0, "'sharers'"},
      {"/caches/last_level_bytes", 0.5, "'last_level_bytes'"},
      {"/peaks", Json::array(), "'peaks'"},
      {"/peaks/0", 1, "bad entry"},
      {"/peaks/0/threads", 0, "'threads'"},
      {"/peaks/1/threads", 1, "do not rise"},
      {"/peaks/0/fma_gflops", 0, "'fma_gflops'"},
      {"/peaks/1/fma_gflops", "fast", "'fma_gflops'"},
      {"/peaks/1/int8_gops", nullptr, "'int8_gops'"},
      {"/peaks/0/bf16_gflops", -1, "'bf16_gflops'"},
      {"/peaks/0/dram_read_gb_s", nullptr, "'dram_read_gb_s'"},
  };
  for (const Case& bad : cases) {
    Json document = good;
    document[Json::json_pointer(bad.pointer)] = bad.value;
    EXPECT_NE(refusal(document.dump()).find(bad.reason), std::string::npos)
        << bad.pointer << ": " << refusal(document.dump());
  }
  EXPECT_NE(refusal("{").find("no JSON object"), std::string::npos);
  const std::string whole = good.dump();
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length;
  }
  EXPECT_FALSE(read_machine_file(dir.file("none.json"), "Fast CPU"));
}

TEST(Machine, TheRooflineIsThatOfTheCountMeasuredAtMost) {
  const MachinePeaks peaks = sample();
  EXPECT_DOUBLE_EQ(roofline(peaks, 1).flops_per_s, 100.5e9);
  EXPECT_DOUBLE_EQ(roofline(peaks, 3).flops_per_s, 100.5e9);
  EXPECT_DOUBLE_EQ(roofline(peaks, 4).flops_per_s, 390e9);
  EXPECT_DOUBLE_EQ(roofline(peaks, 64).bytes_per_s, 35e9);
  const Roofline line{.flops_per_s = 100, .bytes_per_s = 10};
  EXPECT_DOUBLE_EQ(line.seconds(1000, 10), 10);
  EXPECT_DOUBLE_EQ(line.seconds(10, 1000), 100);
}

TEST(Machine, ThreadCountsEndWithTheLargest) {
  EXPECT_EQ(measured_thread_counts(1), (std::vector<int>{1}));
  EXPECT_EQ(measured_thread_counts(3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(measured_thread_counts(8), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(measured_thread_counts(24), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 16, 24}));
}

/// Sets a variable of the environment, or unsets it with null, for one scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* const before = getenv(name)) saved_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { saved_ ? setenv(name_, saved_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> saved_;
};

TEST(Machine, TheFileLiesInTheUsersCache) {
  const Environment home("HOME", "/home/a");
  {
    const Environment cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(*default_machine_file(), "/cache/trivet/machine.json");
  }
  for (const char* ignored : {"relative", "", static_cast<const char*>(nullptr)}) {
    const Environment cache("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(*default_machine_file(), "/home/a/.cache/trivet/machine.json");
  }
  const Environment cache("XDG_CACHE_HOME", nullptr);
  const Environment homeless("HOME", nullptr);
  EXPECT_FALSE(default_machine_file());
}

/// Short windows on a system of small caches: numbers that mean little, and every path.
TEST(Machine, EveryInstructionSetIsMeasured) {
  const TempDirForTest system;
  const std::string cpu = "sys/devices/system/cpu/";
  system.write(cpu + "online", "0\n");
  const char* const caches[][3] = {
      {"1", "Data", "16K"}, {"2", "Unified", "64K"}, {"3", "Unified", "256K"}};
  for (int i = 0; i < 3; ++i) {
    const std::string folder = cat(cpu, "cpu0/cache/index", i, "/");
    system.write(folder + "level", caches[i][0]);
    system.write(folder + "type", caches[i][1]);
    system.write(folder + "size", caches[i][2]);
    system.write(folder + "shared_cpu_list", "0\n");
  }
  for (const kernels::KernelTable* table : kernels::runnable_tables()) {
    int told = 0;
    const auto peaks =
        measure_machine(table->isa, {.max_threads = 2, .seconds = 0.01, .root = {system.path()}},
                        [&told](int done, int total) {
                          EXPECT_LE(done, total);
                          told = done;
                        });
    ASSERT_TRUE(peaks) << peaks.error().message;
    EXPECT_EQ(told, 16);
    EXPECT_EQ(peaks->isa, isa_name(table->isa));
    EXPECT_EQ(peaks->caches.l3.bytes, 256 << 10);
    ASSERT_EQ(peaks->threads.size(), 2U);
    for (const ThreadPeaks& one : peaks->threads) {
      EXPECT_GT(one.fma_gflops, 0);
      EXPECT_GT(one.int8_gops, 0);
      EXPECT_EQ(one.bf16_gflops.has_value(), isa_has(table->isa, IsaExtension::kBf16Dot));
      EXPECT_GT(one.l1_gb_s, 0);
      EXPECT_GT(one.l2_gb_s.value_or(0), 0);
      EXPECT_GT(one.dram_gb_s, 0);
      EXPECT_GT(one.dram_copy_gb_s, 0);
    }
    EXPECT_TRUE(peaks->threads[0].l3_gb_s);
    // The document is one that the reader takes.
    const TempDirForTest dir;
    const std::string path = dir.file("machine.json");
    ASSERT_TRUE(write_machine_file(*peaks, path, false));
    const auto read = read_machine_file(path);
    EXPECT_TRUE(read) << read.error().message << text_of(path);
  }
}

}  // namespace
}  // namespace trivet

#include "providers/cpu/tuner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>

#include "base/output_file.h"
#include "base/temp_dir_for_test.h"
#include "providers/cpu/node_test.h"

namespace trivet::cpu {
namespace {

constexpr std::size_t kMany = 1 << 20;

TuningCache opened(const std::string& path, Isa isa = Isa::kAvx2, const std::string& cpu = "cpu") {
  return TuningCache::open(path, isa, cpu).value();
}

TEST(TuningCache, KeepsEntriesByProcessor) {
  const TempDirForTest dir;
  const std::string path = dir.path() + "/new/folder/tuning.txt";
  TuningCache cache = opened(path);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.set("a", {"fast", false});
  cache.set("b", {"slow", true});
  ASSERT_TRUE(cache.save());
  const TuningCache again = opened(path);
  ASSERT_NE(again.find("a"), nullptr);
  EXPECT_EQ(again.find("a")->choice, "fast");
  EXPECT_FALSE(again.find("a")->thorough);
  EXPECT_TRUE(again.find("b")->thorough);
  TuningCache other = opened(path, Isa::kAvx2, "another cpu");
  EXPECT_EQ(other.find("a"), nullptr);
  EXPECT_EQ(opened(path, Isa::kGeneric).find("a"), nullptr);
  other.set("a", {"odd", true});
  ASSERT_TRUE(other.save());
  EXPECT_EQ(opened(path).find("a")->choice, "fast");
  EXPECT_EQ(opened(path, Isa::kAvx2, "another cpu").find("a")->choice, "odd");
}

TEST(TuningCache, TwoWritersLoseNothing) {
  const TempDirForTest dir;
  const std::string path = dir.path() + "/tuning.txt";
  TuningCache first = opened(path);
  TuningCache second = opened(path);
  first.set("a", {"x", true});
  second.set("b", {"y", true});
  ASSERT_TRUE(first.save());
  ASSERT_TRUE(second.save());
  EXPECT_NE(opened(path).find("a"), nullptr);
  EXPECT_NE(opened(path).find("b"), nullptr);
}

TEST(TuningCache, DamagedLinesAreLeftOut) {
  const TempDirForTest dir;
  const std::string path = dir.path() + "/tuning.txt";
  std::ofstream(path) << "trivet-tuning/1\ncpu\tavx2\tgood\tfast\tquick\nno tabs\n"
                      << "cpu\tavx2\tcut\tfast\ncpu\tavx2\todd\tfast\tsometimes\n\n";
  const TuningCache cache = opened(path);
  EXPECT_NE(cache.find("good"), nullptr);
  for (const char* key : {"no tabs", "cut", "odd", ""}) EXPECT_EQ(cache.find(key), nullptr) << key;
}

/// Neither read as one nor written over.
TEST(TuningCache, WhatIsNoCacheIsAnError) {
  const TempDirForTest dir;
  const std::string path = dir.path() + "/notes.txt";
  for (const std::string& text : {std::string("my notes\n"), std::string("\0\xff\n\t\t", 5)}) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_FALSE(TuningCache::open(path, Isa::kAvx2));
  }
  EXPECT_FALSE(TuningCache::open(dir.path(), Isa::kAvx2));
  const std::string pipe = dir.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(TuningCache::open(pipe, Isa::kAvx2));
  TuningCache late = opened(dir.path() + "/late.txt");
  late.set("a", {"x", true});
  std::ofstream(dir.path() + "/late.txt") << "not yours\n";
  EXPECT_FALSE(late.save());
}

TEST(TuningCache, AFileThatCannotBeWrittenIsAnError) {
  TuningCache cache = opened("/proc/none/tuning.txt");
  cache.set("a", {"x", true});
  EXPECT_FALSE(cache.save());
}

/// Kernels that take a given time, and count how often they run.
class TunerTest : public ::testing::Test {
 protected:
  Candidate taking(const std::string& name, int microseconds) {
    return {name, [this, microseconds]() -> Result<Kernel> {
              Kernel kernel;
              kernel.run = [this, microseconds](const KernelArgs& args) {
                ++runs_;
                EXPECT_EQ(args.inputs[1], nullptr);
                EXPECT_NE(args.input(0), nullptr);
                const auto end =
                    std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
                while (std::chrono::steady_clock::now() < end) {
                }
              };
              return kernel;
            }};
  }

  ThreadPool threads_{1};
  const Workload workload_{{16, 0}, 8};
  int runs_ = 0;
};

TEST_F(TunerTest, TakesTheFastestAndRemembersIt) {
  Tuner tuner(Tuning::kQuick, opened(""), threads_);
  const std::vector<Candidate> candidates = {taking("a", 3000), taking("b", 200), taking("c", 900)};
  EXPECT_EQ(tuner.choose("k", candidates, workload_).value(), 1U);
  const int measured = runs_;
  EXPECT_GT(measured, 3);
  EXPECT_EQ(tuner.choose("k", candidates, workload_).value(), 1U);
  EXPECT_EQ(runs_, measured);
  EXPECT_EQ(tuner.choose("another", candidates, workload_).value(), 1U);
  EXPECT_GT(runs_, measured);
}

TEST_F(TunerTest, OneWayIsNotMeasured) {
  Tuner tuner(Tuning::kFull, opened(""), threads_);
  const std::vector<Candidate> only = {taking("a", 100)};
  EXPECT_EQ(tuner.choose("k", only, workload_).value(), 0U);
  EXPECT_EQ(runs_, 0);
}

/// What `quick` found is measured again by `full`, and not the other way round; a way that is not
/// there any more is no answer.
TEST_F(TunerTest, TrustsWhatWasFoundAsThoroughly) {
  const TempDirForTest dir;
  const std::string path = dir.path() + "/tuning.txt";
  const std::vector<Candidate> candidates = {taking("a", 10), taking("b", 10)};
  const auto runs_of = [&](Tuning level, const TuningCache::Entry& known) {
    TuningCache cache = opened(path);
    cache.set("k", known);
    Tuner tuner(level, std::move(cache), threads_);
    runs_ = 0;
    EXPECT_TRUE(tuner.choose("k", candidates, workload_));
    return runs_;
  };
  EXPECT_EQ(runs_of(Tuning::kQuick, {"b", false}), 0);
  EXPECT_EQ(runs_of(Tuning::kQuick, {"b", true}), 0);
  EXPECT_EQ(runs_of(Tuning::kFull, {"b", true}), 0);
  EXPECT_GT(runs_of(Tuning::kFull, {"b", false}), 0);
  EXPECT_GT(runs_of(Tuning::kQuick, {"gone", true}), 0);
}

/// Whole graphs, with every choice that the file may hold.
class TunedNodes : public NodeTest {
 protected:
  /// x[1, 48, 21, 19] through a 3x3 convolution, one with another added to it, and a product.
  Graph graph() {
    GraphBuilder builder("tuned");
    const Shape shape = {1, 48, 21, 19};
    const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, symbolic(shape)));
    const ValueId w = builder.add_constant("w", random_tensor({48, 48, 3, 3}));
    const ValueId b = builder.add_constant("b", random_tensor({48}));
    Attributes pads;
    pads.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    const ValueId first = add(builder, "Conv", {x, w, b}, "first", pads);
    const ValueId second = add(builder, "Conv", {first, w}, "second", pads);
    const ValueId sum = add(builder, "Add", {second, x}, "sum");
    const ValueId matrix = builder.add_constant("matrix", random_tensor({19, 100}));
    builder.add_output(add(builder, "MatMul", {sum, matrix}, "out"));
    return builder.finish().value();
  }

  Tensor run_with(const Graph& graph, const Tensor& x, const EngineSettings& settings) {
    Model model;
    model.graph = std::make_shared<const Graph>(graph);
    const auto session = Session::create(
        model, {.providers = {&cpu_provider()}, .threads = 2, .settings = settings});
    EXPECT_TRUE(session) << session.error().message;
    const auto out = (*session)->run(std::vector{x});
    EXPECT_TRUE(out) << out.error().message;
    return (*out)[0];
  }
};

TEST_F(TunedNodes, EveryChoiceComputesTheSame) {
  const TempDirForTest dir;
  const EngineSettings settings{.tuning = Tuning::kQuick,
                                .tuning_cache = dir.path() + "/tuning.txt"};
  const Graph g = graph();
  const Tensor x = random_tensor({1, 48, 21, 19});
  const Tensor expected = run_with(g, x, {});
  run_with(g, x, settings);
  const std::string tuned = read_text_file(settings.tuning_cache, kMany).value();
  EXPECT_EQ(std::ranges::count(tuned, '\n'), 4);  // the first line, two convolutions, the product
  for (const char* way : {"conv", "winograd2", "winograd4"}) {
    for (const bool panels : {false, true}) {
      std::string forced = tuned.substr(0, tuned.find('\n') + 1);
      for (std::size_t at = forced.size(); at < tuned.size();) {
        const std::string line = tuned.substr(at, tuned.find('\n', at) - at);
        const bool product = line.find("\tgemm ") != std::string::npos;
        forced += cat(line.substr(0, line.find('\t', line.find(product ? "gemm" : "conv"))), "\t",
                      product ? "gemm" : way,
                      panels    ? "/panels"
                      : product ? "/rows"
                                : "/positions",
                      "\tfull\n");
        at += line.size() + 1;
      }
      std::ofstream(settings.tuning_cache) << forced;
      const Tensor found = run_with(g, x, settings);
      float largest = 0;
      for (const float v : expected.data<float>()) largest = std::max(largest, std::abs(v));
      for (std::int64_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found.data<float>()[static_cast<std::size_t>(i)],
                    expected.data<float>()[static_cast<std::size_t>(i)], 1e-4 * largest)
            << way << (panels ? " by panels" : "") << ", element " << i;
      }
      // Nothing was missing, so nothing was measured or written.
      EXPECT_EQ(read_text_file(settings.tuning_cache, kMany).value(), forced);
    }
  }
}

}  // namespace
}  // namespace trivet::cpu

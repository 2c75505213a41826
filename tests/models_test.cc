// Every small model of tests/models, loaded once and run on all its recorded cases (batches 1 and 3
// among them), on the cpu provider with one and two threads and on the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "io/npz.h"
#include "onnx/reader.h"
#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet {
namespace {

namespace fs = std::filesystem;

/// Models that hold what Trivet refuses to run: the refusal must be an error and nothing else.
const std::vector<std::string> kRefused = {"sequences", "several_domains", "qoperator",
                                           "opset_newest_operators", "constants"};

/// Greatest difference relative to the output's largest magnitude; tests/models/README.md has the
/// reasons.
double tolerance_of(const std::string& name) {
  static const std::map<std::string, double> looser = {
      {"half_convnet", 1e-2}, {"half_io", 1e-2},   {"qdq_convnet", 2e-2},
      {"qdq_int4", 5e-2},     {"qoperator", 5e-2}, {"quantized_dynamic", 1e-2}};
  const auto it = looser.find(name);
  return it == looser.end() ? 1e-4 : it->second;
}

struct Case {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, Tensor> outputs;
};

/// Arrays named "inN:NAME" and "outN:NAME", by N.
std::map<int, Case> read_cases(const fs::path& file) {
  std::map<int, Case> cases;
  auto arrays = read_npz(file.string());
  EXPECT_TRUE(arrays) << arrays.error().message;
  for (NamedArray& array : *arrays) {
    const std::size_t colon = array.name.find(':');
    const bool input = array.name.starts_with("in");
    const int number = std::stoi(array.name.substr(input ? 2 : 3, colon));
    Case& c = cases[number];
    (input ? c.inputs : c.outputs)[array.name.substr(colon + 1)] = std::move(array.tensor);
  }
  return cases;
}

void expect_close(const Tensor& got, const Tensor& want, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  if (got.size() == 0 && want.size() == 0) return;  // axes that no element ever filled are open
  ASSERT_EQ(got.shape(), want.shape()) << what;
  double largest = 0;
  double worst = 0;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double a = element_as_double(got, i);
    const double b = element_as_double(want, i);
    if (std::isnan(b) || std::isinf(b)) {
      ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << what << " element " << i;
      continue;
    }
    largest = std::max(largest, std::fabs(b));
    worst = std::max(worst, std::isnan(a) ? HUGE_VAL : std::fabs(a - b));
  }
  EXPECT_LE(worst, is_floating(want.dtype()) ? tolerance * largest : 0) << what;
}

struct Runner {
  const TrvProvider* provider;
  int threads;
};

class ModelTest : public testing::TestWithParam<std::string> {};

TEST_P(ModelTest, AgreesWithTheRecordedOutputs) {
  const fs::path base = fs::path(TRIVET_SOURCE_DIR) / "tests/models" / GetParam();
  const auto model = read_model(base.string() + ".onnx");
  ASSERT_TRUE(model) << model.error().message;
  const std::map<int, Case> cases = read_cases(base.string() + ".npz");
  ASSERT_FALSE(cases.empty());
  const bool refused = std::ranges::find(kRefused, GetParam()) != kRefused.end();
  for (const Runner& runner :
       {Runner{&cpu_provider(), 1}, {&cpu_provider(), 2}, {&reference_provider(), 1}}) {
    const auto session =
        Session::create(*model, {.providers = {runner.provider}, .threads = runner.threads});
    if (refused) {
      ASSERT_FALSE(session);
      EXPECT_EQ(session.error().code, ErrorCode::kUnsupported) << session.error().message;
      continue;
    }
    ASSERT_TRUE(session) << session.error().message;
    for (const auto& [number, c] : cases) {
      const std::string what =
          cat(runner.provider->name, ", ", runner.threads, " threads, case ", number);
      const auto outputs = (*session)->run(c.inputs);
      ASSERT_TRUE(outputs) << what << ": " << outputs.error().message;
      for (std::size_t i = 0; i < outputs->size(); ++i) {
        const std::string& name = (*session)->outputs()[i].name;
        ASSERT_TRUE(c.outputs.contains(name)) << name;
        expect_close((*outputs)[i], c.outputs.at(name), tolerance_of(GetParam()),
                     what + ", " + name);
      }
    }
  }
}

TEST_P(ModelTest, GivesTheSameBitsAgain) {
  const fs::path base = fs::path(TRIVET_SOURCE_DIR) / "tests/models" / GetParam();
  const auto model = read_model(base.string() + ".onnx");
  ASSERT_TRUE(model) << model.error().message;
  if (std::ranges::find(kRefused, GetParam()) != kRefused.end()) return;
  const Case first = read_cases(base.string() + ".npz").begin()->second;
  std::vector<Tensor> before;
  for (int round = 0; round < 2; ++round) {
    const auto session = Session::create(*model, {.providers = {&cpu_provider()}, .threads = 2});
    ASSERT_TRUE(session) << session.error().message;
    for (int run = 0; run < 2; ++run) {
      const auto outputs = (*session)->run(first.inputs);
      ASSERT_TRUE(outputs) << outputs.error().message;
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_EQ((*outputs)[i].bytes(), before[i].bytes());
        EXPECT_EQ(std::memcmp((*outputs)[i].raw(), before[i].raw(), before[i].bytes()), 0);
      }
      before = *outputs;
    }
  }
}

std::vector<std::string> recorded_models() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(TRIVET_SOURCE_DIR) / "tests/models")) {
    if (entry.path().extension() == ".npz") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Small, ModelTest, testing::ValuesIn(recorded_models()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace trivet

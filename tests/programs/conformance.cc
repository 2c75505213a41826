// trivet_conformance DIR [--provider NAME]: runs ONNX operator tests (a folder each, with
// model.onnx and test_data_set_*/input_*.pb and output_*.pb) and prints one line per folder: PASS
// name, FAIL name: reason, SKIP name: reason. Exit code 0 when none failed, else 1.
//
// Tolerances are those of the onnx package's own runner: |a − b| ≤ 1e-7 + 1e-3·|b|.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "onnx/reader.h"
#include "onnx/tensor_proto.h"
#include "providers/providers.h"
#include "runtime/session.h"

namespace {

namespace fs = std::filesystem;
using trivet::Error;
using trivet::Result;
using trivet::Tensor;

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

bool close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= kAbsolute + kRelative * std::fabs(b);
}

Result<void> compare(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    return trivet::fail(trivet::ErrorCode::kFailed, "got ", trivet::dtype_name(got.dtype()), " ",
                        trivet::shape_to_string(got.shape()), ", want ",
                        trivet::dtype_name(want.dtype()), " ",
                        trivet::shape_to_string(want.shape()));
  }
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got.dtype() == trivet::DType::kString) {
      const auto k = static_cast<std::size_t>(i);
      if (got.data<std::string>()[k] == want.data<std::string>()[k]) continue;
      return trivet::fail(trivet::ErrorCode::kFailed, "string ", i, " differs");
    }
    if (got.dtype() == trivet::DType::kComplex64 || got.dtype() == trivet::DType::kComplex128) {
      if (std::memcmp(got.raw(), want.raw(), got.bytes()) == 0) return {};
      return trivet::fail(trivet::ErrorCode::kFailed, "complex values differ");
    }
    const double a = trivet::element_as_double(got, i);
    const double b = trivet::element_as_double(want, i);
    if (!close(a, b))
      return trivet::fail(trivet::ErrorCode::kFailed, "element ", i, ": got ", a, ", want ", b);
  }
  return {};
}

Result<std::vector<Tensor>> read_all(const fs::path& folder, const std::string& kind) {
  std::vector<Tensor> out;
  for (int i = 0; fs::exists(folder / (kind + std::to_string(i) + ".pb")); ++i) {
    TRIVET_ASSIGN(out.emplace_back(),
                  trivet::read_tensor_file((folder / (kind + std::to_string(i) + ".pb")).string()));
  }
  return out;
}

Result<void> run_case(const fs::path& folder, const TrvProvider& provider) {
  TRIVET_ASSIGN(const trivet::Model model, trivet::read_model((folder / "model.onnx").string()));
  TRIVET_ASSIGN(const auto session,
                trivet::Session::create(model, {.providers = {&provider}, .threads = 2}));
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    TRIVET_ASSIGN(std::vector<Tensor> inputs, read_all(data, "input_"));
    TRIVET_ASSIGN(const std::vector<Tensor> wanted, read_all(data, "output_"));
    inputs.resize(std::min(inputs.size(), session->inputs().size()));
    TRIVET_ASSIGN(const std::vector<Tensor> got, session->run(inputs));
    if (got.size() < wanted.size())
      return trivet::fail(trivet::ErrorCode::kFailed, "too few outputs");
    for (std::size_t i = 0; i < wanted.size(); ++i) TRIVET_TRY(compare(got[i], wanted[i]));
  }
  return {};
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const bool named = argc == 4 && std::string_view(argv[2]) == "--provider";
  if (argc != 2 && !named) {
    std::fputs("usage: trivet_conformance DIR [--provider NAME]\n", stderr);
    return 2;
  }
  const auto provider = trivet::find_provider(named ? argv[3] : "reference");
  if (!provider) {
    std::fprintf(stderr, "trivet_conformance: %s\n", provider.error().message.c_str());
    return 2;
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(argv[1])) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  bool failed = false;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    const auto done = run_case(folder, **provider);
    if (done) {
      std::printf("PASS %s\n", name.c_str());
    } else {
      const bool skip = done.error().code == trivet::ErrorCode::kUnsupported;
      failed = failed || !skip;
      std::printf("%s %s: %s\n", skip ? "SKIP" : "FAIL", name.c_str(),
                  one_line(done.error().message).c_str());
    }
    std::fflush(stdout);
  }
  return failed ? 1 : 0;
}

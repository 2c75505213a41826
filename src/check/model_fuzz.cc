// Any bytes that are a model can be inferred, checked against every target, converted and mended;
// what comes of it is a graph that holds together and can be written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "check/fix.h"
#include "check/rules.h"
#include "check/targets.h"
#include "convert/convert.h"
#include "onnx/reader.h"
#include "onnx/versions.h"
#include "onnx/writer.h"

namespace trivet {
namespace {

void expect_whole(const Model& model, const char* after) {
  const auto verified = verify(*model.graph);
  if (verified) {
    (void)serialize_model(model);  // may refuse: a body of another opset has no place in a file
    return;
  }
  std::fprintf(stderr, "FAULT after %s: %s\n", after, verified.error().message.c_str());
  std::abort();
}

void expect_findings(const Model& model) {
  const check::Subject subject = check::subject_of(model, {});
  check::Findings findings = check::check_model(subject);
  for (const char* target : {"onnxruntime", "openvino", "tensorrt", "coreml", "litert"}) {
    check::check_target(subject, *check::find_target(target), findings);
  }
  for (const check::Finding& finding : findings) {
    if (finding.where.empty() || finding.cause.empty() || finding.fix.empty()) {
      std::fprintf(stderr, "FAULT %s says too little\n", std::string(finding.rule).c_str());
      std::abort();
    }
  }
}

void expect_converts(const Model& model, int opset) {
  convert::ConversionReport report;
  const auto converted = convert::convert(model, opset, report);
  if (converted) expect_whole(*converted, "a conversion");
  (void)convert::lowest_reachable(model);
}

void expect_mends(const Model& model) {
  const auto fixed = check::fix_model(model, {});
  if (!fixed) return;
  expect_whole(fixed->model, "the repairs");
  expect_whole(fixed->baseline, "the baseline");
}

}  // namespace
}  // namespace trivet

/// The first byte chooses the opset.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trivet;
  if (size == 0) return 0;
  const int span = onnx::kNewestOpset - convert::kLowestOpset + 1;
  const int opset = convert::kLowestOpset + *data % span;
  const auto bytes =
      std::make_shared<std::string>(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto model = read_model(bytes, *bytes);
  if (!model) return 0;
  expect_findings(*model);
  expect_converts(*model, opset);
  expect_mends(*model);
  return 0;
}

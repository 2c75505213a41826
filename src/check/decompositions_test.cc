#include <gtest/gtest.h>

#include <algorithm>

#include "check/fix.h"
#include "check/rules.h"
#include "onnx/reader.h"

namespace trivet::check {
namespace {

Model small_model(const std::string& name) {
  auto model = read_model(cat(TRIVET_SOURCE_DIR, "/tests/models/", name, ".onnx"));
  EXPECT_TRUE(model) << model.error().message;
  return model ? *std::move(model) : Model{};
}

Findings found_in(const Model& model) {
  Findings out;
  check_decompositions(subject_of(model, {}), out);
  return out;
}

TEST(Decompositions, AreMendedWhereTheOpsetHasTheOperator) {
  Model model = small_model("ocr_rec");
  for (const int opset : {13, 17, 24}) {
    SCOPED_TRACE(opset);
    model.opsets[""] = opset;
    const Findings findings = found_in(model);
    ASSERT_EQ(findings.size(), 3U);
    const int since[] = {14, 17, 24};  // HardSwish, LayerNormalization, Swish
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(findings[i].rule, "decomposed-operator");
      EXPECT_EQ(findings[i].fixable, opset >= since[i]) << findings[i].cause;
      EXPECT_EQ(findings[i].severity, opset >= since[i] ? Severity::kWarning : Severity::kInfo);
    }
    EXPECT_TRUE(findings[0].cause.starts_with("10 times HardSwish")) << findings[0].cause;
    EXPECT_TRUE(findings[1].cause.starts_with("5 times LayerNormalization")) << findings[1].cause;
  }
}

TEST(Decompositions, AreNotSeenInModelsWithoutThem) {
  EXPECT_TRUE(found_in(small_model("resnet18")).empty());
  EXPECT_TRUE(found_in(small_model("mobilenet_v3_small")).empty());
}

TEST(Decompositions, AreGoneAfterTheFix) {
  Model model = small_model("ocr_rec");
  model.opsets[""] = 17;
  const auto fixed = fix_model(model, {});
  ASSERT_TRUE(fixed) << fixed.error().message;
  const Findings left = found_in(fixed->model);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].cause.starts_with("7 times Swish")) << left[0].cause;
  EXPECT_EQ(std::ranges::count(fixed->changes, "recomposed LayerNormalization", &Change::what), 1);
  EXPECT_EQ(std::ranges::count(fixed->changes, "recomposed Swish", &Change::what), 0);
}

}  // namespace
}  // namespace trivet::check

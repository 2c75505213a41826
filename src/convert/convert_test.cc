// One operator across a boundary, there and back: what the oracle makes of both is compared.
#include "convert/convert.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/support/elements.h"
#include "ops/support/op_test.h"
#include "runtime/reference_for_test.h"
#include "schema/schema.h"

namespace trivet::convert {
namespace {

using ops::ramp;

std::vector<std::int64_t> list(std::initializer_list<std::int64_t> numbers) { return numbers; }

/// A model of one operator. The first operand is the input, the others are constants; an undefined
/// one is left out.
class OneNode {
 public:
  OneNode(std::string op, int opset, Tensor input, std::vector<Tensor> operands = {},
          std::vector<Attribute> attributes = {}, std::size_t outputs = 1)
      : input_(std::move(input)) {
    GraphBuilder builder("one");
    Node node{.name = "n", .op_type = std::move(op), .opset = opset};
    node.inputs.push_back(builder.add_input("x", ValueType::of(input_)));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      node.inputs.push_back(operands[i].defined() ? builder.add_constant(cat("c", i), operands[i])
                                                  : kNoValue);
    }
    for (const Attribute& attribute : attributes) {
      node.attributes.set(attribute.name, attribute.value);
    }
    for (std::size_t i = 0; i < outputs; ++i)
      node.outputs.push_back(builder.add_value(cat("y", i)));
    const std::vector<ValueId> results = node.outputs;
    builder.add_node(std::move(node));
    for (const ValueId id : results) builder.add_output(id);
    auto graph = builder.finish();
    EXPECT_TRUE(graph) << graph.error().message;
    model_.ir_version = 8;
    model_.opsets[""] = opset;
    model_.graph = std::make_shared<Graph>(*std::move(graph));
  }

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Tensor& input() const { return input_; }

 private:
  Tensor input_;
  Model model_;
};

std::vector<Tensor> run(const Model& model, const Tensor& input) {
  return run_in_reference(*model.graph, {input});
}

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].dtype(), b[i].dtype());
    ASSERT_EQ(a[i].shape(), b[i].shape());
    for (std::int64_t k = 0; k < a[i].size(); ++k) {
      const double x = element_as_double(a[i], k);
      EXPECT_NEAR(x, element_as_double(b[i], k), 1e-5 * (1 + std::fabs(x))) << k;
    }
  }
}

/// Every node is of that opset and fits its schema.
void expect_legal(const Model& model, int opset) {
  EXPECT_EQ(model.opsets.at(""), opset);
  for (const Node& node : model.graph->nodes()) {
    EXPECT_EQ(node.opset, opset);
    const schema::Schema* schema = schema::find_schema("", node.op_type, opset);
    ASSERT_NE(schema, nullptr) << node.op_type;
    for (const schema::Misfit& misfit : schema::fits(*model.graph, node, *schema)) {
      ADD_FAILURE() << node.op_type << ": " << misfit.message;
    }
  }
}

/// Converts there and back, and runs all three.
void expect_round_trip(const OneNode& one, int there) {
  const int home = one.model().opsets.at("");
  ConversionReport report;
  const auto away = convert(one.model(), there, report);
  ASSERT_TRUE(away) << away.error().message;
  expect_legal(*away, there);
  const auto back = convert(*away, home, report);
  ASSERT_TRUE(back) << back.error().message;
  expect_legal(*back, home);
  const auto expected = run(one.model(), one.input());
  expect_same(expected, run(*away, one.input()));
  expect_same(expected, run(*back, one.input()));
}

void expect_refused(const OneNode& one, int there, std::string_view because) {
  ConversionReport report;
  EXPECT_FALSE(convert(one.model(), there, report));
  ASSERT_EQ(report.refusals.size(), 1u);
  EXPECT_NE(report.refusals[0].reason.find(because), std::string::npos)
      << report.refusals[0].reason;
}

Tensor ints(const std::vector<std::int64_t>& numbers) { return Tensor::from_vector(numbers); }

TEST(Convert, AxesMoveBetweenAttributeAndInput) {
  expect_round_trip({"Squeeze", 13, ramp({2, 1, 3}), {ints({1})}}, 11);
  expect_round_trip({"Squeeze", 11, ramp({2, 1, 3}), {}, {{"axes", list({-2})}}}, 21);
  expect_round_trip({"Unsqueeze", 13, ramp({2, 3}), {ints({0, -1})}}, 9);
  expect_round_trip({"ReduceSum", 13, ramp({2, 3, 4}), {ints({-1})}}, 9);
  expect_round_trip({"ReduceMean", 17, ramp({2, 3, 4}), {}, {{"axes", list({1, 2})}}}, 18);
  expect_round_trip({"ReduceMax", 18, ramp({2, 3, 4}), {ints({0})}}, 13);
  expect_round_trip({"Slice", 13, ramp({4, 5}), {ints({1}), ints({-1}), ints({-1})}}, 9);
  expect_round_trip({"Slice", 9, ramp({4, 5}), {}, {{"starts", list({1})}, {"ends", list({3})}}},
                    17);
  expect_round_trip({"Split", 13, ramp({6, 2}), {ints({2, 4})}, {}, 2}, 11);
  expect_round_trip({"TopK", 11, ramp({3, 7}), {ints({2})}, {}, 2}, 9);
}

TEST(Convert, ReductionOverNoAxesIsNoReduction) {
  expect_round_trip(
      {"ReduceSum", 13, ramp({2, 3}), {ints({})}, {{"noop_with_empty_axes", std::int64_t{1}}}}, 11);
  expect_round_trip({"ReduceSum", 13, ramp({2, 3}), {ints({})}}, 11);
}

TEST(Convert, StepsOfASliceAreRefusedBeforeOpset10) {
  expect_refused({"Slice", 13, ramp({6}), {ints({0}), ints({6}), ints({0}), ints({2})}}, 9,
                 "steps");
  expect_round_trip({"Slice", 13, ramp({6}), {ints({0}), ints({6}), ints({0}), ints({1})}}, 9);
}

TEST(Convert, SplitMakesTheLastPartSmaller) {
  expect_round_trip({"Split", 18, ramp({7, 2}), {}, {{"num_outputs", std::int64_t{3}}}, 3}, 13);
  expect_round_trip({"Split", 18, ramp({6, 2}), {}, {{"num_outputs", std::int64_t{3}}}, 3}, 11);
}

TEST(Convert, SoftmaxKeepsItsMeaning) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    for (const std::int64_t axis : {0, 1, 2, -1}) {
      expect_round_trip({op, 13, ramp({2, 3, 4}), {}, {{"axis", axis}}}, 11);
      expect_round_trip({op, 11, ramp({2, 3, 4}), {}, {{"axis", axis}}}, 13);
    }
    expect_round_trip({op, 11, ramp({2, 3, 4})}, 17);
    expect_round_trip({op, 13, ramp({2, 3, 4})}, 9);
    expect_round_trip({op, 13, ramp({2, 3, 1}), {}, {{"axis", std::int64_t{1}}}}, 11);
  }
}

TEST(Convert, ClipPadAndDropoutMoveTheirNumbers) {
  expect_round_trip({"Clip", 13, ramp({9}), {Tensor::scalar(-1.0f), Tensor::scalar(1.5f)}}, 9);
  expect_round_trip({"Clip", 13, ramp({9}), {Tensor(), Tensor::scalar(0.5f)}}, 10);
  expect_round_trip({"Clip", 10, ramp({9}), {}, {{"min", -0.5f}}}, 13);
  expect_round_trip({"Pad", 13, ramp({2, 3}), {ints({0, 1, 1, 0}), Tensor::scalar(2.0f)}}, 10);
  expect_round_trip({"Pad", 18, ramp({2, 3}), {ints({1, 2}), Tensor(), ints({-1})}}, 13);
  expect_round_trip({"Dropout", 13, ramp({4}), {Tensor::scalar(0.3f)}}, 10);
  expect_refused({"Pad", 19, ramp({2, 3}), {ints({0, 1, 0, 1})}, {{"mode", std::string("wrap")}}},
                 18, "wrap");
}

TEST(Convert, NegativeIndicesOfOneHotKeepTheirMeaning) {
  const Tensor depth = Tensor::scalar(std::int64_t{4});
  const Tensor values = Tensor::from_vector(std::vector<float>{2, 5});
  const Tensor indices = ints({0, 3, -1, -4, -5, 4});
  expect_round_trip({"OneHot", 11, indices, {depth, values}}, 9);
  const OneNode counts("OneHot", 11, Tensor::from_vector(std::vector<std::uint8_t>{0, 3, 9}),
                       {depth, values});
  ConversionReport report;
  ASSERT_TRUE(convert(counts.model(), 9, report));
  EXPECT_EQ(report.changes(), 0);  // of an unsigned type: none is negative
}

TEST(Convert, ResizeAndUpsample) {
  const Tensor none = Tensor::from_vector(std::vector<float>{});
  const Tensor twice = Tensor::from_vector(std::vector<float>{1, 1, 2, 2});
  const std::vector<Attribute> old = {{"coordinate_transformation_mode", std::string("asymmetric")},
                                      {"nearest_mode", std::string("floor")}};
  expect_round_trip({"Resize", 13, ramp({1, 1, 3, 2}), {Tensor(), twice}, old}, 9);
  expect_round_trip({"Upsample", 9, ramp({1, 1, 3, 2}), {twice}}, 21);
  expect_round_trip(
      {"Upsample", 7, ramp({1, 1, 3, 2}), {}, {{"scales", std::vector<float>{1, 1, 2, 2}}}}, 13);
  expect_round_trip({"Resize", 13, ramp({1, 1, 3, 2}), {Tensor(), twice}}, 11);
  expect_refused({"Resize", 13, ramp({1, 1, 3, 2}), {Tensor(), twice}}, 10, "asymmetric");
  expect_round_trip({"Resize",
                     18,
                     ramp({1, 1, 3, 2}),
                     {Tensor(), Tensor::from_vector(std::vector<float>{2, 2})},
                     {{"axes", list({2, -1})}}},
                    13);
}

TEST(Convert, OperatorsThatAnOlderOpsetLacks) {
  expect_round_trip({"HardSwish", 14, ramp({9})}, 13);
  expect_round_trip({"Mish", 18, ramp({9})}, 17);
  expect_round_trip({"Swish", 24, ramp({9}), {}, {{"alpha", 1.5f}}}, 13);
  expect_round_trip({"Gelu", 20, ramp({9})}, 9);
  expect_round_trip({"Gelu", 20, ramp({9}), {}, {{"approximate", std::string("tanh")}}}, 13);
  expect_round_trip({"Celu", 12, ramp({9}), {}, {{"alpha", 0.7f}}}, 11);
  expect_round_trip({"CastLike", 15, ramp({9}), {Tensor::from_vector(std::vector<double>{0})}}, 13);
  expect_round_trip({"GreaterOrEqual", 12, ramp({9}), {Tensor::scalar(0.1f)}}, 11);
  expect_round_trip({"LayerNormalization", 17, ramp({2, 3, 4}), {ramp({4}), ramp({4})}}, 11);
  expect_round_trip(
      {"LayerNormalization", 17, ramp({2, 3, 4}), {ramp({3, 4})}, {{"axis", std::int64_t{1}}}}, 16);
  expect_round_trip({"RMSNormalization", 23, ramp({2, 3, 4}), {ramp({4})}}, 13);
  expect_round_trip({"GroupNormalization",
                     21,
                     ramp({2, 4, 3}),
                     {ramp({4}), ramp({4})},
                     {{"num_groups", std::int64_t{2}}}},
                    13);
  expect_round_trip({"GroupNormalization",
                     18,
                     ramp({2, 4, 3}),
                     {ramp({2}), ramp({2})},
                     {{"num_groups", std::int64_t{2}}}},
                    21);
  expect_round_trip({"Trilu", 14, ramp({2, 3, 4}), {Tensor::scalar(std::int64_t{1})}}, 13);
  expect_round_trip({"Shape", 15, ramp({2, 3, 4}), {}, {{"start", std::int64_t{-2}}}}, 13);
}

TEST(Convert, RefusesWhatHasNoOtherForm) {
  expect_refused({"CenterCropPad", 18, ramp({4}), {ints({2})}}, 17, "came with opset 18");
  expect_refused({"Reshape", 14, ramp({0, 2}), {ints({2, 0})}, {{"allowzero", std::int64_t{1}}}},
                 13, "allowzero");
  const std::vector<Tensor> channels(4, ramp({2}));
  expect_refused({"BatchNormalization", 6, ramp({1, 2, 3}), channels}, 13, "is training before");
  expect_refused({"PRelu", 6, ramp({1, 3, 3}), {ramp({3})}}, 13, "another axis");
  ConversionReport report;
  const OneNode relu("Relu", 14, ramp({3}));
  EXPECT_FALSE(convert(relu.model(), 6, report));
  EXPECT_FALSE(convert(relu.model(), 99, report));
}

TEST(Convert, WhatMeansTheSameBelowOpset7GoesUp) {
  ConversionReport report;
  const std::vector<Tensor> channels(4, ramp({2}));
  const OneNode norm("BatchNormalization", 6, ramp({1, 2, 3}), channels,
                     {{"is_test", std::int64_t{1}}});
  const auto inference = convert(norm.model(), 13, report);
  ASSERT_TRUE(inference) << inference.error().message;
  expect_legal(*inference, 13);
  EXPECT_TRUE(convert(OneNode("PRelu", 6, ramp({2, 3}), {ramp({3})}).model(), 13, report));
  EXPECT_TRUE(convert(OneNode("PRelu", 6, ramp({1, 3, 3}), {ramp({1})}).model(), 13, report));
}

TEST(Convert, TheLowestOpsetIsExact) {
  EXPECT_EQ(lowest_opset(OneNode("Relu", 17, ramp({3})).model()).opset, kLowestOpset);
  EXPECT_EQ(lowest_opset(OneNode("Relu", 17, ints({3})).model()).opset, 14);
  const OneNode squeeze("Squeeze", 17, ramp({1, 3}), {ints({0})});
  EXPECT_EQ(lowest_opset(squeeze.model()).opset, 13);
  EXPECT_EQ(lowest_reachable(squeeze.model()), kLowestOpset);
  ASSERT_EQ(lowest_opset(squeeze.model()).reasons.size(), 1u);
  EXPECT_EQ(lowest_opset(squeeze.model()).reasons[0].node, "node 'n' (Squeeze)");
  const OneNode gelu("Gelu", 21, ramp({3}));
  EXPECT_EQ(lowest_opset(gelu.model()).opset, 20);
  EXPECT_EQ(lowest_reachable(gelu.model()), 9);  // Erf
  const OneNode negative("Gather", 17, ramp({3}), {ints({-1})});
  EXPECT_EQ(lowest_opset(negative.model()).opset, 11);
  EXPECT_EQ(lowest_opset(OneNode("Gather", 17, ramp({3}), {ints({1})}).model()).opset,
            kLowestOpset);
}

TEST(Convert, TheIrVersionFollows) {
  ConversionReport report;
  const OneNode relu("Relu", 14, ramp({3}));
  EXPECT_EQ(convert(relu.model(), 21, report)->ir_version, 10);
  EXPECT_EQ(convert(relu.model(), 13, report)->ir_version, 7);
  EXPECT_EQ(report.changes(), 0);
}

}  // namespace
}  // namespace trivet::convert

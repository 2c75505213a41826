#include "measure/divergence.h"

#include <gtest/gtest.h>

#include "providers/providers.h"

namespace trivet {
namespace {

/// y = (x + a) · b, then z = y - 1, with inner values "sum" and "y".
Model chain(float a, float b) {
  GraphBuilder builder("chain");
  const auto type = ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(3)});
  const ValueId x = builder.add_input("x", type);
  const auto add_step = [&](const std::string& op, ValueId input, float constant,
                            const std::string& out) {
    Node node;
    node.op_type = op;
    node.name = "make_" + out;
    node.opset = 13;
    node.inputs = {input, builder.add_constant(out + "_c", Tensor::scalar(constant))};
    node.outputs = {builder.add_value(out, type)};
    builder.add_node(node);
    return node.outputs[0];
  };
  const ValueId sum = add_step("Add", x, a, "sum");
  const ValueId y = add_step("Mul", sum, b, "y");
  builder.add_output(add_step("Sub", y, 1.0f, "z"));
  Model model;
  model.opsets[""] = 13;
  model.graph = std::make_shared<const Graph>(builder.finish().value());
  return model;
}

SessionOptions reference() {
  return {.providers = {find_provider("reference").value()}, .threads = 1};
}

const std::map<std::string, Tensor> kInput = {{"x", Tensor::from_vector<float>({1, 2, 3})}};

TEST(Divergence, NamesTheFirstTensorAndItsNode) {
  const Model a = chain(1, 2);
  const Model b = chain(1, 3);
  const auto search = find_divergence({&a, reference()}, {&b, reference()}, kInput, {});
  ASSERT_TRUE(search) << search.error().message;
  ASSERT_TRUE(search->first);
  EXPECT_EQ(search->first->parity.name, "y");
  EXPECT_EQ(search->first->node, "node 'make_y' (Mul)");
  EXPECT_DOUBLE_EQ(search->first->parity.max_abs_diff, 4.0);  // 4·2 against 4·3
  EXPECT_EQ(search->compared, 2u);
}

TEST(Divergence, EqualModelsHaveNone) {
  const Model a = chain(1, 2);
  const auto search = find_divergence({&a, reference()}, {&a, reference()}, kInput, {});
  ASSERT_TRUE(search) << search.error().message;
  EXPECT_FALSE(search->first);
  EXPECT_EQ(search->compared, 3u);
  EXPECT_TRUE(search->hidden_by_fusion());
}

TEST(Divergence, WrongInputsAreAnError) {
  const Model a = chain(1, 2);
  EXPECT_FALSE(find_divergence({&a, reference()}, {&a, reference()}, {}, {}));
}

}  // namespace
}  // namespace trivet

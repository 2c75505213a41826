// Products of computed matrices among transposes and constant factors.
#include <numeric>

#include "ops/support/inference.h"
#include "providers/cpu/fuse.h"
#include "providers/cpu/node_test.h"

namespace trivet::cpu {
namespace {

class ProductNodes : public NodeTest {
 protected:
  std::vector<std::int64_t> random_permutation(std::size_t rank) {
    std::vector<std::int64_t> perm(rank);
    std::iota(perm.begin(), perm.end(), std::int64_t{0});
    for (std::size_t i = rank; i > 1; --i) {
      std::swap(perm[i - 1], perm[static_cast<std::size_t>(integer(0, static_cast<int>(i) - 1))]);
    }
    return perm;
  }

  /// `value`, now and then multiplied or divided by a number, transposed by `perm` or not at all.
  ValueId around(GraphBuilder& builder, ValueId value, const std::string& name,
                 const std::vector<std::int64_t>* perm) {
    const auto factor = [&](const std::string& suffix) {
      if (coin()) return;
      const ValueId number = builder.add_constant(
          name + suffix, Tensor::from_values(coin() ? Shape{} : Shape{1, 1}, std::vector{0.375F}));
      value = coin() ? add(builder, "Div", {value, number}, name + "_div" + suffix)
                     : add(builder, "Mul", {number, value}, name + "_mul" + suffix);
    };
    factor("_before");
    if (perm != nullptr) {
      Attributes attributes;
      attributes.set("perm", *perm);
      value = add(builder, "Transpose", {value}, name + "_transposed", attributes);
    }
    factor("_after");
    return value;
  }

  /// An input that has this shape once it is transposed by `perm`.
  ValueId input(GraphBuilder& builder, const std::string& name, const Shape& shape,
                const std::vector<std::int64_t>* perm, std::vector<Tensor>& values) {
    Shape own = shape;
    for (std::size_t i = 0; perm != nullptr && i < shape.size(); ++i) {
      own[static_cast<std::size_t>((*perm)[i])] = shape[i];
    }
    values.push_back(random_tensor(own));
    return builder.add_input(name, ValueType::tensor(DType::kFloat32, symbolic(own)));
  }
};

TEST_F(ProductNodes, AgreeWithTheReference) {
  int fused = 0;
  for (int round = 0; round < 200; ++round) {
    const auto rank = static_cast<std::size_t>(integer(2, 5));
    Shape a_shape;
    for (std::size_t i = 0; i + 2 < rank; ++i) a_shape.push_back(integer(1, 4));
    Shape b_shape = a_shape;
    const std::int64_t k = integer(1, 40);
    a_shape.insert(a_shape.end(), {integer(1, 20), k});
    b_shape.insert(b_shape.end(), {k, integer(1, 40)});
    if (rank > 2 && integer(0, 9) == 0) b_shape[0] = 1;  // the leading axes broadcast
    const auto perm_a = random_permutation(rank);
    const auto perm_b = random_permutation(rank);
    const auto perm_y = random_permutation(rank);
    SCOPED_TRACE(cat("round ", round, ": ", shape_to_string(a_shape), " times ",
                     shape_to_string(b_shape), ", permuted by ", shape_to_string(perm_a), ", ",
                     shape_to_string(perm_b), " and ", shape_to_string(perm_y)));
    GraphBuilder builder("product");
    std::vector<Tensor> values;
    const auto* move_a = coin() ? &perm_a : nullptr;
    const auto* move_b = coin() ? &perm_b : nullptr;
    const ValueId a = input(builder, "a", a_shape, move_a, values);
    const ValueId b = input(builder, "b", b_shape, move_b, values);
    const ValueId left = around(builder, a, "left", move_a);
    const ValueId right = around(builder, b, "right", move_b);
    ValueId y = add(builder, "MatMul", {left, right}, "matmul");
    y = around(builder, y, "product", coin() ? &perm_y : nullptr);
    builder.add_output(y);
    if (integer(0, 9) == 0) builder.add_output(left);  // somebody else reads what lies between
    auto graph = builder.finish();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(*graph, values));
    const auto inference = infer(*graph, declared_inputs(*graph));
    ASSERT_TRUE(inference) << inference.error().message;
    const auto count = fuse_permutations(*graph, *inference);
    ASSERT_TRUE(count) << count.error().message;
    fused += *count;
  }
  EXPECT_GT(fused, 100);
}

/// A factor between two products belongs to one of them.
TEST_F(ProductNodes, ShareNoNode) {
  GraphBuilder builder("chain");
  const auto square = ValueType::tensor(DType::kFloat32, symbolic({3, 5, 5}));
  const ValueId x = builder.add_input("x", square);
  const ValueId z = builder.add_input("z", square);
  const ValueId half = builder.add_constant("half", Tensor::scalar(0.5F));
  ValueId y = add(builder, "MatMul", {x, z}, "first");
  y = add(builder, "Mul", {y, half}, "scaled");
  y = add(builder, "MatMul", {y, z}, "second");
  builder.add_output(y);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  expect_agreement(*graph, {random_tensor({3, 5, 5}), random_tensor({3, 5, 5})});
}

}  // namespace
}  // namespace trivet::cpu

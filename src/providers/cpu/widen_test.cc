#include "providers/cpu/widen.h"

#include <gtest/gtest.h>

#include <set>

#include "providers/cpu/node_test.h"

namespace trivet::cpu {
namespace {

template <class Half>
Tensor narrowed(const Tensor& tensor) {
  std::vector<Half> values;
  for (const float v : tensor.data<float>()) values.emplace_back(v);
  return Tensor::from_values(tensor.shape(), values);
}

/// x[2, 6, 9, 7] through what is widened, and what is not: CumSum, an If that captures, outputs.
template <class Half>
class HalfGraph : public NodeTest {
 protected:
  Graph graph() {
    GraphBuilder builder("half");
    const DType half = kDTypeOf<Half>;
    const ValueId x =
        builder.add_input("x", ValueType::tensor(half, SymbolicShape{Dim::symbol("n"), 6, 9, 7}));
    const ValueId w = builder.add_constant("w", narrowed<Half>(random_tensor({6, 6, 3, 3})));
    const ValueId b = builder.add_constant("b", narrowed<Half>(random_tensor({6})));
    const ValueId conv = add(builder, "Conv", {x, w, b}, "conv");
    const ValueId relu = add(builder, "Relu", {conv}, "relu");
    const ValueId axis = builder.add_constant("axis", Tensor::scalar<std::int64_t>(1));
    const ValueId sums = add(builder, "CumSum", {relu, axis}, "sums");
    const ValueId total = add(builder, "Add", {sums, relu}, "total");
    builder.add_output(total);
    builder.add_output(add_if(builder, total));
    builder.add_output(add(builder, "Softmax", {conv}, "soft"));
    return builder.finish().value();
  }

  /// If whose branches capture `value`.
  ValueId add_if(GraphBuilder& builder, ValueId value) {
    const ValueType type = ValueType::tensor(kDTypeOf<Half>, std::nullopt);
    GraphBuilder branch("branch");
    const ValueId inside = branch.add_capture("total", value, type);
    branch.add_output(add(branch, "Neg", {inside}, "negated"));
    const auto body = std::make_shared<Graph>(branch.finish().value());
    auto flag = Tensor::allocate(DType::kBool, {});
    *static_cast<bool*>(flag->mutable_raw()) = true;
    const ValueId condition = builder.add_constant("condition", *flag);
    Attributes branches;
    branches.set("then_branch", body);
    branches.set("else_branch", body);
    return add(builder, "If", {condition}, "chosen", branches);
  }

  std::vector<Tensor> outputs(const TrvProvider& provider, const Tensor& x) {
    Model model;
    model.graph = std::make_shared<const Graph>(graph_);
    const auto session = Session::create(model, {.providers = {&provider}, .threads = 2});
    EXPECT_TRUE(session) << session.error().message;
    auto out = (*session)->run(std::vector{x});
    EXPECT_TRUE(out) << out.error().message;
    return *std::move(out);
  }

  Graph graph_ = graph();
};

using Halves = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfGraph, Halves);

TYPED_TEST(HalfGraph, AgreesWithTheReference) {
  const Tensor x = narrowed<TypeParam>(this->random_tensor({2, 6, 9, 7}));
  const auto expected = this->outputs(reference_provider(), x);
  const auto found = this->outputs(cpu_provider(), x);
  ASSERT_EQ(found.size(), expected.size());
  const double unit = std::is_same_v<TypeParam, Float16> ? 1.0 / 1024 : 1.0 / 128;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].dtype(), kDTypeOf<TypeParam>);
    ASSERT_EQ(found[k].shape(), expected[k].shape());
    double largest = 0;
    for (std::int64_t i = 0; i < found[k].size(); ++i)
      largest = std::max(largest, std::abs(element_as_double(expected[k], i)));
    for (std::int64_t i = 0; i < found[k].size(); ++i) {
      ASSERT_NEAR(element_as_double(found[k], i), element_as_double(expected[k], i),
                  4 * unit * largest)
          << "output " << k << ", element " << i;
    }
  }
}

/// Every node but the Casts stands for the one that it was, so that profiles can name them.
TYPED_TEST(HalfGraph, NodesKnowWhereTheyComeFrom) {
  Graph widened = this->graph_;
  const auto inference = infer(widened, declared_inputs(widened));
  ASSERT_TRUE(inference) << inference.error().message;
  const auto origin = widen_halves(widened, *inference);
  ASSERT_TRUE(origin) << origin.error().message;
  ASSERT_EQ(origin->size(), widened.nodes().size());
  std::set<NodeId> seen;
  for (std::size_t i = 0; i < origin->size(); ++i) {
    const Node& node = widened.nodes()[i];
    if ((*origin)[i] == kNoNode) {
      EXPECT_EQ(node.op_type, "Cast");
    } else {
      EXPECT_EQ(node.op_type, this->graph_.node((*origin)[i]).op_type);
      EXPECT_TRUE(seen.insert((*origin)[i]).second);
    }
  }
  EXPECT_EQ(seen.size(), this->graph_.nodes().size());
}

/// Types that the operator does not allow together are left for its own complaint.
TYPED_TEST(HalfGraph, MixedTypesStayWhatTheyAre) {
  for (const DType other : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    if (other == kDTypeOf<TypeParam>) continue;
    GraphBuilder builder("mixed");
    const SymbolicShape shape = {2, 3};
    const ValueId a = builder.add_input("a", ValueType::tensor(kDTypeOf<TypeParam>, shape));
    const ValueId b = builder.add_input("b", ValueType::tensor(other, shape));
    Attributes attributes;
    attributes.set("axis", std::int64_t{0});
    builder.add_output(this->add(builder, "Concat", {a, b}, "joined", attributes));
    Graph graph = builder.finish().value();
    const auto inference = infer(graph, declared_inputs(graph));
    ASSERT_TRUE(inference) << inference.error().message;
    ASSERT_TRUE(widen_halves(graph, *inference));
    EXPECT_EQ(graph.nodes().size(), 1U);
  }
}

TYPED_TEST(HalfGraph, RunsOnTheFastKernels) {
  Model model;
  model.graph = std::make_shared<const Graph>(this->graph_);
  const auto session = Session::create(model, {.providers = {&cpu_provider()}, .threads = 1});
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE((*session)->run(std::vector{narrowed<TypeParam>(this->random_tensor({2, 6, 9, 7}))}));
  const std::string plan = (*session)->describe().value()[0];
  for (const char* kernel : {"\"conv", "\"softmax\"", "\"cast\""})
    EXPECT_NE(plan.find(kernel), std::string::npos) << kernel << " in " << plan;
}

}  // namespace
}  // namespace trivet::cpu

// Plans of graphs whose shapes cannot be.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet::cpu {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

/// x[1, 2, 2] through an operator that takes the new shape as its second input, and on through
/// Relu.
Result<std::vector<Tensor>> run_resized(const std::string& op, const std::vector<std::int64_t>& to,
                                        const TrvProvider& provider) {
  GraphBuilder builder("resized");
  const ValueId x =
      builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{1, 2, 2}));
  const ValueId shape = builder.add_constant("shape", Tensor::from_vector(to));
  const ValueId resized = builder.add_value("resized");
  const ValueId out = builder.add_value("out");
  Node node{.name = "resize", .op_type = op, .opset = 18};
  node.inputs = {x, shape};
  node.outputs = {resized};
  builder.add_node(std::move(node));
  Node relu{.name = "relu", .op_type = "Relu", .opset = 18};
  relu.inputs = {resized};
  relu.outputs = {out};
  builder.add_node(std::move(relu));
  builder.add_output(out);
  TRIVET_ASSIGN(Graph graph, builder.finish());
  Model model;
  model.graph = std::make_shared<const Graph>(std::move(graph));
  TRIVET_ASSIGN(
      const auto session,
      Session::create(model, {.providers = {&provider}, .threads = 1, .optimize = false}));
  const Tensor input = Tensor::from_values({1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  return session->run(std::vector<Tensor>{input});
}

TEST(Plan, ShapesThatCannotBeAreErrors) {
  const std::pair<const char*, std::vector<std::int64_t>> cases[] = {
      {"Reshape", {255, kHuge, 1 << 30}},
      {"Reshape", {kHuge, 4, 1}},
      {"Expand", {kHuge, 2, 2}},
      {"Expand", {kHuge, kHuge, 2, 2}},
      {"Tile", {kHuge, 1, 1}},
      {"Tile", {1, kHuge, kHuge}},
      {"CenterCropPad", {1, kHuge, -1}},
      {"CenterCropPad", {kHuge, kHuge, 0}},
      {"CenterCropPad", {1, 2, -2}},
  };
  for (const auto& [op, shape] : cases) {
    SCOPED_TRACE(cat(op, " to ", shape_to_string(shape)));
    const bool empty = shape.back() == 0;  // nothing at all, however large the other sizes
    EXPECT_EQ(run_resized(op, shape, cpu_provider()).has_value(), empty);
    EXPECT_EQ(run_resized(op, shape, reference_provider()).has_value(), empty);
  }
}

}  // namespace
}  // namespace trivet::cpu

// What tests of whole nodes share: random graphs run by the cpu provider and by the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet::cpu {

class NodeTest : public ::testing::Test {
 protected:
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return integer(0, 1) == 1; }
  Tensor random_tensor(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& v : values) v = distribution(random_);
    return Tensor::from_values(shape, values);
  }

  static SymbolicShape symbolic(const Shape& shape) {
    SymbolicShape out;
    for (const std::int64_t d : shape) out.push_back(Dim(d));
    return out;
  }
  /// Adds a node of one output, called `name`, as the value is.
  static ValueId add(GraphBuilder& builder, const std::string& type, std::vector<ValueId> inputs,
                     const std::string& name, Attributes attributes = {}) {
    const ValueId out = builder.add_value(name);
    Node node{.name = name, .op_type = type, .opset = 17};
    node.inputs = std::move(inputs);
    node.outputs = {out};
    node.attributes = std::move(attributes);
    builder.add_node(std::move(node));
    return out;
  }

  std::vector<float> run(const Graph& graph, const std::vector<Tensor>& inputs,
                         const TrvProvider& provider, int threads) {
    Model model;
    model.graph = std::make_shared<const Graph>(graph);
    const auto session =
        Session::create(model, {.providers = {&provider}, .threads = threads, .optimize = false});
    EXPECT_TRUE(session) << session.error().message;
    if (!session) return {};
    const auto out = (*session)->run(inputs);
    EXPECT_TRUE(out) << out.error().message;
    if (!out) return {};
    const auto values = (*out)[0].data<float>();
    return {values.begin(), values.end()};
  }

  void expect_agreement(const Graph& graph, const std::vector<Tensor>& inputs) {
    const auto expected = run(graph, inputs, reference_provider(), 1);
    ASSERT_FALSE(expected.empty());
    float largest = 1;
    for (const float v : expected) largest = std::max(largest, std::abs(v));
    for (const int threads : {1, 2}) {
      const auto found = run(graph, inputs, cpu_provider(), threads);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 2e-5 * largest) << "element " << i;
      }
    }
  }

 private:
  std::mt19937 random_{20261130};
};

}  // namespace trivet::cpu

// Writes graphs node by node, for tests.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/support/elements.h"

namespace trivet {

/// Each call adds one value, under a name of its own.
class GraphWriter {
 public:
  GraphWriter(GraphBuilder& builder, int opset, std::string prefix = "")
      : builder_(builder), opset_(opset), prefix_(std::move(prefix)) {}

  ValueId node(const std::string& type, std::vector<ValueId> inputs,
               const std::vector<Attribute>& attributes = {}, std::optional<int> opset = {}) {
    const std::string name = cat(prefix_, type, "_", ++count_);
    const ValueId out = builder_.add_value(name);
    Node n{.name = name,
           .op_type = type,
           .opset = opset.value_or(opset_),
           .inputs = std::move(inputs)};
    n.outputs = {out};
    for (const Attribute& attribute : attributes) n.attributes.set(attribute.name, attribute.value);
    builder_.add_node(std::move(n));
    return out;
  }
  /// A constant of `dtype`.
  ValueId tensor(const Tensor& tensor) {
    return builder_.add_constant(cat(prefix_, "c", ++count_), *ops::converted(tensor, dtype));
  }
  ValueId number(double value, const Shape& shape = {}) {
    return tensor(Tensor::from_values<float>(shape, {static_cast<float>(value)}));
  }
  /// A constant of the tensor's own type.
  ValueId constant(Tensor tensor) {
    return builder_.add_constant(cat(prefix_, "k", ++count_), std::move(tensor));
  }
  ValueId ints(const std::vector<std::int64_t>& values) {
    return builder_.add_constant(cat(prefix_, "i", ++count_), Tensor::from_vector(values));
  }
  /// Makes the value an output of the graph.
  void show(ValueId value) { builder_.add_output(value); }

  DType dtype = DType::kFloat32;

 private:
  GraphBuilder& builder_;
  int opset_;
  std::string prefix_;
  int count_ = 0;
};

}  // namespace trivet

// Runs one operator on tensors, for the tests beside the operators.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {

/// One node with everything around it. An undefined tensor or value stands for an omitted input.
///
///     OpTest test("Clip", 13);
///     test.attribute("axis", std::int64_t{1});
///     const Tensor y = test.run({x, Tensor(), max});
class OpTest {
 public:
  explicit OpTest(std::string op_type, int opset = 21, std::string domain = "");

  OpTest& attribute(std::string name, AttributeValue value);
  OpTest& outputs(int count);

  /// All outputs, or why the operator refused.
  Result<std::vector<Tensor>> try_run(const std::vector<Tensor>& inputs);

  /// Output 0; a refusal fails the test and gives an undefined tensor. Where inference knows a
  /// dtype and a shape for the types of the inputs, they are compared with what came out.
  Tensor run(const std::vector<Tensor>& inputs);

  /// What inference says of each output.
  Result<std::vector<InferredValue>> try_infer(const std::vector<InferredValue>& inputs);

  /// Output 0; a refusal fails the test.
  InferredValue infer(const std::vector<InferredValue>& inputs);

  /// A value of which only the type is known.
  static InferredValue typed(ValueType type);
  static InferredValue typed(DType dtype, SymbolicShape shape);
  /// A value that is known.
  static InferredValue constant(const Tensor& tensor);
  /// An int64 vector of which the elements are known symbolically.
  static InferredValue symbolic(SymbolicShape elements);

 private:
  void connect(const std::vector<bool>& present);
  void expect_agrees(const ValueType& type, const Tensor& tensor);

  Node node_;
  int output_count_ = 1;
};

/// Elements as doubles, for comparisons.
std::vector<double> doubles(const Tensor& tensor);

/// A float tensor of this shape with values that differ: −2, −1.7, −1.4 … wrapping at 2.5.
Tensor ramp(const Shape& shape);

}  // namespace trivet::ops

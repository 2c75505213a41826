#include "ops/support/op_test.h"

#include <cstdint>

#include "tensor/tensor.h"

namespace trivet::ops {

OpTest::OpTest(std::string op_type, int opset, std::string domain) {
  node_.op_type = std::move(op_type);
  node_.opset = opset;
  node_.domain = std::move(domain);
}

OpTest& OpTest::attribute(std::string name, AttributeValue value) {
  node_.attributes.set(std::move(name), std::move(value));
  return *this;
}

OpTest& OpTest::outputs(int count) {
  output_count_ = count;
  return *this;
}

Result<std::vector<Tensor>> OpTest::try_run(const std::vector<Tensor>& inputs) {
  std::vector<bool> present;
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : inputs) {
    present.push_back(input.defined());
    pointers.push_back(input.defined() ? &input : nullptr);
  }
  connect(present);
  TRIVET_ASSIGN(const OpDef* op, find_op(node_));
  EvalHost host;
  EvalContext context(node_, pointers, host);
  TRIVET_TRY(op->eval(context));
  return std::move(context.outputs());
}

Tensor OpTest::run(const std::vector<Tensor>& inputs) {
  auto outputs = try_run(inputs);
  if (!outputs) {
    ADD_FAILURE() << node_.op_type << ": " << outputs.error().message;
    return {};
  }
  std::vector<InferredValue> values;
  for (const Tensor& input : inputs) {
    values.push_back(input.defined() ? typed(ValueType::of(input)) : InferredValue{});
  }
  const auto inferred = try_infer(values);
  if (!inferred) {
    ADD_FAILURE() << node_.op_type << " (inference): " << inferred.error().message;
    return outputs->front();
  }
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const ValueType& type = (*inferred)[i].type;
    if ((*outputs)[i].defined()) expect_agrees(type, (*outputs)[i]);
  }
  return outputs->front();
}

Result<std::vector<InferredValue>> OpTest::try_infer(const std::vector<InferredValue>& inputs) {
  std::vector<bool> present;
  std::vector<const InferredValue*> pointers;
  for (const InferredValue& input : inputs) {
    const bool here = input.type.dtype != DType::kUndefined;
    present.push_back(here);
    pointers.push_back(here ? &input : nullptr);
  }
  connect(present);
  TRIVET_ASSIGN(const OpDef* op, find_op(node_));
  InferContext context(node_, pointers);
  TRIVET_TRY(op->infer(context));
  return std::move(context.outputs());
}

InferredValue OpTest::infer(const std::vector<InferredValue>& inputs) {
  auto outputs = try_infer(inputs);
  if (outputs) return outputs->front();
  ADD_FAILURE() << node_.op_type << ": " << outputs.error().message;
  return {};
}

InferredValue OpTest::typed(ValueType type) { return {std::move(type), {}, std::nullopt}; }
InferredValue OpTest::typed(DType dtype, SymbolicShape shape) {
  return typed(ValueType::tensor(dtype, std::move(shape)));
}

InferredValue OpTest::constant(const Tensor& tensor) {
  return {ValueType::of(tensor), tensor, std::nullopt};
}

InferredValue OpTest::symbolic(SymbolicShape elements) {
  const SymbolicShape shape = {Dim(static_cast<std::int64_t>(elements.size()))};
  return {ValueType::tensor(DType::kInt64, shape), {}, std::move(elements)};
}

void OpTest::connect(const std::vector<bool>& present) {
  node_.inputs.clear();
  for (std::size_t i = 0; i < present.size(); ++i) {
    node_.inputs.push_back(present[i] ? static_cast<ValueId>(i) : kNoValue);
  }
  node_.outputs.clear();
  for (int i = 0; i < output_count_; ++i) node_.outputs.push_back(1000 + i);
}

void OpTest::expect_agrees(const ValueType& type, const Tensor& tensor) {
  if (type.dtype != DType::kUndefined) {
    EXPECT_EQ(dtype_name(type.dtype), dtype_name(tensor.dtype())) << node_.op_type;
  }
  if (!type.shape) return;
  ASSERT_EQ(type.shape->size(), tensor.shape().size()) << node_.op_type;
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    if ((*type.shape)[i].is_constant()) {
      EXPECT_EQ((*type.shape)[i].value(), tensor.shape()[i]) << node_.op_type << ", axis " << i;
    }
  }
}

std::vector<double> doubles(const Tensor& tensor) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.size(); ++i) out.push_back(element_as_double(tensor, i));
  return out;
}

Tensor ramp(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = -2.0f + 0.3f * static_cast<float>(i % 16);
  }
  return Tensor::from_values<float>(shape, values);
}

}  // namespace trivet::ops

// Loop: a subgraph again and again, with values that it carries and outputs that it collects.
#include <limits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/control_flow.h"

namespace trivet::ops {
namespace {

/// Inputs: trip count, condition, then the carried values. Outputs of the body: condition, carried
/// values, collected values.
constexpr std::size_t kFirstCarried = 2;

Result<std::size_t> carried_count(std::size_t inputs, std::size_t outputs) {
  if (inputs < kFirstCarried) {
    return invalid_model("Loop takes a trip count and a condition, each of which may be empty");
  }
  if (outputs < inputs - kFirstCarried) {
    return invalid_model("Loop carries ", inputs - kFirstCarried, " values, but has ", outputs,
                         " outputs");
  }
  return inputs - kFirstCarried;
}

Result<void> check_body(std::size_t found, std::size_t node_outputs) {
  if (found == node_outputs + 1) return {};
  return invalid_model("the body has ", found, " outputs, expected ", node_outputs + 1,
                       ": a condition, then those of the node");
}

/// What the body gives when values of these types go in.
Result<std::vector<ValueType>> infer_body(InferContext& context,
                                          const std::vector<ValueType>& carried) {
  std::vector<InferredValue> inputs = {
      {ValueType::tensor(DType::kInt64, SymbolicShape{}), {}, std::nullopt},
      {ValueType::tensor(DType::kBool, SymbolicShape{}), {}, std::nullopt}};
  for (const ValueType& type : carried) inputs.push_back({type, {}, std::nullopt});
  TRIVET_ASSIGN(std::vector<ValueType> out, context.infer_subgraph("body", inputs));
  TRIVET_TRY(check_body(out.size(), context.output_count()));
  return out;
}

Result<void> infer_loop(InferContext& context) {
  TRIVET_ASSIGN(const std::size_t count,
                carried_count(context.input_count(), context.output_count()));
  std::vector<ValueType> carried;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueType* type = context.type(kFirstCarried + i);
    carried.push_back(type == nullptr ? ValueType{} : *type);
  }
  // Widen the types until the body no longer changes them. Each round loses a size or a rank, so
  // this ends.
  std::vector<ValueType> body;
  for (bool changed = true; changed;) {
    changed = false;
    TRIVET_ASSIGN(body, infer_body(context, carried));
    for (std::size_t i = 0; i < count; ++i) {
      TRIVET_ASSIGN(const bool wider, join_types(carried[i], body[i + 1]));
      changed = changed || wider;
    }
  }
  for (std::size_t i = 0; i < count; ++i) context.set_output_type(i, std::move(carried[i]));
  // A condition may end the loop early.
  Dim trips = Dim::unknown();
  const auto given = context.elements(0);
  if (given && given->size() == 1 && !context.has_input(1)) trips = given->front();
  for (std::size_t i = count; i < context.output_count(); ++i) {
    TRIVET_ASSIGN(ValueType type, with_axis(std::move(body[i + 1]), 0, trips));
    context.set_output_type(i, std::move(type));
  }
  return {};
}

Result<bool> as_condition(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool || tensor.size() != 1) {
    return invalid_argument("the condition is ", dtype_name(tensor.dtype()), " ",
                            shape_to_string(tensor.shape()), ", expected one bool");
  }
  return tensor.data<bool>()[0];
}

struct Control {
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  bool conditional = false;
  bool go_on = true;
};

Result<Control> read_control(const EvalContext& context) {
  Control control;
  if (context.has_input(0)) {
    const Tensor& trips = context.input(0);
    if (trips.dtype() != DType::kInt64 || trips.size() != 1) {
      return invalid_argument("the trip count is ", dtype_name(trips.dtype()), " ",
                              shape_to_string(trips.shape()), ", expected one int64");
    }
    control.trips = trips.data<std::int64_t>()[0];
  }
  control.conditional = context.has_input(1);
  if (control.conditional) {
    TRIVET_ASSIGN(control.go_on, as_condition(context.input(1)));
  } else if (!context.has_input(0)) {
    return invalid_model("a Loop with neither trip count nor condition never ends");
  }
  return control;
}

/// The type of a collected value as the body declares it, for a loop that never runs.
ValueType declared_type(const Attributes& attributes, std::size_t output) {
  const auto* body = attributes.get<GraphPtr>("body");
  if (body == nullptr || output >= (*body)->outputs().size()) return {};
  return (*body)->value((*body)->outputs()[output]).type;
}

Result<void> eval_loop(EvalContext& context) {
  TRIVET_ASSIGN(const std::size_t count,
                carried_count(context.input_count(), context.output_count()));
  TRIVET_ASSIGN(Control control, read_control(context));
  std::vector<Tensor> carried;
  for (std::size_t i = 0; i < count; ++i) {
    if (!context.has_input(kFirstCarried + i)) {
      return invalid_model("carried value ", i, " has no initial value");
    }
    carried.push_back(context.input(kFirstCarried + i));
  }
  std::vector<SliceCollector> collected(context.output_count() - count);
  for (std::int64_t trip = 0; trip < control.trips && control.go_on; ++trip) {
    std::vector<Tensor> inputs = {Tensor::scalar(trip), Tensor::scalar(control.go_on)};
    inputs.insert(inputs.end(), std::make_move_iterator(carried.begin()),
                  std::make_move_iterator(carried.end()));
    TRIVET_ASSIGN(std::vector<Tensor> results, context.run_subgraph("body", std::move(inputs)));
    TRIVET_TRY(check_body(results.size(), context.output_count()));
    if (control.conditional) {
      TRIVET_ASSIGN(control.go_on, as_condition(results[0]));
    }
    for (std::size_t i = 0; i < count; ++i) carried[i] = std::move(results[i + 1]);
    for (std::size_t i = 0; i < collected.size(); ++i) {
      TRIVET_TRY(collected[i].append(results[count + i + 1]));
    }
  }
  for (std::size_t i = 0; i < count; ++i) context.set_output(i, std::move(carried[i]));
  for (std::size_t i = 0; i < collected.size(); ++i) {
    const ValueType type = declared_type(context.attributes(), count + i + 1);
    TRIVET_ASSIGN(Tensor out, collected[i].finish(0, false, type));
    context.set_output(count + i, std::move(out));
  }
  return {};
}

}  // namespace

OpDefs loop_ops() {
  return {{.name = "Loop",
           .inputs = {0, kVariadic},  // the first two are optional
           .outputs = {1, kVariadic},
           .infer = infer_loop,
           .eval = eval_loop}};
}

}  // namespace trivet::ops

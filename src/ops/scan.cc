// Scan: a subgraph for each slice of its inputs, with states that it carries and slices that it
// collects. Opset 8 scans axis 1 of a batch, opset 9 any axis without one.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/control_flow.h"

namespace trivet::ops {
namespace {

/// How the inputs and outputs divide into states and scanned values.
struct Roles {
  std::size_t first = 0;  ///< of the states among the inputs
  std::size_t states = 0;
  std::size_t scanned = 0;
  std::size_t collected = 0;
  std::vector<std::int64_t> input_axes, output_axes, input_directions, output_directions;
};

Result<std::vector<std::int64_t>> read_list(const Attributes& attributes, std::string_view name,
                                            std::size_t count) {
  std::vector<std::int64_t> out = attributes.ints(name);
  if (out.empty()) out.assign(count, 0);
  if (out.size() == count) return out;
  return invalid_model(name, " has ", out.size(), " entries, expected ", count);
}

Result<Roles> read_roles(const Attributes& attributes, bool batched, std::size_t inputs,
                         std::size_t outputs) {
  Roles roles;
  roles.first = batched ? 1 : 0;
  const std::int64_t scanned = attributes.int_or("num_scan_inputs", 0);
  if (inputs < roles.first || scanned < 1 ||
      static_cast<std::size_t>(scanned) > inputs - roles.first) {
    return invalid_model("num_scan_inputs is ", scanned, ", expected 1 to the ", inputs,
                         " inputs of the node");
  }
  roles.scanned = static_cast<std::size_t>(scanned);
  roles.states = inputs - roles.first - roles.scanned;
  if (outputs < roles.states) {
    return invalid_model("Scan carries ", roles.states, " states, but has ", outputs, " outputs");
  }
  roles.collected = outputs - roles.states;
  const std::string_view directions = batched ? "directions" : "scan_input_directions";
  TRIVET_ASSIGN(roles.input_directions, read_list(attributes, directions, roles.scanned));
  TRIVET_ASSIGN(roles.input_axes, read_list(attributes, "scan_input_axes", roles.scanned));
  TRIVET_ASSIGN(roles.output_axes, read_list(attributes, "scan_output_axes", roles.collected));
  TRIVET_ASSIGN(roles.output_directions,
                read_list(attributes, "scan_output_directions", roles.collected));
  return roles;
}

Result<void> check_body(std::size_t found, const Roles& roles) {
  if (found == roles.states + roles.collected) return {};
  return invalid_model("the body has ", found, " outputs, expected ",
                       roles.states + roles.collected, ": the states, then what is collected");
}

/// Removes axis `axis` of a type; its size comes back where it is known.
Result<Dim> remove_axis(ValueType& type, std::int64_t axis) {
  if (!type.shape) return Dim::unknown();
  TRIVET_ASSIGN(const std::size_t at, normalize_axis(axis, type.shape->size()));
  const auto place = type.shape->begin() + static_cast<std::ptrdiff_t>(at);
  const Dim size = *place;
  type.shape->erase(place);
  return size;
}

ValueType input_type(const InferContext& context, std::size_t i) {
  const ValueType* type = context.type(i);
  return type == nullptr ? ValueType{} : *type;
}

/// Types of one sequence: states and outputs of the body, with the batch axis taken off before and
/// put back after where there is one.
Result<void> infer_scan_as(InferContext& context, bool batched) {
  TRIVET_ASSIGN(const Roles roles, read_roles(context.attributes(), batched, context.input_count(),
                                              context.output_count()));
  Dim batch = Dim::unknown();
  Dim length = Dim::unknown();
  std::vector<InferredValue> inputs;
  for (std::size_t i = 0; i < roles.states + roles.scanned; ++i) {
    ValueType type = input_type(context, roles.first + i);
    if (batched) {
      TRIVET_ASSIGN(batch, remove_axis(type, 0));
    }
    if (i >= roles.states) {
      TRIVET_ASSIGN(const Dim size, remove_axis(type, roles.input_axes[i - roles.states]));
      if (length.is_unknown()) length = size;
    }
    inputs.push_back({std::move(type), {}, std::nullopt});
  }
  std::vector<ValueType> body;
  for (bool changed = true; changed;) {
    changed = false;
    TRIVET_ASSIGN(body, context.infer_subgraph("body", inputs));
    TRIVET_TRY(check_body(body.size(), roles));
    for (std::size_t i = 0; i < roles.states; ++i) {
      TRIVET_ASSIGN(const bool wider, join_types(inputs[i].type, body[i]));
      changed = changed || wider;
    }
  }
  for (std::size_t i = 0; i < body.size(); ++i) {
    ValueType type = i < roles.states ? inputs[i].type : body[i];
    if (i >= roles.states) {
      TRIVET_ASSIGN(type, with_axis(std::move(type), roles.output_axes[i - roles.states], length));
    }
    if (batched) {
      TRIVET_ASSIGN(type, with_axis(std::move(type), 0, batch));
    }
    context.set_output_type(i, std::move(type));
  }
  return {};
}

Result<void> infer_scan(InferContext& context) { return infer_scan_as(context, false); }
Result<void> infer_scan_8(InferContext& context) { return infer_scan_as(context, true); }

/// The common length of the scanned inputs; turns negative axes into positive ones.
Result<std::int64_t> scan_length(Roles& roles, const std::vector<Tensor>& scanned) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    TRIVET_ASSIGN(const std::size_t axis,
                  normalize_axis(roles.input_axes[i], scanned[i].shape().size()));
    roles.input_axes[i] = static_cast<std::int64_t>(axis);
    const std::int64_t own = scanned[i].shape()[axis];
    if (i > 0 && own != length) {
      return invalid_argument("scanned input ", i, " has length ", own, ", the first ", length);
    }
    length = own;
  }
  return length;
}

/// Scans one sequence of `length` steps: final states, then the collected values, of which `padded`
/// slices come out (what is beyond the length is zero).
Result<std::vector<Tensor>> scan_sequence(EvalContext& context, const Roles& roles,
                                          std::vector<Tensor> states,
                                          const std::vector<Tensor>& scanned, std::int64_t length) {
  std::vector<SliceCollector> collected(roles.collected);
  for (std::int64_t step = 0; step < length; ++step) {
    std::vector<Tensor> inputs = std::move(states);
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      const bool backwards = roles.input_directions[i] != 0;
      TRIVET_ASSIGN(Tensor slice,
                    take_slice(scanned[i], static_cast<std::size_t>(roles.input_axes[i]),
                               backwards ? length - 1 - step : step));
      inputs.push_back(std::move(slice));
    }
    TRIVET_ASSIGN(std::vector<Tensor> results, context.run_subgraph("body", std::move(inputs)));
    TRIVET_TRY(check_body(results.size(), roles));
    for (std::size_t i = 0; i < collected.size(); ++i) {
      TRIVET_TRY(collected[i].append(results[roles.states + i]));
    }
    results.resize(roles.states);
    states = std::move(results);
  }
  const auto* body = context.attributes().get<GraphPtr>("body");
  for (std::size_t i = 0; i < collected.size(); ++i) {
    ValueType type;
    if (body != nullptr && roles.states + i < (*body)->outputs().size()) {
      type = (*body)->value((*body)->outputs()[roles.states + i]).type;
    }
    TRIVET_ASSIGN(Tensor out,
                  collected[i].finish(roles.output_axes[i], roles.output_directions[i] != 0, type));
    states.push_back(std::move(out));
  }
  return states;
}

Result<std::vector<Tensor>> required_inputs(const EvalContext& context, std::size_t first,
                                            std::size_t count) {
  std::vector<Tensor> out;
  for (std::size_t i = first; i < first + count; ++i) {
    if (!context.has_input(i)) return invalid_model("input ", i, " is missing");
    out.push_back(context.input(i));
  }
  return out;
}

Result<void> eval_scan(EvalContext& context) {
  TRIVET_ASSIGN(Roles roles, read_roles(context.attributes(), false, context.input_count(),
                                        context.output_count()));
  TRIVET_ASSIGN(std::vector<Tensor> states, required_inputs(context, 0, roles.states));
  TRIVET_ASSIGN(const std::vector<Tensor> scanned,
                required_inputs(context, roles.states, roles.scanned));
  TRIVET_ASSIGN(const std::int64_t length, scan_length(roles, scanned));
  TRIVET_ASSIGN(std::vector<Tensor> results,
                scan_sequence(context, roles, std::move(states), scanned, length));
  for (std::size_t i = 0; i < results.size(); ++i) context.set_output(i, std::move(results[i]));
  return {};
}

/// Zeros up to `length` along axis 0.
Result<Tensor> padded(const Tensor& tensor, std::int64_t length) {
  Shape shape = tensor.shape();
  if (shape.empty() || shape[0] == length) return tensor;
  shape[0] = length;
  if (tensor.dtype() == DType::kString || is_sub_byte(tensor.dtype())) {
    return unsupported("sequences of different lengths of type ", dtype_name(tensor.dtype()));
  }
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(tensor.dtype(), shape));
  auto* bytes = static_cast<char*>(out.mutable_raw());
  const auto* from = static_cast<const char*>(tensor.raw());
  std::fill(std::copy_n(from, tensor.bytes(), bytes), bytes + out.bytes(), 0);
  return out;
}

Result<std::vector<std::int64_t>> sequence_lengths(const EvalContext& context, std::int64_t batch,
                                                   std::int64_t longest) {
  if (!context.has_input(0)) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(batch), longest);
  }
  const Tensor& given = context.input(0);
  if (given.dtype() != DType::kInt64 || given.shape() != Shape{batch}) {
    return invalid_argument("sequence_lens is ", dtype_name(given.dtype()), " ",
                            shape_to_string(given.shape()), ", expected int64 ", batch);
  }
  std::vector<std::int64_t> out = elements_as_int64(given);
  for (const std::int64_t length : out) {
    if (length >= 0 && length <= longest) continue;
    return invalid_argument("sequence_lens holds ", length, ", expected 0 to ", longest);
  }
  return out;
}

Result<void> eval_scan_8(EvalContext& context) {
  TRIVET_ASSIGN(Roles roles, read_roles(context.attributes(), true, context.input_count(),
                                        context.output_count()));
  TRIVET_ASSIGN(const std::vector<Tensor> values,
                required_inputs(context, 1, roles.states + roles.scanned));
  const Shape& scanned_shape = values.back().shape();
  if (scanned_shape.size() < 2) {
    return invalid_argument("a scanned input of shape ", shape_to_string(scanned_shape),
                            ", expected batch x sequence x ...");
  }
  const std::int64_t batch = scanned_shape[0];
  const std::int64_t longest = scanned_shape[1];
  for (const Tensor& value : values) {
    if (value.rank() > 0 && value.dim(0) == batch) continue;
    return invalid_argument("an input of shape ", shape_to_string(value.shape()), " in a batch of ",
                            batch);
  }
  TRIVET_ASSIGN(const auto lengths, sequence_lengths(context, batch, longest));
  std::vector<SliceCollector> results(roles.states + roles.collected);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<Tensor> states;
    std::vector<Tensor> scanned;
    for (std::size_t i = 0; i < values.size(); ++i) {
      TRIVET_ASSIGN(Tensor own, take_slice(values[i], 0, b));
      (i < roles.states ? states : scanned).push_back(std::move(own));
    }
    TRIVET_ASSIGN(const std::int64_t length, scan_length(roles, scanned));
    if (length != longest) return invalid_argument("scanned inputs differ in length");
    TRIVET_ASSIGN(const std::vector<Tensor> own,
                  scan_sequence(context, roles, std::move(states), scanned,
                                lengths[static_cast<std::size_t>(b)]));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool collected = i >= roles.states;
      TRIVET_ASSIGN(const Tensor whole,
                    collected ? padded(own[i], longest) : Result<Tensor>(own[i]));
      TRIVET_TRY(results[i].append(whole));
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    TRIVET_ASSIGN(Tensor out, results[i].finish(0, false, ValueType::of(values[0])));
    context.set_output(i, std::move(out));
  }
  return {};
}

}  // namespace

OpDefs scan_ops() {
  return {{.name = "Scan",
           .since = 8,
           .inputs = {0, kVariadic},  // the first, sequence_lens, is optional
           .outputs = {1, kVariadic},
           .infer = infer_scan_8,
           .eval = eval_scan_8},
          {.name = "Scan",
           .since = 9,
           .inputs = {1, kVariadic},
           .outputs = {1, kVariadic},
           .infer = infer_scan,
           .eval = eval_scan}};
}

}  // namespace trivet::ops

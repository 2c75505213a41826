#include "ops/support/convolution.h"

namespace trivet::ops {
namespace {

void flatten_pointwise(ConvPlan& plan) {
  const auto all = [](const Shape& shape, std::int64_t value) {
    return std::ranges::all_of(shape, [value](std::int64_t d) { return d == value; });
  };
  const Window& w = plan.window;
  if (!all(w.kernel, 1) || !all(w.strides, 1) || !all(w.pads_begin, 0) || !all(w.pads_end, 0)) {
    return;
  }
  plan.in = {element_count(plan.in)};
  plan.out = plan.in;
  plan.window = {
      .kernel = {1}, .strides = {1}, .dilations = {1}, .pads_begin = {0}, .pads_end = {0}};
}

}  // namespace

Result<std::int64_t> read_groups(const Attributes& attributes) {
  const std::int64_t groups = attributes.int_or("group", 1);
  if (groups < 1) return invalid_model("group is ", groups, ", expected at least 1");
  return groups;
}

Result<ConvPlan> plan_convolution(const Attributes& attributes, const Shape& x, const Shape& w,
                                  Pointwise pointwise) {
  if (x.size() < 3 || x.size() != w.size()) {
    return invalid_argument("input of shape ", shape_to_string(x), " and weight of shape ",
                            shape_to_string(w), "; both need the same rank, at least 3");
  }
  ConvPlan plan;
  TRIVET_ASSIGN(plan.groups, read_groups(attributes));
  plan.batch = x[0];
  plan.in_channels = w[1];
  if (w[0] % plan.groups != 0 || x[1] % plan.groups != 0 || x[1] / plan.groups != w[1]) {
    return invalid_argument(
        "input with ", x[1], " channels, weight of shape ", shape_to_string(w), " and group ",
        plan.groups, "; the weight must be (multiple of group) x (channels / group) x sizes");
  }
  plan.out_channels = w[0] / plan.groups;
  plan.in.assign(x.begin() + 2, x.end());
  const Shape kernel(w.begin() + 2, w.end());
  TRIVET_ASSIGN(plan.window, read_window(attributes, kernel.size(), kernel));
  TRIVET_ASSIGN(plan.out, resolve_window(plan.window, plan.in));
  plan.output_shape = {plan.batch, w[0]};
  plan.output_shape.insert(plan.output_shape.end(), plan.out.begin(), plan.out.end());
  if (pointwise == Pointwise::kFlatten) flatten_pointwise(plan);
  return plan;
}

Result<std::optional<SymbolicShape>> infer_convolution(const InferContext& context, std::size_t x,
                                                       std::size_t w) {
  TRIVET_ASSIGN(const std::int64_t groups, read_groups(context.attributes()));
  const SymbolicShape* input = context.shape(x);
  const SymbolicShape* weight = context.shape(w);
  if (input == nullptr && weight == nullptr) return std::nullopt;
  const std::size_t rank = input != nullptr ? input->size() : weight->size();
  if (rank < 3 || (input != nullptr && weight != nullptr && weight->size() != rank)) {
    return invalid_argument("input of rank ", rank, " and weight of rank ",
                            weight == nullptr ? rank : weight->size(),
                            "; both need the same rank, at least 3");
  }
  SymbolicShape out(rank, Dim::unknown());
  if (input != nullptr) out[0] = (*input)[0];
  if (weight != nullptr) out[1] = (*weight)[0];
  if (input != nullptr && weight != nullptr) {
    const Dim expected = (*weight)[1] * Dim(groups);
    if (expected.is_constant() && (*input)[1].is_constant() && !(expected == (*input)[1])) {
      return invalid_argument("the input has ", (*input)[1].to_string(), " channels, the weight ",
                              (*weight)[1].to_string(), " in each of ", groups, " groups");
    }
  }
  std::optional<Shape> kernel;
  if (weight != nullptr) kernel = constant_shape({weight->begin() + 2, weight->end()});
  if (input == nullptr || (!kernel && !context.attributes().has("kernel_shape"))) return out;
  TRIVET_ASSIGN(const Window window,
                read_window(context.attributes(), rank - 2, kernel ? *kernel : Shape{}));
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    TRIVET_ASSIGN(out[axis + 2], window_output(window, axis, (*input)[axis + 2]));
  }
  return out;
}

Dim convolution_macs(const InferContext& context, std::size_t x, std::size_t w) {
  const auto out = infer_convolution(context, x, w);
  const SymbolicShape* weight = context.shape(w);
  if (!out || !*out || weight == nullptr) return Dim::unknown();
  const Dim per_output = element_count(SymbolicShape(weight->begin() + 1, weight->end()));
  return element_count(**out) * per_output;
}

}  // namespace trivet::ops

// Operators that an older opset lacks, put together from those that it has.
#include <cmath>
#include <numbers>

#include "convert/boundary.h"

namespace trivet::convert {
namespace {

/// Shorthands for one node's decomposition, in the element type `dtype`.
struct Maker {
  Step& step;
  DType dtype;

  ValueId operator()(std::string_view op, std::vector<ValueId> inputs, Settings settings = {}) {
    return step.emit(op, std::move(inputs), std::move(settings));
  }
  Result<ValueId> number(double value) { return step.add_scalar(value, dtype); }
  ValueId cast(ValueId id, DType from, DType to) {
    if (from == to) return id;
    return step.emit("Cast", {id}, {{"to", static_cast<std::int64_t>(to)}});
  }
  void finish(std::string_view op, std::vector<ValueId> inputs, Settings settings = {}) {
    step.emit_to(step.node.outputs[0], op, std::move(inputs), std::move(settings));
    step.drop();
  }
};

Result<Maker> maker(Step& step) {
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(0));
  return Maker{step, dtype};
}

Result<void> hard_swish(Step& step) {
  const ValueId x = step.node.inputs[0];
  const ValueId gate = step.emit("HardSigmoid", {x}, {{"alpha", 1.0f / 6.0f}, {"beta", 0.5f}});
  step.emit_to(step.node.outputs[0], "Mul", {x, gate});
  step.drop();
  return {};
}

Result<void> mish(Step& step) {
  const ValueId x = step.node.inputs[0];
  step.emit_to(step.node.outputs[0], "Mul", {x, step.emit("Tanh", {step.emit("Softplus", {x})})});
  step.drop();
  return {};
}

Result<void> swish(Step& step) {
  TRIVET_ASSIGN(Maker make, maker(step));
  const ValueId x = step.node.inputs[0];
  ValueId scaled = x;
  const float alpha = step.node.attributes.float_or("alpha", 1.0f);
  if (alpha != 1.0f) {
    TRIVET_ASSIGN(const ValueId factor, make.number(double{alpha}));
    scaled = make("Mul", {x, factor});
  }
  make.finish("Mul", {x, make("Sigmoid", {scaled})});
  return {};
}

Result<void> gelu(Step& step) {
  TRIVET_ASSIGN(Maker make, maker(step));
  const ValueId x = step.node.inputs[0];
  TRIVET_ASSIGN(const ValueId half, make.number(0.5));
  TRIVET_ASSIGN(const ValueId one, make.number(1));
  ValueId bent = kNoValue;
  if (step.node.attributes.string_or("approximate", "none") == "tanh") {
    TRIVET_ASSIGN(const ValueId cubic, make.number(0.044715));
    TRIVET_ASSIGN(const ValueId root, make.number(std::sqrt(2 / std::numbers::pi)));
    const ValueId cube = make("Mul", {make("Mul", {x, x}), x});
    const ValueId sum = make("Add", {x, make("Mul", {cubic, cube})});
    bent = make("Tanh", {make("Mul", {root, sum})});
  } else {
    TRIVET_ASSIGN(const ValueId root, make.number(std::numbers::sqrt2));
    bent = make("Erf", {make("Div", {x, root})});
  }
  const ValueId gate = make("Mul", {half, make("Add", {one, bent})});
  make.finish("Mul", {x, gate});
  return {};
}

Result<void> celu(Step& step) {
  TRIVET_ASSIGN(Maker make, maker(step));
  const float factor = step.node.attributes.float_or("alpha", 1.0f);
  if (!(factor > 0)) return unsupported("its alpha is not positive");
  TRIVET_ASSIGN(const ValueId alpha, make.number(double{factor}));
  const ValueId scaled = make("Div", {step.node.inputs[0], alpha});
  make.finish("Mul", {alpha, make("Elu", {scaled}, {{"alpha", 1.0f}})});
  return {};
}

/// Not "not less": a comparison with NaN is false.
Result<void> or_equal(Step& step) {
  const std::string_view strict = step.node.op_type == "GreaterOrEqual" ? "Greater" : "Less";
  const std::vector<ValueId> inputs = step.node.inputs;
  const ValueId apart = step.emit(strict, inputs);
  step.emit_to(step.node.outputs[0], "Or", {apart, step.emit("Equal", inputs)});
  step.drop();
  return {};
}

/// The axes that a normalisation from `axis` on goes over.
Result<Numbers> normalized_axes(const Step& step) {
  std::int64_t axis = step.node.attributes.int_or("axis", -1);
  if (axis >= 0) {
    TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
    axis -= static_cast<std::int64_t>(rank);
  }
  if (axis >= 0) return unsupported("its axis is none of its input");
  return last_axes(static_cast<std::size_t>(-axis));
}

/// The mean over `axes`, which a ReduceMean of opset 18 takes as an input.
ValueId mean(Maker& make, ValueId x, const Numbers& axes) {
  if (make.step.opset >= 18) {
    return make("ReduceMean", {x, make.step.add_ints(axes)}, {{"keepdims", std::int64_t{1}}});
  }
  return make("ReduceMean", {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
}

/// The type to compute in: stash_type asks for float32, and float64 is not narrowed.
Result<DType> stash_type(const Step& step, DType dtype) {
  const std::int64_t asked = step.node.attributes.int_or("stash_type", 1);
  if (asked != 1) return unsupported("its stash_type is not float32");
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

Result<void> layer_normalization(Step& step) {
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(0));
  TRIVET_ASSIGN(const DType stash, stash_type(step, dtype));
  TRIVET_ASSIGN(const Numbers axes, normalized_axes(step));
  Maker make{step, stash};
  const Node node = step.node;
  const ValueId x = make.cast(node.inputs[0], dtype, stash);
  const ValueId average = mean(make, x, axes);
  const ValueId centred = make("Sub", {x, average});
  const ValueId variance = mean(make, make("Mul", {centred, centred}), axes);
  TRIVET_ASSIGN(const ValueId epsilon,
                make.number(double{node.attributes.float_or("epsilon", 1e-5f)}));
  const ValueId deviation = make("Sqrt", {make("Add", {variance, epsilon})});
  const ValueId normal = make.cast(make("Div", {centred, deviation}), stash, dtype);
  if (node.input(2) == kNoValue) {
    make.finish("Mul", {normal, node.inputs[1]});
  } else {
    make.finish("Add", {make("Mul", {normal, node.inputs[1]}), node.inputs[2]});
  }
  if (step.has_output(1)) step.emit_to(node.outputs[1], "Identity", {average});
  if (step.has_output(2)) step.emit_to(node.outputs[2], "Reciprocal", {deviation});
  return {};
}

Result<void> rms_normalization(Step& step) {
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(0));
  TRIVET_ASSIGN(const DType stash, stash_type(step, dtype));
  TRIVET_ASSIGN(const Numbers axes, normalized_axes(step));
  Maker make{step, stash};
  const ValueId x = make.cast(step.node.inputs[0], dtype, stash);
  TRIVET_ASSIGN(const ValueId epsilon,
                make.number(double{step.node.attributes.float_or("epsilon", 1e-5f)}));
  const ValueId square = mean(make, make("Mul", {x, x}), axes);
  const ValueId root = make("Sqrt", {make("Add", {square, epsilon})});
  const ValueId normal = make.cast(make("Div", {x, root}), stash, dtype);
  make.finish("Mul", {normal, step.node.inputs[1]});
  return {};
}

/// Values per group or channel, [count], as [1, C, 1, 1 …] with `repeat` channels for each.
ValueId per_channel(Maker& make, ValueId values, std::int64_t count, std::int64_t repeat,
                    std::size_t rank) {
  Step& step = make.step;
  if (repeat > 1) {
    const ValueId column = make("Reshape", {values, step.add_ints({count, 1})});
    values = make("Expand", {column, step.add_ints({count, repeat})});
  }
  Numbers shape(rank, 1);
  shape[1] = -1;
  return make("Reshape", {values, step.add_ints(std::move(shape))});
}

/// Groups are normalised as channels of an InstanceNormalization; scale and bias come after, for
/// each group (opset 18) or channel (opset 21).
Result<void> group_normalization(Step& step, bool by_group) {
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(0));
  TRIVET_ASSIGN(const DType stash, stash_type(step, dtype));
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  const auto channels = step.size(0, 1);
  const std::int64_t groups = step.node.attributes.int_or("num_groups", 0);
  if (!channels || groups <= 0 || *channels % groups != 0) {
    return unsupported("the number of its channels is not known");
  }
  Maker make{step, stash};
  const Node node = step.node;
  const ValueId x = node.inputs[0];
  const ValueId rows =
      make("Reshape", {make.cast(x, dtype, stash), step.add_ints({0, groups, -1})});
  TRIVET_ASSIGN(const ValueId one, make.number(1));
  TRIVET_ASSIGN(const ValueId zero, make.number(0));
  const ValueId count = step.add_ints({groups});
  const ValueId normal = make("InstanceNormalization",
                              {rows, make("Expand", {one, count}), make("Expand", {zero, count})},
                              {{"epsilon", node.attributes.float_or("epsilon", 1e-5f)}});
  const ValueId back = make.cast(make("Reshape", {normal, make("Shape", {x})}), stash, dtype);
  const std::int64_t values = by_group ? groups : *channels;
  const std::int64_t repeat = by_group ? *channels / groups : 1;
  const ValueId scale = per_channel(make, node.inputs[1], values, repeat, rank);
  const ValueId bias = per_channel(make, node.inputs[2], values, repeat, rank);
  make.finish("Add", {make("Mul", {back, scale}), bias});
  return {};
}

Result<void> group_normalization_18(Step& step) { return group_normalization(step, true); }
Result<void> group_normalization_21(Step& step) { return group_normalization(step, false); }

/// From one scale per group to one per channel.
Result<void> group_normalization_up(Step& step) {
  const auto channels = step.size(0, 1);
  const std::int64_t groups = step.node.attributes.int_or("num_groups", 0);
  if (!channels || groups <= 0 || *channels % groups != 0) {
    return unsupported("the number of its channels is not known");
  }
  for (std::size_t i = 1; i <= 2; ++i) {
    const ValueId column = step.emit("Reshape", {step.node.inputs[i], step.add_ints({groups, 1})});
    const ValueId wide = step.emit("Expand", {column, step.add_ints({groups, *channels / groups})});
    step.set_input(i, step.emit("Reshape", {wide, step.add_ints({-1})}));
  }
  return {};
}

/// A triangle of ones and zeros, where the sizes are numbers.
Result<void> trilu(Step& step) {
  TRIVET_ASSIGN(Maker make, maker(step));
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  const auto rows = step.size(0, rank - 2);
  const auto columns = step.size(0, rank - 1);
  Numbers k = {0};
  if (step.has_input(1)) {
    TRIVET_ASSIGN(k, step.need_ints(1, "k"));
  }
  if (!rows || !columns || k.size() != 1)
    return unsupported("the sizes of its matrix are not known");
  TRIVET_ASSIGN(Tensor mask, Tensor::allocate(DType::kBool, {*rows, *columns}));
  const bool upper = step.node.attributes.int_or("upper", 1) != 0;
  const auto bits = mask.mutable_data<bool>();
  for (std::int64_t i = 0; i < *rows * *columns; ++i) {
    const std::int64_t distance = i % *columns - i / *columns;
    bits[static_cast<std::size_t>(i)] = upper ? distance >= k[0] : distance <= k[0];
  }
  TRIVET_ASSIGN(const ValueId zero, make.number(0));
  make.finish("Where", {step.add_constant(std::move(mask)), step.node.inputs[0], zero});
  return {};
}

/// value_float and others came with opset 12.
Result<void> constant(Step& step) {
  const Attributes& given = step.node.attributes;
  Tensor value;
  if (const auto* f = given.get<float>("value_float")) value = Tensor::scalar(*f);
  if (const auto* i = given.get<std::int64_t>("value_int")) value = Tensor::scalar(*i);
  if (const auto* s = given.get<std::string>("value_string")) value = Tensor::scalar(*s);
  if (given.has("value_floats")) value = Tensor::from_vector(given.floats("value_floats"));
  if (given.has("value_ints")) value = Tensor::from_vector(given.ints("value_ints"));
  if (given.has("value_strings")) value = Tensor::from_vector(given.strings("value_strings"));
  if (!value.defined()) return {};
  for (const auto* name : {"value_float", "value_int", "value_string", "value_floats", "value_ints",
                           "value_strings"}) {
    step.node.attributes.remove(name);
  }
  step.node.attributes.set("value", std::move(value));
  return {};
}

constexpr Boundary kTable[] = {
    {"HardSwish", 14, nullptr, hard_swish},
    {"Mish", 18, nullptr, mish},
    {"Swish", 24, nullptr, swish},
    {"Gelu", 20, nullptr, gelu},
    {"Celu", 12, nullptr, celu},
    {"GreaterOrEqual", 12, nullptr, or_equal},
    {"LessOrEqual", 12, nullptr, or_equal},
    {"LayerNormalization", 17, nullptr, layer_normalization},
    {"RMSNormalization", 23, nullptr, rms_normalization},
    {"GroupNormalization", 18, nullptr, group_normalization_18},
    {"GroupNormalization", 21, group_normalization_up, group_normalization_21},
    {"Trilu", 14, nullptr, trilu},
    {"Constant", 12, nullptr, constant},
};

}  // namespace

std::span<const Boundary> decomposition_boundaries() { return kTable; }

}  // namespace trivet::convert

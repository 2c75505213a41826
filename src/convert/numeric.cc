// Operators whose numbers, modes and types changed: Clip, Pad, Cast, quantisation and others.
#include <algorithm>
#include <cmath>

#include "convert/boundary.h"
#include "ops/support/elements.h"

namespace trivet::convert {
namespace {

Result<void> clip_up(Step& step) {
  const DType dtype = step.dtype(std::size_t{0});
  const auto bound = [&](const char* name, std::size_t input) -> Result<void> {
    const auto* value = step.node.attributes.get<float>(name);
    if (value == nullptr) return {};
    TRIVET_ASSIGN(const ValueId id, step.add_scalar(double{*value}, dtype));
    step.set_input(input, id);
    step.node.attributes.remove(name);
    return {};
  };
  TRIVET_TRY(bound("min", 1));
  return bound("max", 2);
}

/// Without a bound there is none from opset 11 on; before, it was the greatest float.
Result<void> clip_down(Step& step) {
  const char* const names[] = {"min", "max"};
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!step.has_input(i)) continue;
    const auto value = step.number(i);
    if (!value) {
      return unsupported("its bounds are computed by the graph, and opset 10 wants numbers");
    }
    if (std::isfinite(*value) && static_cast<double>(static_cast<float>(*value)) != *value) {
      return unsupported("its bound is no float32, as which opset 10 has it");
    }
    step.node.attributes.set(names[i - 1], static_cast<float>(*value));
  }
  step.node.inputs.resize(1);
  return {};
}

Result<void> dropout_12_up(Step& step) {
  const float ratio = step.node.attributes.float_or("ratio", 0.5f);
  step.node.attributes.remove("ratio");
  step.set_input(1, step.add_constant(Tensor::scalar(ratio)));
  return {};
}

/// In inference the ratio says nothing, but is kept where it is known.
Result<void> dropout_12_down(Step& step) {
  if (step.has_input(2) && step.number(2) != 0.0) {
    return unsupported("it drops values in training, by an input that opset 11 lacks");
  }
  if (const auto ratio = step.number(1)) {
    step.node.attributes.set("ratio", static_cast<float>(*ratio));
  }
  step.node.attributes.remove("seed");
  step.node.inputs.resize(1);
  return {};
}

Result<void> dropout_10(Step& step) {
  if (!step.has_output(1)) {
    step.node.outputs.resize(1);
    return {};
  }
  return unsupported("its mask changes its type at opset 10");
}

Result<void> pad_11_up(Step& step) {
  step.to_input("pads", 1);
  const auto* value = step.node.attributes.get<float>("value");
  if (value != nullptr && *value != 0) {
    TRIVET_ASSIGN(const ValueId id, step.add_scalar(double{*value}, step.dtype(std::size_t{0})));
    step.set_input(2, id);
  }
  step.node.attributes.remove("value");
  return {};
}

Result<void> pad_11_down(Step& step) {
  TRIVET_TRY(step.to_attribute(1, "pads"));
  if (step.has_input(2)) {
    const auto value = step.number(2);
    if (!value) return unsupported("its value is computed by the graph");
    step.node.attributes.set("value", static_cast<float>(*value));
  }
  step.node.inputs.resize(1);
  return {};
}

Result<void> pad_18_down(Step& step) {
  if (!step.has_input(3)) return {};
  TRIVET_ASSIGN(const Numbers axes, step.need_ints(3, "axes"));
  TRIVET_ASSIGN(const Numbers pads, step.need_ints(1, "pads"));
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  if (pads.size() != 2 * axes.size()) return unsupported("its pads do not fit its axes");
  Numbers all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] + (axes[i] < 0 ? static_cast<std::int64_t>(rank) : 0);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return unsupported("an axis is none");
    all[static_cast<std::size_t>(axis)] = pads[i];
    all[static_cast<std::size_t>(axis) + rank] = pads[i + axes.size()];
  }
  step.set_input(1, step.add_ints(std::move(all)));
  step.set_input(3, kNoValue);
  step.trim_inputs();
  return {};
}

Result<void> pad_19_down(Step& step) {
  if (step.node.attributes.string_or("mode", "constant") != "wrap") return {};
  return unsupported("mode 'wrap' came with opset 19");
}

bool is_float8(std::int64_t type) {
  return type >= static_cast<int>(DType::kFloat8E4M3FN) &&
         type <= static_cast<int>(DType::kFloat8E5M2FNUZ);
}

/// saturate is about 8-bit floats alone.
Result<void> cast_19_down(Step& step) {
  if (step.node.is("Cast") && !is_float8(step.node.attributes.int_or("to", 0))) {
    step.node.attributes.remove("saturate");
  }
  return {};
}

/// round_mode is about float8e8m0 alone.
Result<void> cast_24_down(Step& step) {
  if (step.node.attributes.int_or("to", 0) != static_cast<int>(DType::kFloat8E8M0)) {
    step.node.attributes.remove("round_mode");
  }
  return {};
}

Result<void> cast_like_15_down(Step& step) {
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(1));
  step.emit_to(step.node.outputs[0], "Cast", {step.node.inputs[0]},
               {{"to", static_cast<std::int64_t>(dtype)}});
  step.drop();
  return {};
}

bool scale_is_one_number(const Step& step) {
  const SymbolicShape* scale = step.shape(step.node.input(1));
  return scale != nullptr && scale->empty();
}

Result<void> quantize_13_down(Step& step) {
  if (!scale_is_one_number(step)) {
    return unsupported(
        "scales along an axis came with opset 13, and its scale is no single number");
  }
  step.node.attributes.remove("axis");
  return {};
}

/// output_dtype says what a zero point would: one of 0 is put there.
Result<void> quantize_21_down(Step& step) {
  const std::int64_t type = step.node.attributes.int_or("output_dtype", 0);
  step.node.attributes.remove("output_dtype");
  if (type == 0 || step.has_input(2)) return {};
  const SymbolicShape* shape = step.shape(step.node.input(1));
  const auto dtype = dtype_from_onnx(type);
  if (shape == nullptr || !dtype) return unsupported("the shape of its scale is not known");
  Shape sizes;
  for (const Dim& dim : *shape) {
    if (!dim.is_constant()) return unsupported("the shape of its scale is not known");
    sizes.push_back(dim.value());
  }
  TRIVET_ASSIGN(Tensor zero, Tensor::allocate(*dtype, std::move(sizes)));
  std::fill_n(static_cast<char*>(zero.mutable_raw()), zero.bytes(), char{0});
  step.set_input(2, step.add_constant(std::move(zero)));
  return {};
}

Result<void> dequantize_23_down(Step& step) {
  const std::int64_t type = step.node.attributes.int_or("output_dtype", 0);
  if (type == 0 || type != static_cast<std::int64_t>(step.dtype(std::size_t{1}))) return {};
  step.node.attributes.remove("output_dtype");
  return {};
}

/// From opset 12 on the exponent may have a type of its own.
Result<void> pow_12_down(Step& step) {
  TRIVET_ASSIGN(const DType base, step.need_dtype(0));
  TRIVET_ASSIGN(const DType exponent, step.need_dtype(1));
  if (base == exponent) return {};
  if (!is_floating(base)) return unsupported("its exponent is of another type than its base");
  step.set_input(
      1, step.emit("Cast", {step.node.inputs[1]}, {{"to", static_cast<std::int64_t>(base)}}));
  return {};
}

Result<void> gemm_11_down(Step& step) {
  if (step.has_input(2)) return {};
  TRIVET_ASSIGN(const ValueId zero, step.add_scalar(0, step.dtype(std::size_t{0})));
  step.set_input(2, zero);
  return {};
}

Result<void> rename_mode(Step& step, std::string_view fallback, std::string_view from,
                         std::string_view to) {
  const std::string mode = step.node.attributes.string_or("mode", fallback);
  step.node.attributes.set("mode", mode == from ? std::string(to) : mode);
  return {};
}

Result<void> grid_sample_up(Step& step) {
  if (step.node.attributes.string_or("mode", "bilinear") == "bicubic") {
    return rename_mode(step, "", "bicubic", "cubic");
  }
  return rename_mode(step, "bilinear", "bilinear", "linear");
}

Result<void> grid_sample_down(Step& step) {
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  if (rank != 4) return unsupported("GridSample of opset 16 takes pictures only");
  if (step.node.attributes.string_or("mode", "linear") == "cubic") {
    return rename_mode(step, "", "cubic", "bicubic");
  }
  return rename_mode(step, "linear", "linear", "bilinear");
}

Result<void> dft_up(Step& step) {
  const std::int64_t axis = step.node.attributes.int_or("axis", 1);
  step.node.attributes.remove("axis");
  step.set_input(2, step.add_constant(Tensor::scalar(axis)));
  return {};
}

Result<void> dft_down(Step& step) {
  Numbers axis = {-2};
  if (step.has_input(2)) {
    TRIVET_ASSIGN(axis, step.need_ints(2, "axis"));
    step.set_input(2, kNoValue);
    step.trim_inputs();
  }
  if (axis.size() != 1) return unsupported("its axis is not one number");
  step.node.attributes.set("axis", axis.front());
  return {};
}

Result<void> roi_align_up(Step& step) {
  step.node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Result<void> roi_align_down(Step& step) {
  if (step.node.attributes.string_or("coordinate_transformation_mode", "half_pixel") !=
      "output_half_pixel") {
    return unsupported("the coordinates 'half_pixel' came with opset 16");
  }
  step.node.attributes.remove("coordinate_transformation_mode");
  return {};
}

Result<void> scatter_18_down(Step& step) {
  const std::string reduction = step.node.attributes.string_or("reduction", "none");
  if (reduction != "max" && reduction != "min") return {};
  return unsupported("reduction '", reduction, "' came with opset 18");
}

Result<void> batch_norm_14_up(Step& step) {
  for (std::size_t i = 1; i < step.node.outputs.size(); ++i) {
    if (step.has_output(i)) return unsupported("it is in training, by outputs that opset 14 lacks");
  }
  step.node.outputs.resize(1);
  return {};
}

Result<void> batch_norm_9_up(Step& step) {
  if (step.node.attributes.int_or("spatial", 1) == 1) return {};
  return unsupported("spatial = 0 went with opset 9");
}

/// Before opset 7 the mode was an attribute, and the default was training.
Result<void> batch_norm_7_up(Step& step) {
  if (step.node.attributes.int_or("is_test", 0) == 0) {
    return unsupported("is_test = 0 is training before opset 7, and inference from then on");
  }
  step.node.attributes.remove("is_test");
  return {};
}

/// Before opset 7 a slope with one axis lay along axis 1; then it is broadcast to the last one.
Result<void> prelu_7_up(Step& step) {
  const auto rank = step.rank(1);
  const auto size = step.size(1, 0);
  if (rank && (*rank == 0 || (*rank == 1 && size == 1))) return {};
  const auto input_rank = step.rank(0);
  if (rank && *rank == 1 && input_rank && *input_rank == 2) return {};
  return unsupported("a slope for each channel lies along another axis from opset 7 on");
}

/// Before opset 8 all inputs had one shape.
Result<void> no_broadcast(Step& step) {
  const SymbolicShape* first = step.shape(step.node.input(0));
  for (const ValueId id : step.node.inputs) {
    const SymbolicShape* shape = step.shape(id);
    if (shape == nullptr || first == nullptr || *shape != *first) {
      return unsupported("inputs of several shapes came with opset 8");
    }
  }
  return {};
}

Result<void> refuse_scan(Step&) {
  return unsupported("Scan of opset 8 runs over a batch, and that of opset 9 does not");
}

/// Whether a negative index may come up.
bool may_be_negative(const Step& step) {
  const DType dtype = step.dtype(std::size_t{0});
  if (is_integer(dtype) && !is_signed_integer(dtype)) return false;
  const Tensor indices = step.constant(step.node.input(0));
  if (!indices.defined()) return true;
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    if (element_as_double(indices, i) < 0) return true;
  }
  return false;
}

/// Indices from −depth on count from the end since opset 11; before, there are no negative ones. So
/// depth is added, and what is still negative becomes `depth`, which gives no 1 either.
Result<void> one_hot_down(Step& step) {
  if (!may_be_negative(step)) return {};
  TRIVET_ASSIGN(const DType dtype, step.need_dtype(0));
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  const SymbolicShape* shape = step.shape(step.node.inputs[1]);
  if (shape == nullptr || shape->size() > rank) {
    return unsupported("it may have negative indices, which came with opset 11");
  }
  const ValueId depth =
      step.emit("Cast", {step.node.inputs[1]}, {{"to", static_cast<std::int64_t>(dtype)}});
  TRIVET_ASSIGN(const ValueId zero, step.add_scalar(0, dtype));
  const auto unless_negative = [&](ValueId indices, ValueId other) {
    return step.emit("Where", {step.emit("Less", {indices, zero}), other, indices});
  };
  const ValueId indices = step.node.inputs[0];
  const ValueId counted = unless_negative(indices, step.emit("Add", {indices, depth}));
  step.set_input(0, unless_negative(counted, depth));
  return {};
}

constexpr Boundary kTable[] = {
    {"Clip", 11, clip_up, clip_down},
    {"Dropout", 12, dropout_12_up, dropout_12_down},
    {"Dropout", 10, dropout_10, dropout_10},
    {"Pad", 11, pad_11_up, pad_11_down},
    {"Pad", 18, nullptr, pad_18_down},
    {"Pad", 19, nullptr, pad_19_down},
    {"Cast", 19, nullptr, cast_19_down},
    {"Cast", 24, nullptr, cast_24_down},
    {"CastLike", 15, nullptr, cast_like_15_down},
    {"QuantizeLinear", 13, nullptr, quantize_13_down},
    {"DequantizeLinear", 13, nullptr, quantize_13_down},
    {"QuantizeLinear", 21, nullptr, quantize_21_down},
    {"DequantizeLinear", 23, nullptr, dequantize_23_down},
    {"Pow", 12, nullptr, pow_12_down},
    {"Gemm", 11, nullptr, gemm_11_down},
    {"GridSample", 20, grid_sample_up, grid_sample_down},
    {"DFT", 20, dft_up, dft_down},
    {"RoiAlign", 16, roi_align_up, roi_align_down},
    {"ScatterElements", 18, nullptr, scatter_18_down},
    {"ScatterND", 18, nullptr, scatter_18_down},
    {"BatchNormalization", 14, batch_norm_14_up, nullptr},
    {"BatchNormalization", 9, batch_norm_9_up, nullptr},
    {"BatchNormalization", 7, batch_norm_7_up, nullptr},
    {"PRelu", 7, prelu_7_up, nullptr},
    {"Max", 8, nullptr, no_broadcast},
    {"Min", 8, nullptr, no_broadcast},
    {"Sum", 8, nullptr, no_broadcast},
    {"Mean", 8, nullptr, no_broadcast},
    {"Scan", 9, refuse_scan, refuse_scan},
    {"OneHot", 11, nullptr, one_hot_down},
};

}  // namespace

std::span<const Boundary> numeric_boundaries() { return kTable; }

}  // namespace trivet::convert

// Cast and CastLike: every element type to every other, strings included; BitCast: the same bits.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// The type that attribute `to` names.
Result<DType> target_type(const Attributes& attributes) {
  const std::int64_t* to = attributes.get<std::int64_t>("to");
  if (to == nullptr)
    return invalid_model("attribute 'to' is missing; it must name an element type");
  const auto dtype = dtype_from_onnx(*to);
  if (!dtype) return invalid_model("attribute 'to' is ", *to, ", which is no element type of ONNX");
  return *dtype;
}

Result<CastRules> cast_rules(const Attributes& attributes) {
  CastRules rules;
  rules.saturate = attributes.int_or("saturate", 1) != 0;
  const std::string mode = attributes.string_or("round_mode", "up");
  if (mode == "down") {
    rules.rounding = ScaleRounding::kDown;
  } else if (mode == "nearest") {
    rules.rounding = ScaleRounding::kNearest;
  } else if (mode != "up") {
    return invalid_model("round_mode is '", mode, "'; it must be 'up', 'down' or 'nearest'");
  }
  return rules;
}

/// The shortest text that reads back as the same number, in numpy's form ("1.0", "1e-05"); the
/// special values have the names that the specification reserves for them.
template <class F>
std::string float_text(F value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  const F magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= F(1e-4) && magnitude < F(1e16));
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string out(text, end.ptr);
  if (plain && out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string element_text(const Tensor& tensor, std::int64_t i) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kBool) return element_as_int64(tensor, i) != 0 ? "True" : "False";
  if (dtype == DType::kUInt64)
    return std::to_string(tensor.data<std::uint64_t>()[static_cast<std::size_t>(i)]);
  if (is_integer(dtype)) return std::to_string(element_as_int64(tensor, i));
  const double value = element_as_double(tensor, i);
  return dtype == DType::kFloat64 ? float_text(value) : float_text(static_cast<float>(value));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// from_chars takes "inf" and "nan" in any case, but no plus sign. What is too large is infinite.
std::optional<double> parse_float(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  const bool negative = text.starts_with('-');
  const bool tiny =
      text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -magnitude : magnitude;
}

Result<void> store_text(Tensor& out, std::int64_t i, std::string_view text,
                        const CastRules& rules) {
  text = trimmed(text);
  const bool whole = is_integer(out.dtype()) || out.dtype() == DType::kBool;
  if (out.dtype() == DType::kUInt64) {
    if (const auto value = parse<std::uint64_t>(text)) {
      store_elements(out, i, 1, &*value);
      return {};
    }
  } else if (whole) {
    if (const auto value = parse<std::int64_t>(text)) {
      store_elements(out, i, 1, &*value);
      return {};
    }
  }
  std::optional<double> value = parse_float(text);
  if (!value && out.dtype() == DType::kBool) {
    if (text == "True" || text == "true") value = 1;
    if (text == "False" || text == "false") value = 0;
  }
  if (!value) {
    return invalid_argument("the string '", text.substr(0, 40),
                            "' is not a number, so it cannot become ", dtype_name(out.dtype()));
  }
  store_elements(out, i, 1, &*value, rules);
  return {};
}

Result<void> cast(EvalContext& context, DType to) {
  const Tensor& x = context.input(0);
  if (x.dtype() == to) {
    context.set_output(0, x);
    return {};
  }
  const bool from_text = x.dtype() == DType::kString;
  const bool to_text = to == DType::kString;
  if ((!from_text && compute_type(x.dtype()) == DType::kUndefined) ||
      (!to_text && compute_type(to) == DType::kUndefined)) {
    return unsupported("a cast from ", dtype_name(x.dtype()), " to ", dtype_name(to));
  }
  TRIVET_ASSIGN(const CastRules rules, cast_rules(context.attributes()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, to, x.shape()));
  if (!from_text && !to_text) return convert_into(x, out, rules);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (to_text) {
      out.mutable_data<std::string>()[at] = element_text(x, i);
    } else {
      TRIVET_TRY(store_text(out, i, x.data<std::string>()[at], rules));
    }
  }
  return {};
}

Result<void> infer_to(InferContext& context, DType to) {
  TRIVET_TRY(cast_rules(context.attributes()));
  if (const SymbolicShape* shape = context.shape(0)) {
    context.set_output(0, to, *shape);
  } else {
    context.set_output(0, to);
  }
  const bool keeps_sizes = to == DType::kInt64 || to == DType::kInt32;
  if (auto elements = context.elements(0); elements && keeps_sizes) {
    context.set_output_elements(0, *std::move(elements));
  }
  return {};
}

Result<void> infer_cast(InferContext& context) {
  TRIVET_ASSIGN(const DType to, target_type(context.attributes()));
  return infer_to(context, to);
}

Result<void> eval_cast(EvalContext& context) {
  TRIVET_ASSIGN(const DType to, target_type(context.attributes()));
  return cast(context, to);
}

Result<void> infer_cast_like(InferContext& context) { return infer_to(context, context.dtype(1)); }

Result<void> eval_cast_like(EvalContext& context) {
  return cast(context, context.input(1).dtype());
}

Result<void> require_same_bits(DType from, DType to) {
  if (dtype_bits(from) == dtype_bits(to) && dtype_bits(to) > 0) return {};
  return invalid_model("BitCast from ", dtype_name(from), " to ", dtype_name(to),
                       "; both must have the same number of bits");
}

Result<void> infer_bit_cast(InferContext& context) {
  TRIVET_ASSIGN(const DType to, target_type(context.attributes()));
  if (context.dtype(0) != DType::kUndefined) TRIVET_TRY(require_same_bits(context.dtype(0), to));
  if (const SymbolicShape* shape = context.shape(0)) {
    context.set_output(0, to, *shape);
  } else {
    context.set_output(0, to);
  }
  return {};
}

Result<void> eval_bit_cast(EvalContext& context) {
  const Tensor& x = context.input(0);
  TRIVET_ASSIGN(const DType to, target_type(context.attributes()));
  TRIVET_TRY(require_same_bits(x.dtype(), to));
  if (to != DType::kBool || x.dtype() == DType::kBool) {
    context.set_output(0, Tensor::view(to, x.shape(), x.raw(), x.owner()));
    return {};
  }
  // A C++ bool must not hold anything but 0 and 1.
  TRIVET_ASSIGN(Tensor out, context.allocate(0, to, x.shape()));
  const auto* bytes = static_cast<const std::uint8_t*>(x.raw());
  std::transform(bytes, bytes + x.size(), out.mutable_data<bool>().begin(),
                 [](std::uint8_t b) { return b != 0; });
  return {};
}

}  // namespace

OpDefs cast_ops() {
  return {
      {.name = "Cast", .infer = infer_cast, .eval = eval_cast},
      {.name = "CastLike",
       .since = 15,
       .inputs = {2, 2},
       .infer = infer_cast_like,
       .eval = eval_cast_like},
      {.name = "BitCast", .since = 26, .infer = infer_bit_cast, .eval = eval_bit_cast},
  };
}

}  // namespace trivet::ops

#include "providers/cpu/activation.h"

#include <array>
#include <limits>

#include "ops/support/fused.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::Unary;

struct Plain {
  std::string_view op;
  Unary function;
};

/// Operators without parameters.
constexpr std::array<Plain, 11> kPlain = {{{"Relu", Unary::kRelu},
                                           {"HardSwish", Unary::kHardSwish},
                                           {"Sigmoid", Unary::kSigmoid},
                                           {"Tanh", Unary::kTanh},
                                           {"Exp", Unary::kExp},
                                           {"Erf", Unary::kErf},
                                           {"Sqrt", Unary::kSqrt},
                                           {"Neg", Unary::kNeg},
                                           {"Abs", Unary::kAbs},
                                           {"Reciprocal", Unary::kReciprocal},
                                           {"Identity", Unary::kIdentity}}};

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Clip with its bounds as attributes; nothing when a bound is not a known float.
std::optional<Node> clip_with_attributes(const Node& node, const ConstantInput& constant) {
  Node out = node;
  out.opset = ops::kClipOpset;
  out.inputs.resize(1);
  if (node.opset < 11) return out;
  constexpr std::array<std::pair<const char*, float>, 2> kBounds = {
      {{"min", -kInfinity}, {"max", kInfinity}}};
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    float bound = kBounds[i].second;
    if (node.input(i + 1) != kNoValue) {
      const Tensor* value = constant(i + 1);
      if (value == nullptr || value->dtype() != DType::kFloat32 || value->size() != 1)
        return std::nullopt;
      bound = value->data<float>()[0];
    }
    out.attributes.set(kBounds[i].first, bound);
  }
  return out;
}

}  // namespace

std::optional<Node> attribute_form(const Node& node, const ConstantInput& constant) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "Clip") return clip_with_attributes(node, constant);
  return activation_of(node) ? std::optional(node) : std::nullopt;
}

std::optional<Activation> activation_of(const Node& node) {
  for (const Plain& plain : kPlain) {
    if (node.op_type == plain.op) return Activation{plain.function, 0, 0};
  }
  const Attributes& a = node.attributes;
  if (node.op_type == "Clip") {
    return Activation{Unary::kClip, a.float_or("min", -kInfinity), a.float_or("max", kInfinity)};
  }
  if (node.op_type == "LeakyRelu")
    return Activation{Unary::kLeakyRelu, a.float_or("alpha", 0.01F), 0};
  if (node.op_type == "HardSigmoid") {
    return Activation{Unary::kHardSigmoid, a.float_or("alpha", 0.2F), a.float_or("beta", 0.5F)};
  }
  if (node.op_type == "Gelu") {
    const bool tanh = a.string_or("approximate", "none") == "tanh";
    return Activation{tanh ? Unary::kGeluTanh : Unary::kGelu, 0, 0};
  }
  if (node.op_type == "Swish" && a.float_or("alpha", 1.0F) == 1.0F)
    return Activation{Unary::kSilu, 0, 0};
  return std::nullopt;
}

}  // namespace trivet::cpu

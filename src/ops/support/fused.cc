#include "ops/support/fused.h"

namespace trivet::ops {
namespace {

constexpr std::string_view kPrefix = "activation.";

}  // namespace

void set_fused_activation(Node& fused, const Node& activation) {
  fused.attributes.set("activation", activation.op_type);
  for (const Attribute& attribute : activation.attributes.all()) {
    fused.attributes.set(std::string(kPrefix) + attribute.name, attribute.value);
  }
}

Node fused_activation(const Node& fused) {
  Node out;
  out.op_type = fused.attributes.string_or("activation", "");
  out.opset = out.op_type == "Clip" ? kClipOpset : kFusedOpset;
  out.inputs = {0};
  out.outputs = {0};
  for (const Attribute& attribute : fused.attributes.all()) {
    if (attribute.name.starts_with(kPrefix))
      out.attributes.set(attribute.name.substr(kPrefix.size()), attribute.value);
  }
  return out;
}

}  // namespace trivet::ops

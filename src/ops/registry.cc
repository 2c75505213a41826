#include "ops/registry.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace trivet {
namespace {

auto key(const OpDef& op) { return std::tie(op.domain, op.name, op.since); }

std::vector<OpDef> collect() {
  std::vector<OpDef> ops;
  for (const OpFamily family : op_families()) {
    const OpDefs members = family();
    ops.insert(ops.end(), members.begin(), members.end());
  }
  std::ranges::sort(ops, [](const OpDef& a, const OpDef& b) { return key(a) < key(b); });
  return ops;
}

Result<void> check_arity(const Node& node, const OpDef& op) {
  const auto describe = [](const Arity& arity) {
    if (arity.most == kVariadic) return cat("at least ", arity.least);
    if (arity.least == arity.most) return cat(arity.least);
    return cat(arity.least, " to ", arity.most);
  };
  const auto inputs = static_cast<int>(node.inputs.size());
  const auto outputs = static_cast<int>(node.outputs.size());
  if (inputs < op.inputs.least || inputs > op.inputs.most) {
    return invalid_model(op.name, " takes ", describe(op.inputs), " inputs, this node has ",
                         inputs);
  }
  if (outputs < op.outputs.least || outputs > op.outputs.most) {
    return invalid_model(op.name, " has ", describe(op.outputs), " outputs, this node names ",
                         outputs);
  }
  for (int i = 0; i < op.inputs.least; ++i) {
    if (node.input(static_cast<std::size_t>(i)) == kNoValue) {
      return invalid_model(op.name, " needs its input ", i, ", which this node leaves out");
    }
  }
  return {};
}

}  // namespace

std::span<const OpDef> all_ops() {
  static const std::vector<OpDef> ops = collect();
  return ops;
}

const OpDef* find_op(std::string_view domain, std::string_view name, int opset) {
  const auto ops = all_ops();
  const auto above = std::ranges::upper_bound(
      ops, std::tuple(domain, name, opset), std::ranges::less{},
      [](const OpDef& op) { return std::tuple(op.domain, op.name, op.since); });
  if (above == ops.begin()) return nullptr;
  const OpDef& op = *std::prev(above);
  return op.domain == domain && op.name == name ? &op : nullptr;
}

Result<const OpDef*> find_op(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op_type, node.opset);
  if (op == nullptr) {
    const std::string full = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
    if (find_op(node.domain, node.op_type, std::numeric_limits<int>::max()) != nullptr) {
      return invalid_model("operator ", full, " does not exist yet in opset ", node.opset,
                           "; export the model with a newer opset");
    }
    return unsupported("operator ", full,
                       " is not one that Trivet knows; export the model without it, "
                       "or as a model-local function of standard operators");
  }
  TRIVET_TRY(check_arity(node, *op));
  return op;
}

bool can_evaluate(const Node& node) {
  const auto op = find_op(node);
  if (!op || (*op)->eval == nullptr) return false;
  return std::ranges::all_of(subgraphs(node), [](const Graph* inner) {
    return std::ranges::all_of(inner->nodes(), can_evaluate);
  });
}

}  // namespace trivet

#include "convert/mover.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>
#include <variant>

#include "convert/boundary.h"
#include "convert/convert.h"
#include "schema/schema.h"

namespace trivet::convert {
namespace {

using schema::find_schema;
using schema::Schema;

bool all_ones(const AttributeValue& value) {
  const auto* numbers = std::get_if<Numbers>(&value);
  return numbers != nullptr && std::ranges::all_of(*numbers, [](auto n) { return n == 1; });
}

/// Whether absence means the same: the default of the schema that knows the attribute, dilations
/// and strides of 1, which schemas leave to the prose, and what opset 6 did away with.
bool means_absence(const Schema& knows, const Attribute& attribute) {
  const schema::AttributeSchema* known = knows.attribute(attribute.name);
  if (known == nullptr) return false;
  if (schema::is_default(*known, attribute.value)) return true;
  if (attribute.name == "dilations" || attribute.name == "strides") {
    return all_ones(attribute.value);
  }
  return attribute.name == "consumed_inputs";
}

/// Attributes that only `from` knows go where they change nothing, and a default that the two
/// versions do not share is written down.
void carry_attributes(Node& node, const Schema& from, const Schema& to) {
  const std::vector<Attribute> all(node.attributes.all().begin(), node.attributes.all().end());
  for (const Attribute& attribute : all) {
    if (to.attribute(attribute.name) != nullptr || !means_absence(from, attribute)) continue;
    node.attributes.remove(attribute.name);
  }
  for (const schema::AttributeSchema& was : from.attributes) {
    const schema::AttributeSchema* is = to.attribute(was.name);
    const bool changed = is != nullptr && is->type == was.type && was.has_default &&
                         (!is->has_default || is->default_value != was.default_value);
    if (!changed || node.attributes.has(was.name)) continue;
    const std::string text(was.default_value);
    if (was.type == "int") {
      node.attributes.set(std::string(was.name),
                          std::int64_t{std::strtoll(text.c_str(), nullptr, 10)});
    }
    if (was.type == "float") {
      node.attributes.set(std::string(was.name), std::strtof(text.c_str(), nullptr));
    }
    if (was.type == "string") node.attributes.set(std::string(was.name), text);
  }
}

Result<void> check_fits(const Step& step, const Node& node) {
  const Schema* schema = find_schema("", node.op_type, node.opset);
  if (schema == nullptr) return unsupported("opset ", node.opset, " has no ", node.op_type);
  std::map<ValueId, ValueType> known;  // fits() keeps pointers to several at once
  const auto faults = schema::fits(node, *schema, [&](ValueId id) {
    ValueType type = step.type(id);
    if (type.kind == ValueType::Kind::kTensor && type.dtype == DType::kUndefined) {
      type = step.declared(id);
    }
    return &known.emplace(id, std::move(type)).first->second;
  });
  if (faults.empty()) return {};
  return unsupported(node.op_type, " of opset ", schema->since, ": ", faults.front().message);
}

/// The version next to the node's on the way up or down; null at the end.
const Schema* next_version(const Node& node, bool up) {
  const Schema* found = nullptr;
  for (const Schema& schema : schema::versions("", node.op_type)) {
    if (up ? schema.since > node.opset : schema.since <= node.opset) {
      found = &schema;
      if (up) break;
    }
  }
  return found;
}

/// Over the start of one version: `boundary` is the newer of the two.
Result<std::vector<Node>> cross(GraphState& state, Node node, const Schema& newer, bool up) {
  const int opset = up ? newer.since : newer.since - 1;
  const Schema* from = up ? find_schema("", node.op_type, node.opset) : &newer;
  const Boundary* boundary = find_boundary(node.op_type, newer.since);
  const Adapter adapter = boundary == nullptr ? nullptr : up ? boundary->up : boundary->down;
  const std::string op = node.op_type;
  Step step(state, std::move(node), opset);
  const Schema* to = find_schema("", op, opset);
  if (adapter == nullptr && (to == nullptr || to->deprecated)) {
    if (up) return unsupported(op, " is gone from opset ", newer.since);
    return unsupported(op, " came with opset ", newer.since,
                       " and is not put together from older operators");
  }
  if (adapter != nullptr) TRIVET_TRY(adapter(step));
  std::vector<Node> made = std::move(step).take();
  for (Node& one : made) {
    if (one.op_type == op && from != nullptr && to != nullptr) carry_attributes(one, *from, *to);
    TRIVET_TRY(check_fits(step, one));
  }
  return made;
}

/// Tensors and graphs count as the same: no adapter edits those of an attribute.
bool same_value(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        constexpr bool kOpaque =
            std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>> ||
            std::is_same_v<T, GraphPtr> || std::is_same_v<T, std::vector<GraphPtr>>;
        if constexpr (kOpaque) {
          return true;
        } else {
          return value == std::get<T>(b);
        }
      },
      a);
}

bool same_attributes(const Node& a, const Node& b) {
  if (a.attributes.all().size() != b.attributes.all().size()) return false;
  return std::ranges::all_of(a.attributes.all(), [&](const Attribute& mine) {
    const Attribute* other = b.attributes.find(mine.name);
    return other != nullptr && same_value(mine.value, other->value);
  });
}

}  // namespace

Result<std::vector<Node>> move_node(GraphState& state, Node node, int target) {
  const bool up = node.opset < target;
  const Schema* next = next_version(node, up);
  if (find_schema("", node.op_type, node.opset) == nullptr) {
    return unsupported(node.op_type, " is no operator of opset ", node.opset);
  }
  if (next == nullptr || node.opset == target ||
      (up ? next->since > target : next->since <= target)) {
    node.opset = target;
    return std::vector<Node>{std::move(node)};
  }
  TRIVET_ASSIGN(std::vector<Node> made, cross(state, std::move(node), *next, up));
  std::vector<Node> out;
  for (Node& one : made) {
    TRIVET_ASSIGN(std::vector<Node> moved, move_node(state, std::move(one), target));
    std::ranges::move(moved, std::back_inserter(out));
  }
  return out;
}

int lowest_of(GraphState& state, Node node) {
  const Schema* next = next_version(node, false);
  if (next == nullptr) return node.opset;
  if (next->since <= kLowestOpset) return kLowestOpset;
  auto made = cross(state, std::move(node), *next, false);
  if (!made) return next->since;
  int lowest = kLowestOpset;
  for (Node& one : *made) lowest = std::max(lowest, lowest_of(state, std::move(one)));
  return lowest;
}

int lowest_unchanged(GraphState& state, const Node& node, std::string& reason) {
  Node at = node;
  while (true) {
    const Schema* next = next_version(at, false);
    if (next == nullptr) return at.opset;
    if (next->since <= kLowestOpset) return kLowestOpset;
    auto made = cross(state, at, *next, false);
    if (!made) {
      reason = made.error().message;
      return next->since;
    }
    const bool same = made->size() == 1 && made->front().op_type == node.op_type &&
                      made->front().inputs == node.inputs &&
                      made->front().outputs == node.outputs && same_attributes(made->front(), node);
    if (!same) {
      reason = cat(node.op_type, " is written another way before opset ", next->since);
      return next->since;
    }
    at = std::move(made->front());
  }
}

}  // namespace trivet::convert

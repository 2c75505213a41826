#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "graph/patch.h"
#include "ops/registry.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// Bytes that are equal exactly where what was added is equal.
class Key {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  /// Shape and type of a tensor, and so much of its bytes as tells most tensors apart.
  void add_outline(const Tensor& tensor) {
    add(tensor.dtype());
    add(tensor.shape());
    bytes_.append(static_cast<const char*>(tensor.raw()),
                  std::min<std::size_t>(tensor.bytes(), kOutlineBytes));
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  static constexpr std::size_t kOutlineBytes = 256;
  std::string bytes_;
};

/// Adds the value where its kind can be compared: a tensor, a graph or what is kept as bytes
/// cannot.
bool add_attribute(Key& key, const AttributeValue& value) {
  key.add(value.index());
  return std::visit(
      [&key](const auto& v) {
        if constexpr (requires { key.add(v); }) {
          key.add(v);
          return true;
        }
        return false;
      },
      value);
}

/// What the node computes, as a function of `inputs`; nothing where two such nodes may differ.
std::optional<std::string> key_of(const Node& node, const std::vector<ValueId>& inputs) {
  const OpDef* op = find_op(node.domain, node.op_type, node.opset);
  if (op == nullptr || !op->deterministic) return std::nullopt;
  Key key;
  key.add(node.domain);
  key.add(node.op_type);
  key.add(node.opset);
  key.add(inputs);
  key.add(node.outputs.size());
  std::map<std::string_view, const AttributeValue*> by_name;
  for (const Attribute& attribute : node.attributes.all())
    by_name[attribute.name] = &attribute.value;
  for (const auto& [name, value] : by_name) {
    key.add(std::string(name));
    if (!add_attribute(key, *value)) return std::nullopt;
  }
  return key.take();
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Collects what stands for what, and lets the readers know.
class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), patch_(graph, "merge-duplicates") {}

  void merge_constants() {
    std::unordered_map<std::string, std::vector<ValueId>> seen;
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Tensor& tensor = graph_.value(id).constant;
      if (!tensor.defined() || tensor.dtype() == DType::kString) continue;
      Key key;
      key.add_outline(tensor);
      std::vector<ValueId>& alike = seen[key.take()];
      const auto equal = std::ranges::find_if(
          alike, [&](ValueId other) { return same_bytes(graph_.value(other).constant, tensor); });
      if (equal == alike.end()) {
        alike.push_back(id);
      } else {
        replace(id, *equal);
      }
    }
  }

  void merge_nodes() {
    std::unordered_map<std::string, NodeId> seen;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      std::vector<ValueId> inputs = node.inputs;
      for (ValueId& id : inputs) id = patch_.stands_for(id);
      const auto key = key_of(node, inputs);
      if (!key) continue;
      const auto [first, is_new] = seen.emplace(*key, static_cast<NodeId>(i));
      if (!is_new) replace_outputs(node, graph_.node(first->second));
    }
  }

  Result<int> apply() {
    TRIVET_TRY(patch_.apply());
    return merged_;
  }

 private:
  /// Outputs of the earlier node may be left out where those of the later are not.
  void replace_outputs(const Node& later, const Node& earlier) {
    for (std::size_t k = 0; k < later.outputs.size(); ++k) {
      if (later.outputs[k] != kNoValue && earlier.outputs[k] != kNoValue)
        replace(later.outputs[k], earlier.outputs[k]);
    }
  }

  void replace(ValueId id, ValueId by) {
    if (!is_read(id) || !patch_.can_replace(id, by)) return;
    patch_.replace_uses(id, by);
    ++merged_;
  }

  /// What nobody reads is merged already, or dead.
  [[nodiscard]] bool is_read(ValueId id) const { return uses_[static_cast<std::size_t>(id)] > 0; }

  Graph& graph_;
  GraphPatch patch_;
  std::vector<int> uses_ = graph_.use_counts();
  int merged_ = 0;
};

}  // namespace

Result<int> merge_duplicates(Graph& graph) {
  Merger merger(graph);
  merger.merge_constants();
  merger.merge_nodes();
  return merger.apply();
}

}  // namespace trivet

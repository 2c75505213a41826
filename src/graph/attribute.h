// Attributes of a node: named constants, possibly graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace trivet {

class Graph;
using GraphPtr = std::shared_ptr<Graph>;

/// An attribute whose value the reader keeps only as bytes (type_proto, sparse tensors): no
/// operator of ours looks inside, and the writer gives them back as they came.
struct OpaqueAttribute {
  std::int32_t onnx_type = 0;  ///< AttributeProto.AttributeType
  std::uint32_t field = 0;     ///< field number in AttributeProto
  std::vector<std::string> messages;
  bool operator==(const OpaqueAttribute&) const = default;
};

using AttributeValue =
    std::variant<std::int64_t, float, std::string, Tensor, GraphPtr, std::vector<std::int64_t>,
                 std::vector<float>, std::vector<std::string>, std::vector<Tensor>,
                 std::vector<GraphPtr>, OpaqueAttribute>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// The attributes of one node, in the order of the file.
class Attributes {
 public:
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const Attribute* find(std::string_view name) const;
  /// Replaces one of the same name.
  void set(std::string name, AttributeValue value);
  void remove(std::string_view name);
  [[nodiscard]] std::span<const Attribute> all() const { return all_; }

  /// The value, or null when the attribute is absent or of another type.
  template <class T>
  [[nodiscard]] const T* get(std::string_view name) const {
    const Attribute* attribute = find(name);
    return attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
  }

  [[nodiscard]] std::int64_t int_or(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] float float_or(std::string_view name, float fallback) const;
  [[nodiscard]] std::string string_or(std::string_view name, std::string_view fallback) const;
  /// Empty when absent: ask has() where absent and empty differ.
  [[nodiscard]] std::vector<std::int64_t> ints(std::string_view name) const;
  [[nodiscard]] std::vector<float> floats(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> strings(std::string_view name) const;

 private:
  std::vector<Attribute> all_;
};

}  // namespace trivet

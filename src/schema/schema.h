// The standard operators, version by version: what each takes and gives, as the onnx package says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace trivet::schema {

/// A set of types: element types of tensors, of sequences and so on, a bit each by DType's number.
struct TypeSet {
  std::uint32_t tensors = 0;
  std::uint32_t sequences = 0;
  std::uint32_t optionals = 0;           ///< optional tensors
  std::uint32_t optional_sequences = 0;  ///< optional sequences of tensors
  std::uint32_t sparse = 0;
  bool maps = false;  ///< any map, or a sequence of maps

  /// Also of a type of which nothing is known.
  [[nodiscard]] bool allows(const ValueType& type) const;
};

struct AttributeSchema {
  std::string_view name;
  std::string_view type;  ///< "int", "floats": AttributeProto's word in lower case
  bool required = false;
  bool has_default = false;
  std::string_view default_value;  ///< as text
};

struct PortSchema {
  enum class Option : std::uint8_t { kSingle, kOptional, kVariadic };
  std::string_view name;
  Option option = Option::kSingle;
  int least = 1;          ///< of a variadic one
  bool same_type = true;  ///< all values of a variadic one
  std::size_t type = 0;   ///< index in Schema::types
};

struct TypeParameter {
  std::string_view name;  ///< "T"; or the type itself, "tensor(int64)"
  const TypeSet* allowed = nullptr;
};

struct Schema {
  std::string_view domain;  ///< "" is ai.onnx
  std::string_view name;
  int since = 0;
  bool deprecated = false;
  std::vector<AttributeSchema> attributes;
  std::vector<PortSchema> inputs;
  std::vector<PortSchema> outputs;
  std::vector<TypeParameter> types;

  [[nodiscard]] const AttributeSchema* attribute(std::string_view attribute_name) const;
};

/// The schema with the highest `since` that is not above `opset`; null when there is none. The
/// domains are "" and "ai.onnx.ml".
[[nodiscard]] const Schema* find_schema(std::string_view domain, std::string_view name, int opset);

/// All versions of one operator, oldest first; empty for an unknown one.
[[nodiscard]] std::span<const Schema> versions(std::string_view domain, std::string_view name);

/// One thing that a schema does not allow in a node.
struct Misfit {
  enum class Kind : std::uint8_t {
    kDeprecated,
    kUnknownAttribute,
    kMissingAttribute,
    kAttributeType,
    kInputs,   ///< too many, or a required one is missing
    kOutputs,  ///< likewise
    kType,
  };
  Kind kind;
  std::string subject;  ///< the attribute's, input's or output's name
  std::string message;  ///< "attribute 'axes' is not known", for behind "node 'x' (Pad): "
};

/// What keeps the node from being one of this schema. `types` is asked for each input and output
/// and may answer null or an undefined type, which fits all.
[[nodiscard]] std::vector<Misfit> fits(const Node& node, const Schema& schema,
                                       const std::function<const ValueType*(ValueId)>& types);

/// As above, with the types that the graph declares.
[[nodiscard]] std::vector<Misfit> fits(const Graph& graph, const Node& node, const Schema& schema);

/// Whether the attribute's value is the default that the schema names.
[[nodiscard]] bool is_default(const AttributeSchema& schema, const AttributeValue& value);

}  // namespace trivet::schema

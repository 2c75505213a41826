// Messages of a model split into their parts, the parts still encoded. Views point into the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trivet::onnx {

/// Version of each domain ("" is ai.onnx).
using Imports = std::map<std::string, int, std::less<>>;

struct NodeRecord {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;  ///< normal_domain
  std::string_view overload;
  std::vector<std::string_view> attributes;  ///< AttributeProto

  /// `node 'conv1' (Conv)`, or `node #3 (Conv)`.
  [[nodiscard]] std::string describe(std::size_t index) const;
};

struct GraphRecord {
  std::string_view name;
  std::string_view doc;
  std::vector<NodeRecord> nodes;
  std::vector<std::string_view> initializers;  ///< TensorProto
  std::vector<std::string_view> inputs;        ///< ValueInfoProto, like the next two
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> value_infos;
};

/// A model-local function.
struct FunctionRecord {
  std::string_view name;
  std::string_view domain;  ///< normal_domain
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  ///< names, without a default
  std::vector<std::string_view> defaults;    ///< AttributeProto
  std::vector<NodeRecord> nodes;
  Imports imports;
  std::size_t bytes = 0;  ///< encoded size
};

struct ModelRecord {
  std::int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::string_view domain;
  std::int64_t model_version = 0;
  std::string_view doc;
  std::string_view graph;
  bool has_graph = false;
  Imports imports;
  std::map<std::string, std::string> metadata;
  std::vector<std::string_view> functions;  ///< FunctionProto
};

[[nodiscard]] Result<GraphRecord> read_graph_record(std::string_view bytes);
[[nodiscard]] Result<FunctionRecord> read_function_record(std::string_view bytes);
/// Checks the versions of the IR and of the opsets too.
[[nodiscard]] Result<ModelRecord> read_model_record(std::string_view bytes);

}  // namespace trivet::onnx

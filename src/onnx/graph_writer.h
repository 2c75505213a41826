// From graphs to GraphProto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "onnx/encoder.h"
#include "onnx/tensor_writer.h"

namespace trivet::onnx {

/// Initializers that go to a file of their own, in its order.
class ExternalTensors {
 public:
  ExternalTensors(std::string location, std::size_t threshold)
      : location_(std::move(location)), threshold_(threshold) {}

  /// The place of this tensor, or nothing when it belongs into the model.
  [[nodiscard]] std::optional<ExternalPlace> place(const Tensor& tensor);

  struct Entry {
    Tensor tensor;
    std::uint64_t offset = 0;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string location_;
  std::size_t threshold_;
  std::vector<Entry> entries_;
  std::uint64_t end_ = 0;
};

class GraphWriter {
 public:
  /// `external` may be null.
  GraphWriter(const std::map<std::string, int>& opsets, ExternalTensors* external)
      : opsets_(opsets), external_(external) {}

  [[nodiscard]] Result<Encoder> write(const Graph& graph);

  // After write():
  /// The opsets of the model, and of domains that only nodes name.
  [[nodiscard]] const std::map<std::string, int>& opsets() const { return opsets_; }
  /// The lowest IR version that has all that was written.
  [[nodiscard]] std::int64_t needed_ir_version() const { return needed_ir_version_; }
  /// FunctionProto messages that the nodes call.
  [[nodiscard]] std::vector<Encoder> take_functions() { return std::move(functions_); }

 private:
  /// The graph being written, with the names of its values as they are written.
  struct Frame {
    const Graph& graph;
    const Frame* outer = nullptr;
    std::vector<std::string> names = {};
    std::unordered_set<std::string> used = {};

    [[nodiscard]] bool is_used(const std::string& name) const;
    [[nodiscard]] std::string name_of(ValueId id) const;
    void give_name(ValueId id);
    /// `wanted`, or that with a number; in use from now on.
    std::string unused_name(const std::string& wanted);
  };

  static void name_values(Frame& frame);
  Result<Encoder> write_graph(const Graph& graph, const Frame* outer);
  Result<void> add_nodes(const Frame& frame, Encoder& out);
  void add_outputs(Frame& frame, Encoder& out);
  Result<Encoder> node_message(const Node& node, const Frame& frame);
  Result<Encoder> attribute_message(const Attribute& attribute, const Frame& frame);
  Result<void> add_attributes(const Node& node, const Frame& frame, Encoder& out);
  Result<Encoder> call_of_function(const Node& node, const Frame& frame);
  Encoder value_info(const Value& value, const std::string& name);
  Encoder tensor_message(const Tensor& tensor, const std::string& name);
  void need(std::int64_t ir_version);

  std::map<std::string, int> opsets_;
  ExternalTensors* external_;
  std::int64_t needed_ir_version_ = 3;
  std::vector<Encoder> functions_;
};

}  // namespace trivet::onnx

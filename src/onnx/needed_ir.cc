#include "onnx/needed_ir.h"

#include <utility>

#include "graph/bodies.h"
#include "onnx/versions.h"

namespace trivet::onnx {

NeededIr needed_ir_version(const Model& model) {
  NeededIr out = {kIrWithPlainInitializers, "initializers that are no inputs"};
  const auto raise = [&](std::int64_t version, std::string reason) {
    if (version > out.version) out = {version, std::move(reason)};
  };
  const auto opset = model.opsets.find("");
  if (opset != model.opsets.end()) {
    raise(ir_version_of_opset(opset->second), cat("opset ", opset->second));
  }
  for_each_graph(*model.graph, [&](const Graph& graph) {
    for (const Value& value : graph.values()) {
      const std::int64_t version = ir_version_of_dtype(value.type.dtype);
      if (version > out.version) {
        out = {version, cat("element type ", dtype_name(value.type.dtype))};
      }
    }
  });
  return out;
}

}  // namespace trivet::onnx

// What an operator is to the rest of the program, and how one is found.
//
// Each file src/ops/<stem>.cc defines `OpDefs trivet::ops::<stem>_ops()`; the build collects these
// functions into a list, so adding an operator edits no other file.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

class InferContext;
class EvalContext;

inline constexpr int kVariadic = std::numeric_limits<int>::max();

/// Least and most number of inputs or outputs.
struct Arity {
  int least = 1;
  int most = 1;
};

/// One operator from one opset version on. Where a later version changes the meaning or the
/// signature there is another OpDef with the same name and a higher `since`.
struct OpDef {
  std::string_view name;
  std::string_view domain = "";  ///< "" is ai.onnx
  int since = 1;                 ///< first version of the domain's opset that this describes
  Arity inputs = {};
  Arity outputs = {};

  /// Types and shapes of the outputs from those of the inputs; also the place for complaints about
  /// attributes that hold for every input.
  Result<void> (*infer)(InferContext&) = nullptr;

  /// Computes the outputs in plain loops that mirror the specification: the oracle.
  Result<void> (*eval)(EvalContext&) = nullptr;

  /// Multiply-accumulates, where the operator has any; shapes in `infer`'s terms. Null: none.
  Dim (*macs)(const InferContext&) = nullptr;

  /// False for operators that must run each time even on constant inputs (random numbers).
  bool deterministic = true;
};

using OpDefs = std::vector<OpDef>;
using OpFamily = OpDefs (*)();

/// Every family, in the order of their names; defined in a file that the build generates.
std::span<const OpFamily> op_families();

/// Every operator, sorted by domain, name and version.
[[nodiscard]] std::span<const OpDef> all_ops();

/// The definition with the highest `since` that is not above `opset`; null when there is none.
[[nodiscard]] const OpDef* find_op(std::string_view domain, std::string_view name, int opset);

/// As above for a node; the error says whether the operator is unknown or too new, and checks the
/// number of inputs and outputs.
[[nodiscard]] Result<const OpDef*> find_op(const Node& node);

/// Whether the node and all nodes of its subgraphs are known and can be evaluated.
[[nodiscard]] bool can_evaluate(const Node& node);

}  // namespace trivet

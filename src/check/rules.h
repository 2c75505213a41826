// What check looks for: one rule per kind of fault.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/finding.h"
#include "graph/graph.h"
#include "onnx/file_facts.h"
#include "ops/support/inference.h"

namespace trivet::check {

/// A model and what every rule needs of it.
struct Subject {
  const Model& model;
  FileFacts facts;
  /// With the declared inputs; nothing is known of what comes out of a node that has an error.
  Inference inference;
  /// Nodes whose operator is known and whose inputs do not fit it, with what is wrong.
  std::vector<std::pair<NodeId, Error>> misfits;

  [[nodiscard]] const Graph& graph() const { return *model.graph; }
};

using Findings = std::vector<Finding>;

/// A family of faults that are looked for together. What it finds carries names of its own.
struct Rule {
  std::string_view name;
  void (*run)(const Subject&, Findings&);
};

/// In the order of the report.
[[nodiscard]] std::span<const Rule> rules();

[[nodiscard]] Subject subject_of(const Model& model, FileFacts facts);

/// All findings, errors first, otherwise in the order of the rules.
[[nodiscard]] Findings check_model(const Subject& subject);

// The rules, one function per file or part of one.
void check_inference(const Subject& subject, Findings& out);
void check_input_axes(const Subject& subject, Findings& out);
void check_baked_sizes(const Subject& subject, Findings& out);
void check_output_types(const Subject& subject, Findings& out);
void check_operators(const Subject& subject, Findings& out);
void check_control_flow(const Subject& subject, Findings& out);
void check_training_leftovers(const Subject& subject, Findings& out);
void check_batch_norms(const Subject& subject, Findings& out);
void check_decompositions(const Subject& subject, Findings& out);
void check_versions(const Subject& subject, Findings& out);
void check_weight_values(const Subject& subject, Findings& out);
void check_weight_storage(const Subject& subject, Findings& out);
void check_double_precision(const Subject& subject, Findings& out);
void check_names(const Subject& subject, Findings& out);
void check_reachability(const Subject& subject, Findings& out);

}  // namespace trivet::check

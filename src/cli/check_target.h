// check --target: what a runtime would refuse of the model, or run slowly.
#pragma once

#include <string>
#include <vector>

#include "check/targets.h"
#include "cli/json.h"
#include "cli/options.h"

namespace trivet::cli {

struct TargetFlags {
  std::vector<std::string> names;  ///< NAME or NAME@VERSION; "list" asks what there is

  void add_to(CLI::App& command);
  [[nodiscard]] bool wants_list() const;
  [[nodiscard]] Result<std::vector<check::Target>> find() const;
};

/// Prints every runtime with its versions and what is known of them.
[[nodiscard]] Result<int> list_targets(bool json);

/// [{"name", "version", "opset", "ir", "note"}]
[[nodiscard]] Json targets_json(const std::vector<check::Target>& targets);

/// What is uncertain of a version, where something is.
void print_notes(const std::vector<check::Target>& targets);

}  // namespace trivet::cli

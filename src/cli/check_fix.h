// trivet check --fix: mends a model, proves the result, and only then writes it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options.h"
#include "cli/proving.h"

namespace trivet::cli {

struct FixFlags {
  std::string output;
  bool force = false;
  std::vector<std::string> dynamic;  ///< INPUT:AXIS=NAME
  ProofFlags proof;

  void add_to(CLI::App& command);
};

/// The exit code is that of a check of the written model; that of a failed check where the proof
/// fails, and then nothing is written.
[[nodiscard]] Result<int> run_fix(const std::string& model, const FixFlags& flags, bool json);

}  // namespace trivet::cli

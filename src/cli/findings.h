// Findings of a check, as text and as JSON.
#pragma once

#include <cstddef>

#include "check/rules.h"
#include "cli/json.h"
#include "cli/model_argument.h"

namespace trivet::cli {

[[nodiscard]] std::size_t count_of(const check::Findings& findings, check::Severity severity);

/// Whether none is an error.
[[nodiscard]] bool passes(const check::Findings& findings);

/// {"model", "errors", "warnings", "infos", "findings": [...]}
[[nodiscard]] Json findings_json(const LoadedModel& model, const check::Findings& findings);

/// Each with its cause, consequence and fix; then how many there are.
void print_findings(const LoadedModel& model, const check::Findings& findings);

}  // namespace trivet::cli

// trivet check --error and --symptom: what a message of an exporter, converter or runtime means,
// and what can be behind faults that print none.
#pragma once

#include <string>

#include "base/error.h"

namespace trivet::cli {

/// `text` is the message, or "-" for standard input. The exit code is that of a failed check where
/// no message is known in it.
[[nodiscard]] Result<int> run_triage(const std::string& text, bool json);

/// What can be behind something that is seen and not printed: `words` describe it, or are its
/// number or id; "list" lists all. The exit code is that of a failed check where nothing fits.
[[nodiscard]] Result<int> run_symptoms(const std::string& words, bool json);

}  // namespace trivet::cli

// trivet check --error: what a message of an exporter, converter or runtime means.
#pragma once

#include <string>

#include "base/error.h"

namespace trivet::cli {

/// `text` is the message, or "-" for standard input. The exit code is that of a failed check where
/// no message is known in it.
[[nodiscard]] Result<int> run_triage(const std::string& text, bool json);

}  // namespace trivet::cli

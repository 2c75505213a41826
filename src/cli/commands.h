// The list of the program's commands.
#pragma once

#include <span>

#include "cli/command.h"

namespace trivet::cli {

/// In the order of --help.
[[nodiscard]] std::span<const AddCommand> commands();

}  // namespace trivet::cli

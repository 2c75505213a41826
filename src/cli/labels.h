// Class names.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace trivet::cli {

/// One name per line; a line's number, from 0, is the class.
[[nodiscard]] Result<std::vector<std::string>> read_labels(const std::string& path);

}  // namespace trivet::cli

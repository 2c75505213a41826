// trivet profile --compare: two profiles side by side, for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace trivet::cli {

/// Reads both files, of whatever tool, and prints what differs; of nodes at most `top`, in JSON
/// all.
[[nodiscard]] Result<int> compare_profile_files(const std::string& a, const std::string& b,
                                                std::size_t top, bool json);

}  // namespace trivet::cli

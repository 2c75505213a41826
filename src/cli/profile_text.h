// A profile for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "measure/profile.h"

namespace trivet::cli {

/// "conv1", "conv1 +2" for three; "-" for none.
[[nodiscard]] std::string names_text(const std::vector<std::string>& names);
/// "0.956": three digits.
[[nodiscard]] std::string format_ratio(double ratio);
/// "46 more; --top all shows them".
[[nodiscard]] std::string more_text(std::size_t count);

/// How long the runs took, what of it the steps are, what profiling cost.
[[nodiscard]] std::string summary_text(const Profile& profile);
/// One line per operator.
[[nodiscard]] std::string operators_text(const Profile& profile,
                                         const std::optional<Roofline>& roofline);
/// One line per step, the slowest first, at most `top`.
[[nodiscard]] std::string nodes_text(const Profile& profile,
                                     const std::optional<Roofline>& roofline, std::size_t top);

}  // namespace trivet::cli

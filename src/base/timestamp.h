// The time of day, for what is written down.
#pragma once

#include <string>

namespace trivet {

/// "2024-05-01T12:00:00Z"
[[nodiscard]] std::string utc_timestamp();

}  // namespace trivet

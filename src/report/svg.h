// Charts as inline SVG. Colours come from the style sheet of the page around them.
#pragma once

#include <span>
#include <string>

#include "measure/latency.h"

namespace trivet::svg {

/// How often which time was measured, with lines at p50, p95 and p99. Empty without samples.
[[nodiscard]] std::string latency_histogram_chart(std::span<const double> samples_ms);

/// Every sample in the order in which it was taken. Empty without samples.
[[nodiscard]] std::string latency_timeline_chart(std::span<const double> samples_ms);

}  // namespace trivet::svg

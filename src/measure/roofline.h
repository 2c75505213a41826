// The roofline of a machine: the least time that work can take on it.
#pragma once

#include <algorithm>

namespace trivet {

/// What all cores together reach.
struct Roofline {
  double flops_per_s = 0;
  double bytes_per_s = 0;  ///< between the processor and its memory

  /// The least time for so much work, in seconds: the longer of the arithmetic and the traffic
  /// (S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
  /// multicore architectures", CACM 52(4), 2009).
  [[nodiscard]] double seconds(double flops, double bytes) const {
    return std::max(flops / flops_per_s, bytes / bytes_per_s);
  }
};

}  // namespace trivet

// The roofline: the least time that some work can take on a machine.
#pragma once

#include <algorithm>

namespace trivet {

/// What a machine can do at best: arithmetic, and bytes to and from memory.
struct Roofline {
  double flops_per_s;
  double bytes_per_s;

  /// The longer of the two times, when both go on at once: max(flops / flops_per_s,
  /// bytes / bytes_per_s), after Williams, Waterman and Patterson, "Roofline", 2009.
  [[nodiscard]] double seconds(double flops, double bytes) const {
    return std::max(flops / flops_per_s, bytes / bytes_per_s);
  }
};

}  // namespace trivet

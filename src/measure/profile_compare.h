// Two profiles side by side.
#pragma once

#include <string>
#include <vector>

#include "measure/profile.h"

namespace trivet {

/// Steps of both sides that do the same, in sum.
struct ProfilePair {
  std::vector<std::string>
      names;  ///< of nodes, those that both sides know first; none for operators
  std::string op;
  double a_ms = 0;
  double b_ms = 0;

  [[nodiscard]] double difference() const { return b_ms - a_ms; }
};

struct ProfileComparison {
  double a_ms = 0;  ///< all steps of a side in sum
  double b_ms = 0;
  /// What both sides name. Steps that have the name of a node or of an output in common are the
  /// same (ONNX Runtime calls some nodes by their output), and so are those that either shares one
  /// with: a fused step stands beside the several that it is on the other side. The largest
  /// difference first, as everywhere here.
  std::vector<ProfilePair> nodes;
  std::vector<ProfileStep> only_a;  ///< what the other side has no name of, the longest first
  std::vector<ProfileStep> only_b;
  /// All steps by leading_operator().
  std::vector<ProfilePair> operators;
};

[[nodiscard]] ProfileComparison compare_profiles(const Profile& a, const Profile& b);

}  // namespace trivet

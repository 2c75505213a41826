// Where a command's roofline comes from: --roofline, or the file that `bench --machine` keeps.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "measure/roofline.h"

namespace trivet::cli {

/// A roofline, and where it comes from.
struct KnownRoofline {
  Roofline roofline;
  std::string source;

  /// The FLOPs per byte from which on arithmetic decides, and below which memory does.
  [[nodiscard]] double ridge() const { return roofline.flops_per_s / roofline.bytes_per_s; }
};

/// "230,37": GFLOP/s and GB/s, both above 0.
[[nodiscard]] Result<Roofline> parse_roofline(const std::string& text);

/// What --roofline says; where it is empty, the peaks in the machine's file for so many threads (0:
/// the default). Without a file that can be used there is none, and `why` tells how to get one.
[[nodiscard]] Result<std::optional<KnownRoofline>> find_roofline(const std::string& text,
                                                                 int threads, std::string& why);

}  // namespace trivet::cli

// The steps of trivet ship, from a model to its bundle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "bundle/bundle.h"
#include "cli/dataset.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "report/report.h"

namespace trivet::cli {

struct ShipOptions {
  std::string model;
  std::string output;
  bool force = false;
  DataFlags data;
  SessionFlags session;
  ToleranceFlags tolerance;
  std::optional<double> fps;
  std::string ram;  ///< "64M", "1.5G", bytes
  int warmup = 10;
  int runs = 200;
  int reference_inputs = 3;  ///< that the reference provider, which is slow, runs too
  bool json = false;
};

/// "64M", "1.5 GB", "100000": powers of 1000.
[[nodiscard]] Result<std::uint64_t> parse_bytes(const std::string& text);

struct Shipped {
  Report report;
  std::string output;
  bool written = true;  ///< false: what failed did not replace the bundle that was there
};

/// Does everything and leaves the bundle; the report says what came of it. An existing output
/// without --force, and wrong options, are found before the work starts. A model that fails is
/// written too, but never in the place of a bundle that exists.
[[nodiscard]] Result<Shipped> ship(const ShipOptions& options);

}  // namespace trivet::cli

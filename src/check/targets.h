// Runtimes that a model can be checked against: `onnxruntime@1.16`, `tensorrt`, ...
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "check/rules.h"
#include "check/target_table.h"

namespace trivet::check {

struct Target {
  const TargetTable* table = nullptr;
  TargetVersion version;                 ///< as asked for
  const TargetLimits* limits = nullptr;  ///< of the newest known version that is not newer
  std::string note;                      ///< empty where the version itself is known

  [[nodiscard]] std::string title() const { return table->title + " " + version.to_string(); }
};

/// `NAME` or `NAME@VERSION`; a name may be an alias. Without a version, or with its first number
/// only, the newest known one. A version between two known ones has the limits of the older.
[[nodiscard]] Result<Target> find_target(std::string_view text);

/// What the runtime would refuse, or run slowly. Adds findings whose rules begin with "target-".
void check_target(const Subject& subject, const Target& target, Findings& out);

}  // namespace trivet::check

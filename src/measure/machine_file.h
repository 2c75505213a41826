// The file that keeps a machine's peaks between runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "measure/machine.h"

namespace trivet {

/// `$XDG_CACHE_HOME/trivet/machine.json`, else `$HOME/.cache/trivet/machine.json`; a relative
/// XDG_CACHE_HOME does not count. An error where neither is set.
[[nodiscard]] Result<std::string> default_machine_file();

[[nodiscard]] nlohmann::ordered_json machine_to_json(const MachinePeaks& peaks);

/// Writes it whole or not at all, and makes the folders on its way.
[[nodiscard]] Result<void> write_machine_file(const MachinePeaks& peaks, const std::string& path,
                                              bool overwrite);

/// Checks the format, the type and the range of every member, and that the file is of `cpu`: a
/// file of another processor is an error that names both.
[[nodiscard]] Result<MachinePeaks> read_machine_file(const std::string& path,
                                                     const std::string& cpu = cpu_model_name());

}  // namespace trivet

// Which provider runs how many nodes, as commands say it.
#pragma once

#include <span>
#include <string>

#include "cli/json.h"
#include "runtime/session.h"

namespace trivet::cli {

/// "94 nodes on cpu, 2 threads".
[[nodiscard]] std::string assignment_text(std::span<const Assignment::Part> parts, int threads);
[[nodiscard]] std::string assignment_text(const Session& session);
/// [{"name": …, "nodes": …, "segments": …}], those without nodes too.
[[nodiscard]] Json json_assignment(std::span<const Assignment::Part> parts);

}  // namespace trivet::cli

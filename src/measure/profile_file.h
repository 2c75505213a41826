// Profiles as files: ours, as JSON and as a Chrome trace, and those of other tools.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "measure/profile.h"

namespace trivet {

/// What `format` says in the JSON of a profile that this build writes, and the only one that it
/// reads.
inline constexpr std::string_view kProfileFormat = "trivet-profile/1";

/// The profile with sums, shares and, where a roofline is given, how much of it is reached. The
/// keys are in docs/PROFILE.md.
[[nodiscard]] nlohmann::ordered_json profile_to_json(const Profile& profile,
                                                     const std::optional<Roofline>& roofline);

/// Every profiled run on one time line, in the trace event format that chrome://tracing, Perfetto
/// and speedscope read. `graph` is that of the session.
[[nodiscard]] nlohmann::ordered_json profile_to_trace(const Graph& graph, const Profile& profile,
                                                      const ProfileSamples& samples);

/// What a text holds, told by its content:
///  - the JSON or the trace of a profile of ours;
///  - ONNX Runtime's profiling JSON (events of category "Node"). Names that its fusions made lose
///    what was put around them: "fused conv1" and "conv1_nchwc" are conv1, FusedConv is Conv;
///  - a Chrome trace of torch.profiler (events of category "cpu_op"). It knows no nodes:
///    one step per operator, under its ONNX name where there is one. An operator inside another one
///    counts as a part of that. Without ProfilerStep events all is taken for one run.
/// Anything else, and a number or name that is none, is an error.
[[nodiscard]] Result<Profile> parse_profile(std::string_view text);

/// parse_profile() of a file of at most 128 MB; errors name it.
[[nodiscard]] Result<Profile> read_profile(const std::string& path);

}  // namespace trivet

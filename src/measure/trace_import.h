// Profiles out of lists of timed events, as several tools write them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "measure/profile.h"

namespace trivet {

/// What `format` in the metadata of our own traces says.
inline constexpr std::string_view kTraceFormat = "trivet-trace/1";

/// A trace of ours, of ONNX Runtime or of torch.profiler; parse_profile() says what is made of
/// each.
[[nodiscard]] Result<Profile> profile_of_trace(const nlohmann::json& root);

/// The ONNX operator of a PyTorch one: "aten::conv2d" is Conv, "aten::relu_" Relu. What has none
/// keeps its name.
[[nodiscard]] std::string onnx_operator_of(std::string_view torch_operator);

}  // namespace trivet

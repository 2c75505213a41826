// The versions of ONNX that this build knows: those of onnx 1.23.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace trivet::onnx {

inline constexpr std::int64_t kNewestIrVersion = 14;
inline constexpr int kNewestOpset = 28;

/// Initializers that are no graph inputs, which is how Trivet writes all of them.
inline constexpr std::int64_t kIrWithPlainInitializers = 4;

/// The newest version of a standard domain ("" is ai.onnx); nothing for a vendor's domain.
[[nodiscard]] std::optional<int> newest_opset(std::string_view domain);

/// The IR version that came with this version of ai.onnx (onnx/docs/Versioning.md).
[[nodiscard]] std::int64_t ir_version_of_opset(int opset);

/// The first IR version with this element type (onnx.proto, "IR VERSION").
[[nodiscard]] std::int64_t ir_version_of_dtype(DType dtype);

/// "ai.onnx" and "" are the same domain; Trivet uses "".
[[nodiscard]] std::string_view normal_domain(std::string_view domain);

}  // namespace trivet::onnx

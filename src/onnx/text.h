// Names from files in messages.
#pragma once

#include "base/error.h"

namespace trivet::onnx {

/// The message as one line of printable UTF-8 and of bounded length: names in damaged files can
/// hold line breaks and megabytes.
[[nodiscard]] Error one_line(Error error);

}  // namespace trivet::onnx

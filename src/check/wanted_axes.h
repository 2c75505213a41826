// Which axes of a model's inputs somebody may want open.
#pragma once

#include <vector>

#include "check/open_axes.h"

namespace trivet::check {

/// Axes that the model declares open, under their names; one without a name gets "input_axis".
[[nodiscard]] std::vector<OpenAxis> declared_axes(const Graph& graph);

/// Axis 0 of the inputs that have as many there as the first input of at least two axes, where that
/// is a number.
[[nodiscard]] std::vector<OpenAxis> fixed_batch_axes(const Graph& graph);

/// Height and width of the first input that looks like pictures (four axes, 1, 3 or 4 channels in
/// axis 1 or 3), where both are numbers; else nothing.
[[nodiscard]] std::vector<OpenAxis> fixed_resolution_axes(const Graph& graph);

}  // namespace trivet::check

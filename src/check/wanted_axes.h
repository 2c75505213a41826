// Which axes of a model's inputs somebody may want open.
#pragma once

#include <vector>

#include "check/open_axes.h"

namespace trivet::check {

/// Axes that the model declares open, under their names; one without a name gets "input_axis".
[[nodiscard]] std::vector<OpenAxis> declared_axes(const Graph& graph);

/// The batch axis of the inputs that have as many there as the first input that has one, where that
/// is a number: axis 1 of the sequences and states that an RNN, GRU or LSTM with layout 0 reads,
/// axis 0 of other inputs of at least two axes.
[[nodiscard]] std::vector<OpenAxis> fixed_batch_axes(const Graph& graph);

/// The batch axis of the inputs that leave it open, under one name, which is that of the first.
[[nodiscard]] std::vector<OpenAxis> declared_batch_axes(const Graph& graph);

/// Height and width, both open, of the first input that looks like pictures; else nothing.
[[nodiscard]] std::vector<OpenAxis> declared_resolution_axes(const Graph& graph);

/// Height and width of the first input that looks like pictures (four axes, 1, 3 or 4 channels in
/// axis 1 or 3), where both are numbers; else nothing.
[[nodiscard]] std::vector<OpenAxis> fixed_resolution_axes(const Graph& graph);

}  // namespace trivet::check

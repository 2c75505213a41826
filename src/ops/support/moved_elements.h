// Shape arithmetic through operators that only move elements.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "base/error.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"

namespace trivet::ops {

/// Gives the outputs their symbolic elements by running `eval` on positions in place of the
/// elements of the inputs in `moved` (none listed: all inputs) and looking up what stands at each
/// position that comes out. Does nothing where an element, or another input, is not known.
[[nodiscard]] Result<void> propagate_elements(InferContext& context,
                                              Result<void> (*eval)(EvalContext&),
                                              std::initializer_list<std::size_t> moved);

}  // namespace trivet::ops

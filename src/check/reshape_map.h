// Which sizes of a Reshape's result grow with the open sizes of its input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/dim.h"

namespace trivet::check {

/// One size of the result: the product of the input's sizes along `axes`, divided by `divisor`;
/// without axes it is the number alone.
struct MappedSize {
  Dim size;
  std::vector<std::size_t> axes = {};
  std::int64_t divisor = 1;
};

/// Maps a Reshape that was seen with numbers, `from` to `to`, to the same Reshape of an input with
/// open sizes, `open_from` (as many axes as `from`). Both shapes are cut into the shortest groups
/// of neighbouring axes with equal products, within which the elements of a group stay; the open
/// size of a group goes to its first axis that can take it whole.
///
/// Nothing where a group with an open size has none such, or where the products differ.
[[nodiscard]] std::optional<std::vector<MappedSize>> map_reshape(const SymbolicShape& open_from,
                                                                 std::span<const std::int64_t> from,
                                                                 std::span<const std::int64_t> to);

}  // namespace trivet::check

// Class names and the best of a classifier's scores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet::cli {

/// One name per line; a line's number, from 0, is the class.
[[nodiscard]] Result<std::vector<std::string>> read_labels(const std::string& path);

struct RankedClass {
  std::int64_t index = 0;
  double score = 0;
};

/// Whether a tensor looks like scores: numbers, NxC with C of at least 2.
[[nodiscard]] bool is_scores(const Tensor& tensor);

/// The `count` highest scores of row `row`, highest first, the lower class first among equals.
[[nodiscard]] std::vector<RankedClass> top_classes(const Tensor& scores, std::int64_t row,
                                                   std::size_t count);

}  // namespace trivet::cli

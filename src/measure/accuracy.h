// What a classifier answers, and how often it is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace trivet {

/// A tensor read as rows of class scores.
struct ScoreRows {
  std::int64_t count = 0;
  std::int64_t classes = 0;
};

/// Floats (or the 8-bit integers of a quantised model) of shape N x C, with any axes of size 1
/// after them, and C >= 2; a plain C is one row. Nothing for what does not look like a classifier's
/// output.
[[nodiscard]] std::optional<ScoreRows> class_score_rows(const Tensor& scores);

/// The class with the highest score, the first of equals. NaN is never the best.
[[nodiscard]] std::int64_t best_class(const Tensor& scores, const ScoreRows& rows,
                                      std::int64_t row);

struct ClassScore {
  std::int64_t index = 0;
  double score = 0;
  double probability = 0;
};

/// The best classes of a row, best first, ties in the order of the classes. The probability is the
/// score itself where the row is a distribution already (each in [0, 1], sum 1 within 1e-3), else
/// the softmax of the row.
[[nodiscard]] std::vector<ClassScore> top_classes(const Tensor& scores, const ScoreRows& rows,
                                                  std::int64_t row, std::size_t count);

/// A share of `trials` with its 95 % Wilson score interval, which stays inside [0, 1] and holds for
/// few trials too: (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.959964.
struct Proportion {
  std::size_t hits = 0;
  std::size_t trials = 0;
  [[nodiscard]] double value() const;
  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
};

struct Accuracy {
  Proportion top1;
  Proportion top5;  ///< of models with fewer than five classes: always a hit

  void add(const Tensor& scores, const ScoreRows& rows, std::int64_t row, std::int64_t truth);
};

}  // namespace trivet

#include "measure/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trivet {
namespace {

constexpr double kZ = 1.959964;  // the two-sided 95 % point of the normal distribution

/// A row as numbers; NaN, which compares with nothing, becomes the lowest.
std::vector<double> row_values(const Tensor& scores, const ScoreRows& rows, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(rows.classes));
  for (std::int64_t c = 0; c < rows.classes; ++c) {
    const double x = element_as_double(scores, row * rows.classes + c);
    values[static_cast<std::size_t>(c)] =
        std::isnan(x) ? -std::numeric_limits<double>::infinity() : x;
  }
  return values;
}

bool is_distribution(const std::vector<double>& values) {
  const bool in_range = std::ranges::all_of(values, [](double x) { return x >= 0 && x <= 1; });
  return in_range && std::abs(std::accumulate(values.begin(), values.end(), 0.0) - 1.0) < 1e-3;
}

std::vector<double> probabilities(std::vector<double> values) {
  if (is_distribution(values)) return values;
  const double largest = *std::ranges::max_element(values);
  if (!std::isfinite(largest)) return std::vector<double>(values.size(), 0.0);
  double sum = 0;
  for (double& x : values) sum += (x = std::exp(x - largest));
  for (double& x : values) x /= sum;
  return values;
}

/// Centre and half width of the interval.
struct Wilson {
  double centre;
  double half_width;
};

Wilson wilson(const Proportion& p) {
  if (p.trials == 0) return {0.5, 0.5};
  const auto n = static_cast<double>(p.trials);
  const double share = p.value();
  const double scale = 1 + kZ * kZ / n;
  return {(share + kZ * kZ / (2 * n)) / scale,
          kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / scale};
}

}  // namespace

std::optional<ScoreRows> class_score_rows(const Tensor& scores) {
  const bool quantized = is_integer(scores.dtype()) && dtype_bits(scores.dtype()) == 8;
  if (!(is_floating(scores.dtype()) || quantized) || scores.rank() == 0) return std::nullopt;
  if (scores.rank() == 1) {
    if (scores.dim(0) < 2) return std::nullopt;
    return ScoreRows{1, scores.dim(0)};
  }
  for (int axis = 2; axis < scores.rank(); ++axis) {
    if (scores.dim(axis) != 1) return std::nullopt;
  }
  if (scores.dim(1) < 2) return std::nullopt;
  return ScoreRows{scores.dim(0), scores.dim(1)};
}

std::int64_t best_class(const Tensor& scores, const ScoreRows& rows, std::int64_t row) {
  const std::vector<double> values = row_values(scores, rows, row);
  return std::ranges::max_element(values) - values.begin();
}

std::vector<ClassScore> top_classes(const Tensor& scores, const ScoreRows& rows, std::int64_t row,
                                    std::size_t count) {
  const std::vector<double> values = row_values(scores, rows, row);
  const std::vector<double> shares = probabilities(values);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<ClassScore> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    best.push_back({static_cast<std::int64_t>(order[i]), values[order[i]], shares[order[i]]});
  }
  return best;
}

double Proportion::value() const {
  return trials == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(trials);
}

double Proportion::low() const {
  const Wilson interval = wilson(*this);
  return std::max(0.0, interval.centre - interval.half_width);
}

double Proportion::high() const {
  const Wilson interval = wilson(*this);
  return std::min(1.0, interval.centre + interval.half_width);
}

void Accuracy::add(const Tensor& scores, const ScoreRows& rows, std::int64_t row,
                   std::int64_t truth) {
  constexpr std::size_t kFive = 5;
  const std::vector<ClassScore> best = top_classes(scores, rows, row, kFive);
  ++top1.trials;
  ++top5.trials;
  if (best.front().index == truth) ++top1.hits;
  if (std::ranges::find(best, truth, &ClassScore::index) != best.end()) ++top5.hits;
}

}  // namespace trivet

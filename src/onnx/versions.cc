#include "onnx/versions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace trivet::onnx {

std::optional<int> newest_opset(std::string_view domain) {
  if (domain.empty()) return kNewestOpset;
  if (domain == "ai.onnx.ml") return 5;
  if (domain == "ai.onnx.training" || domain == "ai.onnx.preview.training") return 1;
  return std::nullopt;
}

std::int64_t ir_version_of_opset(int opset) {
  // The first opset of each IR version.
  constexpr std::array<std::pair<int, std::int64_t>, 12> kFirst = {{{1, 3},
                                                                    {9, 4},
                                                                    {10, 5},
                                                                    {11, 6},
                                                                    {12, 7},
                                                                    {15, 8},
                                                                    {19, 9},
                                                                    {21, 10},
                                                                    {23, 11},
                                                                    {24, 12},
                                                                    {25, 13},
                                                                    {28, 14}}};
  const auto next =
      std::ranges::upper_bound(kFirst, opset, {}, &std::pair<int, std::int64_t>::first);
  return next == kFirst.begin() ? kFirst.front().second : std::prev(next)->second;
}

std::int64_t ir_version_of_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16: return 4;
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ: return 9;
    case DType::kUInt4:
    case DType::kInt4: return 10;
    case DType::kFloat4E2M1: return 11;
    case DType::kFloat8E8M0: return 12;
    case DType::kUInt2:
    case DType::kInt2: return 13;
    default: return 3;
  }
}

std::string_view normal_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace trivet::onnx

// NonMaxSuppression: for each batch and class the boxes with the highest scores, less those that
// overlap a better one too much.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"

namespace trivet::ops {
namespace {

struct Box {
  float left, top, right, bottom;
};

/// Four numbers are y1, x1, y2, x2 of two opposite corners, or the centre x, y, width and height.
Box box_of(const float* numbers, bool center) {
  if (center) {
    const float half_width = numbers[2] / 2;
    const float half_height = numbers[3] / 2;
    return {numbers[0] - half_width, numbers[1] - half_height, numbers[0] + half_width,
            numbers[1] + half_height};
  }
  return {std::min(numbers[1], numbers[3]), std::min(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3]), std::max(numbers[0], numbers[2])};
}

float area(const Box& box) { return (box.right - box.left) * (box.bottom - box.top); }

/// Whether intersection over union is above the threshold.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0)) return false;
  const float intersection = width * height;
  const float union_area = area(a) + area(b) - intersection;
  return area(a) > 0 && area(b) > 0 && union_area > 0 && intersection / union_area > threshold;
}

struct Options {
  std::int64_t most = 0;
  float iou_threshold = 0.0F;
  std::optional<float> score_threshold;
  bool center = false;
};

Result<Options> options_of(const EvalContext& context) {
  Options out;
  out.center = context.attributes().int_or("center_point_box", 0) != 0;
  const auto given = [&context](std::size_t i) {
    return context.has_input(i) && context.input(i).size() > 0;
  };
  if (given(2)) {
    TRIVET_ASSIGN(const std::int64_t most, int_input(context, 2, "max_output_boxes_per_class"));
    out.most = std::max<std::int64_t>(most, 0);
  }
  if (given(3)) out.iou_threshold = static_cast<float>(element_as_double(context.input(3), 0));
  if (given(4)) out.score_threshold = static_cast<float>(element_as_double(context.input(4), 0));
  return out;
}

std::vector<std::int64_t> select(const float* boxes, std::span<const float> scores,
                                 const Options& options) {
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool kept = !options.score_threshold || scores[i] > *options.score_threshold;
    if (kept && scores[i] == scores[i]) candidates.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::stable_sort(candidates, [&](std::int64_t a, std::int64_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  std::vector<std::int64_t> selected;
  for (const std::int64_t candidate : candidates) {
    if (static_cast<std::int64_t>(selected.size()) >= options.most) break;
    const Box box = box_of(boxes + 4 * candidate, options.center);
    const bool suppressed = std::ranges::any_of(selected, [&](std::int64_t better) {
      return overlaps(box, box_of(boxes + 4 * better, options.center), options.iou_threshold);
    });
    if (!suppressed) selected.push_back(candidate);
  }
  return selected;
}

Result<void> eval_non_max_suppression(EvalContext& context) {
  const Tensor& boxes = context.input(0);
  const Tensor& scores = context.input(1);
  const bool fits = boxes.rank() == 3 && scores.rank() == 3 && boxes.dim(2) == 4 &&
                    boxes.dim(0) == scores.dim(0) && boxes.dim(1) == scores.dim(2) &&
                    boxes.dtype() == DType::kFloat32 && scores.dtype() == DType::kFloat32;
  if (!fits) {
    return invalid_argument(
        "boxes must be float32 [batch, boxes, 4] and scores float32 [batch, classes, boxes], "
        "found ",
        shape_to_string(boxes.shape()), " and ", shape_to_string(scores.shape()));
  }
  TRIVET_ASSIGN(const Options options, options_of(context));
  const std::int64_t classes = scores.dim(1);
  const std::int64_t count = boxes.dim(1);
  std::vector<std::int64_t> found;
  for (std::int64_t batch = 0; batch < boxes.dim(0); ++batch) {
    const float* corners = boxes.data<float>().data() + batch * count * 4;
    for (std::int64_t c = 0; c < classes; ++c) {
      const auto of_class = scores.data<float>().subspan(
          static_cast<std::size_t>((batch * classes + c) * count), static_cast<std::size_t>(count));
      for (const std::int64_t box : select(corners, of_class, options))
        found.insert(found.end(), {batch, c, box});
    }
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kInt64,
                                             {static_cast<std::int64_t>(found.size()) / 3, 3}));
  std::ranges::copy(found, out.mutable_data<std::int64_t>().begin());
  return {};
}

Result<void> infer_non_max_suppression(InferContext& context) {
  context.set_output(0, DType::kInt64, {context.fresh_dim(), 3});
  return {};
}

}  // namespace

OpDefs non_max_suppression_ops() {
  return {{.name = "NonMaxSuppression",
           .since = 10,
           .inputs = {2, 5},
           .infer = infer_non_max_suppression,
           .eval = eval_non_max_suppression}};
}

}  // namespace trivet::ops

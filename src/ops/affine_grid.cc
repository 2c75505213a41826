// AffineGrid: the places, in [−1, 1] along each axis, that an affine map gives to the pixels of an
// image.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// Normalized centre of pixel i of n; with align_corners the outer pixels lie at −1 and 1.
double pixel_place(std::int64_t i, std::int64_t n, bool align_corners) {
  const auto x = static_cast<double>(i);
  const auto size = static_cast<double>(n);
  if (!align_corners) return (2 * x + 1) / size - 1;
  return n == 1 ? -1.0 : 2 * x / (size - 1) - 1;
}

Result<void> eval_affine_grid(EvalContext& context) {
  const Tensor& theta = context.input(0);
  TRIVET_ASSIGN(const auto size, ints_input(context, 1, "size"));
  const std::size_t rank = size.size() < 2 ? 0 : size.size() - 2;  // axes of the image
  const auto axes = static_cast<std::int64_t>(rank);
  if ((rank != 2 && rank != 3) || theta.shape() != Shape{size[0], axes, axes + 1}) {
    return invalid_argument("'size' must be N, C and 2 or 3 sizes, and theta one matrix of ", axes,
                            "x", axes + 1, " per batch; found theta ",
                            shape_to_string(theta.shape()));
  }
  const bool align_corners = context.attributes().int_or("align_corners", 0) != 0;
  const Shape image(size.begin() + 2, size.end());
  Shape shape = {size[0]};
  shape.insert(shape.end(), image.begin(), image.end());
  shape.push_back(axes);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, theta.dtype(), shape));
  std::vector<double> matrix(static_cast<std::size_t>(theta.size()));
  load_elements(theta, 0, theta.size(), matrix.data());
  const std::int64_t pixels = element_count(image);
  StridedWalk walk(image, {});
  std::vector<double> row(rank);
  for (std::int64_t p = 0; p < size[0] * pixels; ++p, walk.next()) {
    const double* batch = matrix.data() + p / pixels * axes * (axes + 1);
    for (std::size_t r = 0; r < rank; ++r) {
      row[r] = batch[r * (rank + 1) + rank];
      for (std::size_t c = 0; c < rank; ++c) {  // x is the last axis of the image
        const std::size_t axis = rank - 1 - c;
        row[r] +=
            batch[r * (rank + 1) + c] * pixel_place(walk.index()[axis], image[axis], align_corners);
      }
    }
    store_elements(out, p * axes, axes, row.data());
  }
  return {};
}

Result<void> infer_affine_grid(InferContext& context) {
  const auto size = context.elements(1);
  if (!size || size->size() < 3) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  SymbolicShape out = {(*size)[0]};
  out.insert(out.end(), size->begin() + 2, size->end());
  out.emplace_back(static_cast<std::int64_t>(size->size()) - 2);
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs affine_grid_ops() {
  return {{.name = "AffineGrid",
           .since = 20,
           .inputs = {2, 2},
           .infer = infer_affine_grid,
           .eval = eval_affine_grid}};
}

}  // namespace trivet::ops

#include "ops/support/quantization.h"

#include "base/math.h"
#include "ops/support/axis.h"

namespace trivet::ops {
namespace {

Result<QuantizationLayout> blocked(const Tensor& x, const Tensor& scale, std::size_t axis,
                                   std::int64_t block_size) {
  Shape expected = x.shape();
  expected[axis] = ceil_div(expected[axis], block_size);
  if (scale.shape() != expected) {
    return invalid_argument("the scale has shape ", shape_to_string(scale.shape()),
                            "; with blocks of ", block_size, " along axis ", axis, " of ",
                            shape_to_string(x.shape()), " it must be ", shape_to_string(expected));
  }
  const AxisView view = axis_view(x.shape(), axis);
  return QuantizationLayout{view.outer, view.length, view.inner, expected[axis] * view.inner,
                            block_size, view.inner,  true};
}

}  // namespace

Result<QuantizationLayout> quantization_layout(const Attributes& attributes, const Tensor& x,
                                               const Tensor& scale, const Tensor* zero_point) {
  if (zero_point != nullptr && zero_point->shape() != scale.shape() &&
      !(zero_point->size() == 1 && scale.size() == 1)) {
    return invalid_argument("the zero point has shape ", shape_to_string(zero_point->shape()),
                            ", the scale ", shape_to_string(scale.shape()),
                            "; they must be the same");
  }
  const std::int64_t block_size = attributes.int_or("block_size", 0);
  if (block_size < 0)
    return invalid_model("block_size is ", block_size, "; it must not be negative");
  const bool single = scale.size() == 1 && scale.rank() <= 1;
  if (single && (block_size == 0 || scale.rank() == 0))
    return QuantizationLayout{.inner = x.size()};
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(attributes.int_or("axis", 1), x.shape().size()));
  if (block_size > 0) return blocked(x, scale, axis, block_size);
  if (scale.rank() != 1 || scale.dim(0) != x.shape()[axis]) {
    return invalid_argument("the scale has shape ", shape_to_string(scale.shape()), "; for axis ",
                            axis, " of ", shape_to_string(x.shape()),
                            " it must be a scalar or a vector of ", x.shape()[axis]);
  }
  const AxisView view = axis_view(x.shape(), axis);
  return QuantizationLayout{view.outer, view.length, view.inner, 0, 1, 1, false};
}

}  // namespace trivet::ops

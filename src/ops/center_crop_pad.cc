// CenterCropPad: crops or pads with zeros around the centre to the given size.
#include <algorithm>
#include <numeric>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

Result<std::vector<std::size_t>> resized_axes(const Attributes& attributes, std::size_t rank,
                                              std::size_t sizes) {
  std::vector<std::int64_t> axes = attributes.ints("axes");
  if (!attributes.has("axes")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  if (axes.size() != sizes)
    return invalid_argument("'shape' has ", sizes, " sizes for ", axes.size(), " axes");
  return normalize_axes(axes, rank);
}

Result<void> eval_center_crop_pad(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const auto sizes, ints_input(context, 1, "shape"));
  TRIVET_ASSIGN(const auto axes,
                resized_axes(context.attributes(), data.shape().size(), sizes.size()));
  Shape shape = data.shape();
  for (std::size_t k = 0; k < axes.size(); ++k) shape[axes[k]] = sizes[k];
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  fill_zero(out);
  Strided source{0, strides_of(data.shape())};
  Strided target{0, strides_of(shape)};
  Shape extents = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t surplus = data.shape()[i] - shape[i];
    extents[i] = std::min(shape[i], data.shape()[i]);
    if (surplus > 0) source.offset += surplus / 2 * source.strides[i];
    if (surplus < 0) target.offset += -surplus / 2 * target.strides[i];
  }
  copy_strided(data, source, out, target, extents);
  return {};
}

Result<void> infer_center_crop_pad(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const auto sizes = context.elements(1);
  if (!sizes) {
    context.set_output_rank(0, context.dtype(0), shape->size());
    return {};
  }
  TRIVET_ASSIGN(const auto axes, resized_axes(context.attributes(), shape->size(), sizes->size()));
  SymbolicShape out = *shape;
  for (std::size_t k = 0; k < axes.size(); ++k) out[axes[k]] = (*sizes)[k];
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs center_crop_pad_ops() {
  return {{.name = "CenterCropPad",
           .since = 18,
           .inputs = {2, 2},
           .infer = infer_center_crop_pad,
           .eval = eval_center_crop_pad}};
}

}  // namespace trivet::ops

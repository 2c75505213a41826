// ArrayFeatureExtractor (ai.onnx.ml): picks elements along the last axis. A vector gives a matrix
// of one row.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

Result<void> eval_array_feature_extractor(EvalContext& context) {
  const Tensor& data = context.input(0);
  if (data.rank() == 0 || !is_integer(context.input(1).dtype())) {
    return invalid_argument("the data must have an axis, and the indices must be integers");
  }
  std::vector<std::int64_t> places = elements_as_int64(context.input(1));
  const std::int64_t size = data.shape().back();
  for (std::int64_t& place : places) {
    TRIVET_ASSIGN(place, normalize_index(place, size));
  }
  Shape shape = data.rank() == 1 ? Shape{1, 0} : data.shape();
  shape.back() = static_cast<std::int64_t>(places.size());
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  const std::int64_t rows = product(shape, 0, shape.size() - 1);
  std::int64_t to = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t place : places) copy_run(data, row * size + place, out, to++, 1);
  }
  return {};
}

Result<void> infer_array_feature_extractor(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr || shape->empty()) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  SymbolicShape out = shape->size() == 1 ? SymbolicShape{1, 0} : *shape;
  out.back() = context.shape(1) == nullptr ? Dim::unknown() : element_count(*context.shape(1));
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs array_feature_extractor_ops() {
  return {{.name = "ArrayFeatureExtractor",
           .domain = "ai.onnx.ml",
           .inputs = {2, 2},
           .infer = infer_array_feature_extractor,
           .eval = eval_array_feature_extractor}};
}

}  // namespace trivet::ops

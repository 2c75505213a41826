// ai.onnx.ml Binarizer: 1 above a threshold, 0 elsewhere.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

struct Above {
  float threshold;
  template <class T>
  T operator()(T x) const {
    return static_cast<double>(x) > static_cast<double>(threshold) ? T{1} : T{0};
  }
};

Result<void> eval_binarizer(EvalContext& context) {
  const Above op{context.attributes().float_or("threshold", 0.0f)};
  return map_unary(context, number_rows<Above>(), &op);
}

}  // namespace

OpDefs binarizer_ops() {
  return {{.name = "Binarizer",
           .domain = "ai.onnx.ml",
           .infer = infer_like_first,
           .eval = eval_binarizer}};
}

}  // namespace trivet::ops

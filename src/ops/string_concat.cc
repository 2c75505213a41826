// StringConcat: strings joined element by element, with broadcasting.
#include <array>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"

namespace trivet::ops {
namespace {

Result<void> eval_string_concat(EvalContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  if (a.dtype() != DType::kString || b.dtype() != DType::kString)
    return invalid_argument("the inputs must be strings");
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{a.shape(), b.shape()}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kString, shape));
  StridedWalk walk(shape,
                   {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
  for (std::string& text : out.mutable_data<std::string>()) {
    text = a.data<std::string>()[static_cast<std::size_t>(walk.offset(0))] +
           b.data<std::string>()[static_cast<std::size_t>(walk.offset(1))];
    walk.next();
  }
  return {};
}

}  // namespace

OpDefs string_concat_ops() {
  return {{.name = "StringConcat",
           .since = 20,
           .inputs = {2, 2},
           .infer = infer_broadcast,
           .eval = eval_string_concat}};
}

}  // namespace trivet::ops

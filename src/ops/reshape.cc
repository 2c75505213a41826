// Reshape: the same elements under another shape; 0 keeps a size, −1 takes what is left.
#include <algorithm>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

/// The size that −1 stands for. Equal factors on both sides are cancelled before dividing, so that
/// sizes of which nothing is known, or which are sums, do not stand in the way.
Result<Dim> solve(SymbolicShape from, const SymbolicShape& to) {
  Dim rest = 1;
  for (const Dim& d : to) {
    const auto same = std::ranges::find(from, d);
    if (same != from.end()) {
      from.erase(same);
    } else {
      rest = rest * d;
    }
  }
  const Dim total = element_count(from);
  if (rest.equals(1)) return total;
  const Dim size = floor_div(total, rest);
  if (total.is_constant() && rest.is_constant() && !(size * rest == total && !rest.equals(0))) {
    return invalid_argument("the -1 in the new shape has no solution: ", total.to_string(),
                            " elements do not divide into ", rest.to_string());
  }
  return size;
}

/// The new shape. `from` is null while the shape of the input is not known.
Result<SymbolicShape> target_shape(const SymbolicShape* from, const SymbolicShape& wanted,
                                   bool allow_zero) {
  SymbolicShape out;
  SymbolicShape others;  // all but the -1 and the axes that are kept
  SymbolicShape rest = from == nullptr ? SymbolicShape{} : *from;  // the sizes not kept
  std::optional<std::size_t> open;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Dim& d = wanted[i];
    if (d.equals(-1)) {
      if (open)
        return invalid_argument("the new shape ", shape_to_string(wanted), " has more than one -1");
      open = i;
      out.push_back(Dim::unknown());
    } else if (d.equals(0) && !allow_zero) {
      if (from != nullptr && i >= from->size()) {
        return invalid_argument("the new shape has a 0 at axis ", i, ", but the input has only ",
                                from->size(), " axes to copy a size from");
      }
      out.push_back(from == nullptr ? Dim::unknown() : (*from)[i]);
      kept.push_back(i);
    } else if (d.is_constant() && d.value() < 0) {
      return invalid_argument("the new shape ", shape_to_string(wanted), " has a negative size");
    } else {
      out.push_back(d);
      others.push_back(d);
    }
  }
  if (from == nullptr) return out;
  for (const std::size_t i : kept) rest[i] = 1;
  if (open) {
    TRIVET_ASSIGN(out[*open], solve(std::move(rest), others));
    return out;
  }
  const Dim before = element_count(*from);
  const auto shape = constant_shape(out);
  if (!before.is_constant() || !shape) return out;
  const auto after = checked_product(*shape);
  if (after != before.value()) {
    return invalid_argument("shape ", shape_to_string(*from), " has ", before.to_string(),
                            " elements and cannot become ", shape_to_string(out), " with ",
                            after ? std::to_string(*after) : "more than 2^63");
  }
  return out;
}

Result<void> eval_reshape(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const auto wanted, ints_input(context, 1, "shape"));
  const bool allow_zero = context.attributes().int_or("allowzero", 0) != 0;
  const SymbolicShape from(data.shape().begin(), data.shape().end());
  TRIVET_ASSIGN(const SymbolicShape to,
                target_shape(&from, SymbolicShape(wanted.begin(), wanted.end()), allow_zero));
  const auto shape = constant_shape(to);
  if (!shape) {  // the sizes beside a -1 overflow
    return invalid_argument("shape ", shape_to_string(data.shape()), " cannot become ",
                            shape_to_string(to), ", which has another number of elements");
  }
  context.set_output(0, data.reshaped(*shape));
  return {};
}

Result<void> infer_reshape(InferContext& context) {
  const auto wanted = context.elements(1);
  if (!wanted) {
    const SymbolicShape* length = context.shape(1);
    if (length != nullptr && length->size() == 1 && length->front().is_constant()) {
      const std::int64_t rank = length->front().value();
      if (rank < 0 || rank > 1024) return invalid_argument("a new shape of ", rank, " axes");
      context.set_output_rank(0, context.dtype(0), static_cast<std::size_t>(rank));
    } else {
      context.set_output(0, context.dtype(0));
    }
    return {};
  }
  const bool allow_zero = context.attributes().int_or("allowzero", 0) != 0;
  TRIVET_ASSIGN(SymbolicShape out, target_shape(context.shape(0), *wanted, allow_zero));
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_reshape, {0});
}

}  // namespace

OpDefs reshape_ops() {
  return {{.name = "Reshape",
           .since = 5,
           .inputs = {2, 2},
           .infer = infer_reshape,
           .eval = eval_reshape}};
}

}  // namespace trivet::ops

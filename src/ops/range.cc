// Range: start, start + delta, … up to but without limit.
#include <cmath>
#include <limits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

/// max(⌈(limit − start) / delta⌉, 0)
Dim length_of(const Dim& start, const Dim& limit, const Dim& delta) {
  if (!delta.is_constant() || delta.equals(0)) return Dim::unknown();
  const bool down = delta.value() < 0;
  const Dim span = down ? start - limit : limit - start;
  const Dim steps = ceil_div(span, down ? Dim(0) - delta : delta);
  return is_non_negative(span) ? steps : max(steps, 0);
}

Result<void> infer_range(InferContext& context) {
  for (const std::size_t i : {1, 2}) TRIVET_TRY(require_same_dtype(context, 0, i));
  const auto start = context.elements(0);
  const auto limit = context.elements(1);
  const auto delta = context.elements(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1) {
    context.set_output_rank(0, context.dtype(0), 1);
    return {};
  }
  const Dim length = length_of(start->front(), limit->front(), delta->front());
  context.set_output(0, context.dtype(0), {length});
  if (length.is_constant() && length.value() <= 1024) {
    SymbolicShape elements;
    for (std::int64_t i = 0; i < length.value(); ++i) {
      elements.push_back(start->front() + Dim(i) * delta->front());
    }
    context.set_output_elements(0, std::move(elements));
  }
  return {};
}

/// The number of elements; of integers exactly, whatever their distance.
template <class C>
Result<std::int64_t> count_of(C start, C limit, C delta) {
  if (delta == 0) return invalid_argument("delta is 0; it must not be");
  if constexpr (std::is_integral_v<C>) {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    const auto first = static_cast<std::uint64_t>(start);
    const auto last = static_cast<std::uint64_t>(limit);
    const std::uint64_t span = delta > 0 ? last - first : first - last;
    const std::uint64_t step =
        delta > 0 ? static_cast<std::uint64_t>(delta) : -static_cast<std::uint64_t>(delta);
    const std::uint64_t count = (span - 1) / step + 1;
    if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return fail(ErrorCode::kOutOfMemory, "the range has too many elements");
    }
    return static_cast<std::int64_t>(count);
  } else {
    const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta));
    if (std::isnan(count)) return invalid_argument("start, limit and delta must be finite");
    if (count > 0x1p62) return fail(ErrorCode::kOutOfMemory, "the range has too many elements");
    return count > 0 ? static_cast<std::int64_t>(count) : 0;
  }
}

Result<void> eval_range(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  for (const std::size_t i : {0, 1, 2}) {
    if (context.input(i).size() != 1 || context.input(i).dtype() != dtype) {
      return invalid_argument("start, limit and delta must be scalars of one type; input ", i,
                              " is ", dtype_name(context.input(i).dtype()), " ",
                              shape_to_string(context.input(i).shape()));
    }
  }
  return dispatch_compute(dtype, [&]<class Loaded>() -> Result<void> {
    // Multiples of a float delta are rounded once, in double.
    using C = std::conditional_t<std::is_floating_point_v<Loaded>, double, Loaded>;
    C values[3];
    for (const std::size_t i : {0, 1, 2}) load_elements(context.input(i), 0, 1, &values[i]);
    TRIVET_ASSIGN(const std::int64_t count, count_of(values[0], values[1], values[2]));
    TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, {count}));
    for (std::int64_t i = 0; i < count; ++i) {
      C element;
      if constexpr (std::is_integral_v<C>) {
        element =
            static_cast<C>(static_cast<std::uint64_t>(values[0]) +
                           static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(values[2]));
      } else {
        element = values[0] + static_cast<C>(i) * values[2];
      }
      store_elements(out, i, 1, &element);
    }
    return {};
  });
}

}  // namespace

OpDefs range_ops() {
  return {
      {.name = "Range", .since = 11, .inputs = {3, 3}, .infer = infer_range, .eval = eval_range}};
}

}  // namespace trivet::ops

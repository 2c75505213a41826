#include "ops/support/scatter.h"

#include <algorithm>
#include <type_traits>

#include "ops/support/copy.h"
#include "ops/support/dispatch.h"

namespace trivet::ops {
namespace {

/// Integers wrap around, which in C++ only unsigned ones may.
template <class C, class Function>
C wrapping(C a, C b, Function function) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<std::common_type_t<C, int>>;
    return static_cast<C>(function(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return function(a, b);
  }
}

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Min {
  template <class C>
  C operator()(C a, C b) const {
    return std::min(a, b);
  }
};
struct Max {
  template <class C>
  C operator()(C a, C b) const {
    return std::max(a, b);
  }
};

template <class T, class Reduction>
void reduce_run(const Tensor& updates, std::int64_t from, Tensor& out, std::int64_t to,
                std::int64_t count) {
  const T* source = updates.data<T>().data() + from;
  T* target = out.mutable_data<T>().data() + to;
  for (std::int64_t i = 0; i < count; ++i) {
    target[i] = static_cast<T>(
        Reduction()(static_cast<Compute<T>>(target[i]), static_cast<Compute<T>>(source[i])));
  }
}

}  // namespace

Result<ScatterRun> scatter_run(std::string_view reduction, DType dtype) {
  if (reduction == "none") return copy_run;
  ScatterRun run = nullptr;
  TRIVET_TRY(dispatch(Numbers{}, dtype, [&]<class T>() {
    if (reduction == "add") run = reduce_run<T, Add>;
    if (reduction == "mul") run = reduce_run<T, Mul>;
    if (reduction == "min") run = reduce_run<T, Min>;
    if (reduction == "max") run = reduce_run<T, Max>;
  }));
  if (run == nullptr) {
    return invalid_model("attribute 'reduction' is '", reduction,
                         "'; it must be none, add, mul, min or max");
  }
  return run;
}

}  // namespace trivet::ops

#include "ops/support/elementwise.h"

#include <algorithm>
#include <array>

#include "ops/support/broadcast.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// A run of an operand as C: in its own memory where that holds C, otherwise copied to a buffer.
template <class C>
class Reader {
 public:
  explicit Reader(const Tensor& tensor) : tensor_(tensor), direct_(tensor.dtype() == kDTypeOf<C>) {}

  const C* read(std::int64_t offset, std::int64_t count) {
    if (direct_) return static_cast<const C*>(tensor_.raw()) + offset;
    load_elements(tensor_, offset, count, buffer_.data());
    return buffer_.data();
  }
  [[nodiscard]] bool direct() const { return direct_; }

 private:
  const Tensor& tensor_;
  bool direct_;
  std::array<C, kChunk> buffer_;
};

/// The counterpart: memory to compute a run of the output in.
template <class R>
class Writer {
 public:
  explicit Writer(Tensor& tensor)
      : tensor_(tensor),
        direct_(tensor.dtype() == kDTypeOf<R> ||
                (std::is_same_v<R, std::uint8_t> && tensor.dtype() == DType::kBool)) {}

  R* open(std::int64_t offset) {
    return direct_ ? static_cast<R*>(tensor_.mutable_raw()) + offset : buffer_.data();
  }
  void close(std::int64_t offset, std::int64_t count) {
    if constexpr (!std::is_same_v<R, std::uint8_t>) {
      if (!direct_) store_elements(tensor_, offset, count, buffer_.data());
    }
  }
  [[nodiscard]] bool direct() const { return direct_; }

 private:
  Tensor& tensor_;
  bool direct_;
  std::array<R, kChunk> buffer_;
};

template <class C>
Result<void> map_run(const Tensor& x, Tensor& y, UnaryRow<C> row, const void* op) {
  if (row == nullptr) {
    return unsupported("element type ", dtype_name(x.dtype()),
                       " is not one that this operator takes");
  }
  Reader<C> reader(x);
  Writer<C> writer(y);
  const std::int64_t step =
      reader.direct() && writer.direct() ? std::max<std::int64_t>(x.size(), 1) : kChunk;
  for (std::int64_t at = 0; at < x.size(); at += step) {
    const std::int64_t n = std::min(step, x.size() - at);
    row(op, reader.read(at, n), writer.open(at), n);
    writer.close(at, n);
  }
  return {};
}

}  // namespace

RowWalk::RowWalk(const Shape& shape, const std::vector<std::vector<std::int64_t>>& strides)
    : steps_(strides.size(), 0), offsets_(strides.size(), 0) {
  const std::int64_t total = element_count(shape);
  const auto strides_at = [&](std::size_t axis) {
    std::vector<std::int64_t> out;
    for (const auto& operand : strides) out.push_back(operand[axis]);
    return out;
  };
  // From the innermost axis outwards: an axis joins the one inside it when each operand's stride is
  // what it would be if both were one axis.
  Shape dims;
  std::vector<std::vector<std::int64_t>> merged;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    std::vector<std::int64_t> own = strides_at(axis);
    bool joins = !dims.empty();
    for (std::size_t k = 0; joins && k < own.size(); ++k)
      joins = own[k] == merged.back()[k] * dims.back();
    if (joins) {
      dims.back() *= shape[axis];
    } else {
      dims.push_back(shape[axis]);
      merged.push_back(std::move(own));
    }
  }
  if (!dims.empty()) {
    length_ = dims.front();
    steps_ = merged.front();
    outer_.assign(dims.rbegin(), dims.rend() - 1);
    outer_strides_.assign(merged.rbegin(), merged.rend() - 1);
  }
  index_.assign(outer_.size(), 0);
  rows_ = total == 0 ? 0 : total / length_;
}

void RowWalk::next() {
  for (std::size_t axis = outer_.size(); axis-- > 0;) {
    const bool wraps = ++index_[axis] == outer_[axis];
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      const std::int64_t stride = outer_strides_[axis][k];
      offsets_[k] += wraps ? -stride * (outer_[axis] - 1) : stride;
    }
    if (!wraps) return;
    index_[axis] = 0;
  }
}

Result<void> map_unary(EvalContext& context, const UnaryRows& rows, const void* op) {
  const Tensor& x = context.input(0);
  TRIVET_ASSIGN(Tensor y, context.allocate(0, x.dtype(), x.shape()));
  return dispatch_compute(x.dtype(), [&]<class C>() {
    if constexpr (std::is_same_v<C, float>) return map_run(x, y, rows.f32, op);
    if constexpr (std::is_same_v<C, double>) return map_run(x, y, rows.f64, op);
    if constexpr (std::is_same_v<C, std::int64_t>) return map_run(x, y, rows.i64, op);
    if constexpr (std::is_same_v<C, std::uint64_t>) return map_run(x, y, rows.u64, op);
  });
}

template <class C, class R>
void map_binary(const Tensor& x, const Tensor& y, Tensor& z, BinaryRow<C, R> row, const void* op) {
  Reader<C> x_reader(x);
  Reader<C> y_reader(y);
  Writer<R> writer(z);
  const bool direct = x_reader.direct() && y_reader.direct() && writer.direct();
  RowWalk walk(z.shape(),
               {broadcast_strides(x.shape(), z.shape()), broadcast_strides(y.shape(), z.shape())});
  walk.run([&](const Row& run) {
    const bool x_repeats = run.steps[0] == 0;
    const bool y_repeats = run.steps[1] == 0;
    const std::int64_t step = direct ? run.length : kChunk;
    for (std::int64_t at = 0; at < run.length; at += step) {
      const std::int64_t n = std::min(step, run.length - at);
      const C* a = x_reader.read(run.offsets[0] + at * run.steps[0], x_repeats ? 1 : n);
      const C* b = y_reader.read(run.offsets[1] + at * run.steps[1], y_repeats ? 1 : n);
      R* out = writer.open(run.start + at);
      if (x_repeats && y_repeats) {  // the same result throughout
        row(op, a, true, b, false, out, 1);
        std::fill(out + 1, out + n, out[0]);
      } else {
        row(op, a, x_repeats, b, y_repeats, out, n);
      }
      writer.close(run.start + at, n);
    }
  });
}

template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<float, float>,
                         const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<double, double>,
                         const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&,
                         BinaryRow<std::int64_t, std::int64_t>, const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&,
                         BinaryRow<std::uint64_t, std::uint64_t>, const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<float, std::uint8_t>,
                         const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<double, std::uint8_t>,
                         const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&,
                         BinaryRow<std::int64_t, std::uint8_t>, const void*);
template void map_binary(const Tensor&, const Tensor&, Tensor&,
                         BinaryRow<std::uint64_t, std::uint8_t>, const void*);

template <bool kBool>
Result<void> map_binary(const Tensor& x, const Tensor& y, Tensor& z, const BinaryRows<kBool>& rows,
                        const void* op) {
  const auto with = [&](auto row) -> Result<void> {
    if (row == nullptr) {
      return unsupported("element type ", dtype_name(x.dtype()),
                         " is not one that this operator takes");
    }
    map_binary(x, y, z, row, op);
    return {};
  };
  return dispatch_compute(x.dtype(), [&]<class C>() {
    if constexpr (std::is_same_v<C, float>) return with(rows.f32);
    if constexpr (std::is_same_v<C, double>) return with(rows.f64);
    if constexpr (std::is_same_v<C, std::int64_t>) return with(rows.i64);
    if constexpr (std::is_same_v<C, std::uint64_t>) return with(rows.u64);
  });
}

template Result<void> map_binary(const Tensor&, const Tensor&, Tensor&, const BinaryRows<true>&,
                                 const void*);
template Result<void> map_binary(const Tensor&, const Tensor&, Tensor&, const BinaryRows<false>&,
                                 const void*);

template <bool kBool>
Result<void> map_binary(EvalContext& context, const BinaryRows<kBool>& rows, const void* op) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  if (x.dtype() != y.dtype()) {
    return invalid_argument("inputs of type ", dtype_name(x.dtype()), " and ",
                            dtype_name(y.dtype()), "; both must have the same type");
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{x.shape(), y.shape()}));
  TRIVET_ASSIGN(Tensor z, context.allocate(0, kBool ? DType::kBool : x.dtype(), shape));
  return map_binary(x, y, z, rows, op);
}

template Result<void> map_binary(EvalContext&, const BinaryRows<true>&, const void*);
template Result<void> map_binary(EvalContext&, const BinaryRows<false>&, const void*);

Result<void> require_same_dtype(const InferContext& context, std::size_t a, std::size_t b) {
  const DType x = context.dtype(a);
  const DType y = context.dtype(b);
  if (x == y || x == DType::kUndefined || y == DType::kUndefined) return {};
  return invalid_model("inputs ", a, " and ", b, " have types ", dtype_name(x), " and ",
                       dtype_name(y), "; they must have the same type: add a Cast");
}

bool is_non_negative(const Dim& dim) {
  if (dim.is_constant()) return dim.value() >= 0;
  // Every subtraction, inside the name of a min(...) or floordiv(...) too, shows as a minus.
  return !dim.is_unknown() && dim.to_string().find('-') == std::string::npos;
}

}  // namespace trivet::ops

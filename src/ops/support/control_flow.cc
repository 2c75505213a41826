#include "ops/support/control_flow.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "ops/infer_context.h"

namespace trivet::ops {
namespace {

/// Copies `count` elements; types of less than a byte are not taken.
Result<void> copy_elements(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
                           std::int64_t count) {
  if (from.dtype() == DType::kString) {
    const auto source = from.data<std::string>().subspan(static_cast<std::size_t>(from_at),
                                                         static_cast<std::size_t>(count));
    std::ranges::copy(source, to.mutable_data<std::string>().begin() + to_at);
    return {};
  }
  if (is_sub_byte(from.dtype())) {
    return unsupported("slices of type ", dtype_name(from.dtype()));
  }
  const std::int64_t size = dtype_bits(from.dtype()) / 8;
  if (count == 0) return {};
  std::memcpy(static_cast<char*>(to.mutable_raw()) + to_at * size,
              static_cast<const char*>(from.raw()) + from_at * size,
              static_cast<std::size_t>(count * size));
  return {};
}

}  // namespace

Result<bool> join_types(ValueType& into, const ValueType& other) {
  if (into.kind != other.kind || into.dtype != other.dtype) {
    if (into.dtype == DType::kUndefined || other.dtype == DType::kUndefined) {
      const bool changed = into.dtype != DType::kUndefined || into.shape || into.element;
      into = {};
      return changed;
    }
    return invalid_model("types ", to_string(into), " and ", to_string(other),
                         " meet in one value");
  }
  bool changed = false;
  if (into.element != nullptr && other.element != nullptr) {
    ValueType element = *into.element;
    TRIVET_ASSIGN(changed, join_types(element, *other.element));
    if (changed) into.element = std::make_shared<const ValueType>(std::move(element));
  }
  if (!into.shape) return changed;
  if (!other.shape || other.shape->size() != into.shape->size()) {
    into.shape.reset();
    return true;
  }
  for (std::size_t i = 0; i < into.shape->size(); ++i) {
    Dim& size = (*into.shape)[i];
    if (size.is_unknown() || size == (*other.shape)[i]) continue;
    size = Dim::unknown();
    changed = true;
  }
  return changed;
}

Result<ValueType> with_axis(ValueType type, std::int64_t axis, const Dim& size) {
  if (!type.shape) return type;
  TRIVET_ASSIGN(const std::size_t at, normalize_axis(axis, type.shape->size() + 1));
  type.shape->insert(type.shape->begin() + static_cast<std::ptrdiff_t>(at), size);
  return type;
}

Result<Tensor> take_slice(const Tensor& tensor, std::size_t axis, std::int64_t index) {
  Shape shape = tensor.shape();
  const std::int64_t length = shape[axis];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(tensor.dtype(), shape));
  std::int64_t inner = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t rows = out.size() == 0 ? 0 : out.size() / inner;
  for (std::int64_t row = 0; row < rows; ++row) {
    TRIVET_TRY(copy_elements(tensor, (row * length + index) * inner, out, row * inner, inner));
  }
  return out;
}

Result<void> SliceCollector::append(const Tensor& slice) {
  if (count_ == 0) {
    slice_shape_ = slice.shape();
    memory_ = {};
  } else if (slice.dtype() != memory_.dtype() || slice.shape() != slice_shape_) {
    return invalid_argument("a step gives ", dtype_name(slice.dtype()), " ",
                            shape_to_string(slice.shape()), " after ", dtype_name(memory_.dtype()),
                            " ", shape_to_string(slice_shape_),
                            "; what is collected must keep its shape");
  }
  if (count_ == capacity_) {
    capacity_ = std::max<std::int64_t>(4, 2 * capacity_);
    Shape shape = slice_shape_;
    shape.insert(shape.begin(), capacity_);
    TRIVET_ASSIGN(Tensor larger, Tensor::allocate(slice.dtype(), shape));
    if (count_ > 0) TRIVET_TRY(copy_elements(memory_, 0, larger, 0, count_ * slice.size()));
    memory_ = std::move(larger);
  }
  TRIVET_TRY(copy_elements(slice, 0, memory_, count_ * slice.size(), slice.size()));
  ++count_;
  return {};
}

Result<Tensor> SliceCollector::finish(std::int64_t axis, bool reversed,
                                      const ValueType& type) const {
  if (count_ == 0) {
    TRIVET_ASSIGN(const ValueType empty, with_axis(type, axis, Dim(0)));
    Shape shape = {0};
    if (empty.shape) {
      shape.clear();
      // What is not known of an empty tensor is taken to be empty too.
      for (const Dim& d : *empty.shape) shape.push_back(d.is_constant() ? d.value() : 0);
    }
    return Tensor::allocate(type.dtype, shape);
  }
  TRIVET_ASSIGN(const std::size_t at, normalize_axis(axis, slice_shape_.size() + 1));
  Shape shape = slice_shape_;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), count_);
  if (at == 0 && !reversed) {
    return Tensor::view(memory_.dtype(), std::move(shape), memory_.raw(), memory_.owner());
  }
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(memory_.dtype(), shape));
  std::int64_t inner = 1;
  for (std::size_t i = at; i < slice_shape_.size(); ++i) inner *= slice_shape_[i];
  const std::int64_t slice = element_count(slice_shape_);
  const std::int64_t rows = slice == 0 ? 0 : slice / inner;
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::int64_t source = reversed ? count_ - 1 - i : i;
    for (std::int64_t row = 0; row < rows; ++row) {
      TRIVET_TRY(copy_elements(memory_, source * slice + row * inner, out,
                               (row * count_ + i) * inner, inner));
    }
  }
  return out;
}

}  // namespace trivet::ops

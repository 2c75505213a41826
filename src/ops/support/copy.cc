#include "ops/support/copy.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "ops/support/broadcast.h"

namespace trivet::ops {
namespace {

struct Axis {
  std::int64_t extent;
  std::int64_t from;
  std::int64_t to;
};

/// An element of N bytes of whatever type: made of bytes, so that it may alias any.
template <std::size_t N>
struct alignas(N) Unit {
  unsigned char bytes[N];
};

/// Axes of size 1 dropped, neighbours that form one run on both sides merged.
std::vector<Axis> merged_axes(const Shape& extents, const Strided& source, const Strided& target) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Axis axis{extents[i], source.strides[i], target.strides[i]};
    if (axis.extent == 1) continue;
    if (!axes.empty() && axes.back().from == axis.from * axis.extent &&
        axes.back().to == axis.to * axis.extent) {
      axes.back() = {axes.back().extent * axis.extent, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

bool is_transposition(const Axis& rows, const Axis& columns) {
  return rows.from == 1 && columns.to == 1 && columns.from > 1;
}

/// Where the target runs along the last axis and the source along another, that other one becomes
/// the last but one, so that the pair is copied in tiles.
void pair_for_tiles(std::vector<Axis>& axes) {
  if (axes.size() < 2 || axes.back().to != 1 || axes.back().from <= 1) return;
  const auto rows =
      std::find_if(axes.begin(), axes.end() - 1, [](const Axis& a) { return a.from == 1; });
  if (rows != axes.end() - 1) std::rotate(rows, rows + 1, axes.end() - 1);
}

template <class T>
void copy_line(const T* from, T* to, const Axis& axis) {
  if (axis.from == 1 && axis.to == 1) {
    std::copy_n(from, axis.extent, to);
  } else if (axis.from == 0 && axis.to == 1) {
    std::fill_n(to, axis.extent, *from);
  } else {
    for (std::int64_t i = 0; i < axis.extent; ++i) to[i * axis.to] = from[i * axis.from];
  }
}

/// Reads along rows, writes along columns; a tile of 16 by 16 keeps the cache lines of both alive.
template <class T>
void copy_tiles(const T* from, T* to, const Axis& rows, const Axis& columns) {
  constexpr std::int64_t kTile = 16;
  for (std::int64_t r = 0; r < rows.extent; r += kTile) {
    const std::int64_t last_row = std::min(r + kTile, rows.extent);
    for (std::int64_t c = 0; c < columns.extent; c += kTile) {
      const std::int64_t last_column = std::min(c + kTile, columns.extent);
      for (std::int64_t i = r; i < last_row; ++i) {
        for (std::int64_t j = c; j < last_column; ++j)
          to[i * rows.to + j] = from[i + j * columns.from];
      }
    }
  }
}

template <class T>
void copy_block(const T* from, T* to, std::span<const Axis> axes) {
  if (axes.empty()) {
    *to = *from;
  } else if (axes.size() == 1) {
    copy_line(from, to, axes[0]);
  } else if (axes.size() == 2 && is_transposition(axes[0], axes[1])) {
    copy_tiles(from, to, axes[0], axes[1]);
  } else {
    for (std::int64_t i = 0; i < axes[0].extent; ++i) {
      copy_block(from + i * axes[0].from, to + i * axes[0].to, axes.subspan(1));
    }
  }
}

void copy_packed(const Tensor& from, const Strided& source, Tensor& to, const Strided& target,
                 const Shape& extents) {
  StridedWalk walk(extents, {source.strides, target.strides});
  const std::int64_t count = element_count(extents);
  for (std::int64_t i = 0; i < count; ++i, walk.next()) {
    set_packed_element(to, target.offset + walk.offset(1),
                       packed_element(from, source.offset + walk.offset(0)));
  }
}

using Places = std::vector<std::int64_t>;

/// Writes one after the other; returns where the next one goes.
template <class T>
T* copy_axis_places(const T* from, T* to, std::span<const Places> places,
                    std::span<const std::int64_t> strides) {
  if (places.empty()) {
    *to = *from;
    return to + 1;
  }
  for (const std::int64_t place : places[0]) {
    const T* source = from + place * strides[0];
    if (places.size() == 1) {
      *to++ = *source;
    } else {
      to = copy_axis_places(source, to, places.subspan(1), strides.subspan(1));
    }
  }
  return to;
}

/// Calls function.template operator()<T>() with a type that is copied as elements of `dtype` are.
template <class Function>
void dispatch_copied(DType dtype, const Function& function) {
  if (dtype == DType::kString) return function.template operator()<std::string>();
  switch (dtype_bits(dtype)) {
    case 8: return function.template operator()<Unit<1>>();
    case 16: return function.template operator()<Unit<2>>();
    case 32: return function.template operator()<Unit<4>>();
    case 64: return function.template operator()<Unit<8>>();
    default: return function.template operator()<Unit<16>>();
  }
}

}  // namespace

void copy_strided(const Tensor& from, const Strided& source, Tensor& to, const Strided& target,
                  const Shape& extents) {
  if (std::ranges::any_of(extents, [](std::int64_t d) { return d == 0; })) return;
  if (is_sub_byte(from.dtype())) return copy_packed(from, source, to, target, extents);
  std::vector<Axis> axes = merged_axes(extents, source, target);
  pair_for_tiles(axes);
  dispatch_copied(from.dtype(), [&]<class T>() {
    copy_block(static_cast<const T*>(from.raw()) + source.offset,
               static_cast<T*>(to.mutable_raw()) + target.offset, std::span<const Axis>(axes));
  });
}

void copy_places(const Tensor& from, const std::vector<Places>& places, Tensor& to) {
  if (to.size() == 0) return;
  const auto strides = strides_of(from.shape());
  if (!is_sub_byte(from.dtype())) {
    return dispatch_copied(from.dtype(), [&]<class T>() {
      copy_axis_places(static_cast<const T*>(from.raw()), static_cast<T*>(to.mutable_raw()),
                       std::span<const Places>(places), std::span<const std::int64_t>(strides));
    });
  }
  StridedWalk walk(to.shape(), {});
  for (std::int64_t i = 0; i < to.size(); ++i, walk.next()) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      offset += places[k][static_cast<std::size_t>(walk.index()[k])] * strides[k];
    }
    set_packed_element(to, i, packed_element(from, offset));
  }
}

void copy_run(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
              std::int64_t count) {
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>().begin() + from_at, count,
                to.mutable_data<std::string>().begin() + to_at);
  } else if (is_sub_byte(from.dtype())) {
    for (std::int64_t i = 0; i < count; ++i)
      set_packed_element(to, to_at + i, packed_element(from, from_at + i));
  } else if (count > 0) {
    const std::int64_t width = dtype_bits(from.dtype()) / 8;
    std::memcpy(static_cast<char*>(to.mutable_raw()) + to_at * width,
                static_cast<const char*>(from.raw()) + from_at * width,
                static_cast<std::size_t>(count * width));
  }
}

void fill_zero(Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    for (std::string& text : tensor.mutable_data<std::string>()) text.clear();
  } else if (tensor.bytes() > 0) {
    std::memset(tensor.mutable_raw(), 0, tensor.bytes());
  }
}

void fill(Tensor& tensor, const Tensor& value) {
  copy_strided(value, {0, {0}}, tensor, {0, {1}}, {tensor.size()});
}

}  // namespace trivet::ops

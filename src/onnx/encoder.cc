#include "onnx/encoder.h"

#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <utility>

namespace trivet::onnx {
namespace {

constexpr std::size_t kSmall = 4096;  // a copy of less costs no more than a piece of its own

}  // namespace

void Encoder::integer(std::uint32_t field, std::int64_t value) {
  const std::size_t before = tail_.size();
  protozero::pbf_writer(tail_).add_int64(field, value);
  count_from(before);
}

void Encoder::float32(std::uint32_t field, float value) {
  const std::size_t before = tail_.size();
  protozero::pbf_writer(tail_).add_float(field, value);
  count_from(before);
}

void Encoder::bytes(std::uint32_t field, std::string_view value) {
  header(field, value.size());
  tail_ += value;
  size_ += value.size();
}

void Encoder::text(std::uint32_t field, std::string_view value) {
  if (!value.empty()) bytes(field, value);
}

void Encoder::borrowed_bytes(std::uint32_t field, std::string_view value) {
  if (value.size() <= kSmall) {
    bytes(field, value);
    return;
  }
  header(field, value.size());
  flush_tail();
  pieces_.push_back({{}, value});
  size_ += value.size();
}

void Encoder::message(std::uint32_t field, Encoder inner) {
  header(field, inner.size_);
  if (!inner.pieces_.empty()) {
    flush_tail();
    std::ranges::move(inner.pieces_, std::back_inserter(pieces_));
  }
  tail_ += inner.tail_;
  size_ += inner.size_;
}

void Encoder::header(std::uint32_t field, std::size_t length) {
  const std::size_t before = tail_.size();
  const auto tag = (std::uint64_t{field} << 3u) |
                   static_cast<std::uint64_t>(protozero::pbf_wire_type::length_delimited);
  protozero::write_varint(std::back_inserter(tail_), tag);
  protozero::write_varint(std::back_inserter(tail_), length);
  count_from(before);
}

void Encoder::flush_tail() {
  if (tail_.empty()) return;
  pieces_.push_back({std::move(tail_), {}});
  tail_.clear();
}

}  // namespace trivet::onnx

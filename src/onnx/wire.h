// One protobuf message being read: protozero with every mistake in the bytes turned into an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trivet::onnx {

[[nodiscard]] bool is_utf8(std::string_view text);

/// The whole number of varints in `bytes`; bytes after the last complete one are not counted.
[[nodiscard]] std::size_t count_varints(std::string_view bytes);

/// The next varint of a packed field; `bytes` shrinks by it. Call only while count_varints says
/// that one is left.
[[nodiscard]] std::uint64_t take_varint(std::string_view& bytes);

/// Walks over the fields of one message:
///
///   Message node(bytes, "NodeProto");
///   while (node.next()) {
///     switch (node.field()) {
///       case 1: inputs.push_back(node.text()); break;
///       ...
///     }
///   }
///   TRIVET_TRY(node.status());
///
/// An accessor checks that the field has the encoding which it reads. After the first mistake
/// accessors give empty values, next() gives false, and status() the error, so that only status()
/// need be looked at. A field whose accessor is not called is skipped.
/// Views that it returns point into `bytes`.
class Message {
 public:
  Message(std::string_view bytes, std::string_view type)
      : reader_(bytes.data(), bytes.size()), type_(type) {}

  [[nodiscard]] bool next();
  [[nodiscard]] std::uint32_t field() const { return field_; }

  /// Whether the field is bytes, text, a message or packed numbers.
  [[nodiscard]] bool is_length_delimited() const {
    return reader_.has_wire_type(protozero::pbf_wire_type::length_delimited);
  }

  std::int64_t integer();
  float float32();
  double float64();
  std::string_view bytes();
  /// UTF-8, or an error.
  std::string_view text();
  /// Adds one number, or all of a packed field.
  void append_to(std::vector<std::int64_t>& out);
  void append_to(std::vector<float>& out);
  /// The encoded bytes of a repeated number, packed or a single one.
  std::string_view encoded_varints();
  std::string_view encoded_fixed32();
  std::string_view encoded_fixed64();

  [[nodiscard]] Result<void> status() const;

 private:
  [[nodiscard]] bool expect(protozero::pbf_wire_type type);
  std::string_view encoded_fixed(protozero::pbf_wire_type single, std::size_t width);
  void skip();
  template <class Read>
  auto guarded(const Read& read) -> decltype(read());
  void fail_with(std::string message);

  protozero::pbf_reader reader_;
  std::string_view type_;
  std::uint32_t field_ = 0;
  bool pending_ = false;  ///< the current field has not been read yet
  std::string error_;
};

}  // namespace trivet::onnx

#include "onnx/wire.h"

#include <cstring>

namespace trivet::onnx {
namespace {

using protozero::pbf_wire_type;

std::string_view wire_type_name(pbf_wire_type type) {
  switch (type) {
    case pbf_wire_type::varint: return "a varint";
    case pbf_wire_type::fixed64: return "8 fixed bytes";
    case pbf_wire_type::length_delimited: return "bytes with a length";
    case pbf_wire_type::fixed32: return "4 fixed bytes";
    default: return "an unknown encoding";
  }
}

constexpr bool is_last_of_varint(char c) { return (static_cast<unsigned char>(c) & 0x80u) == 0; }

/// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 when there is none.
std::size_t utf8_sequence(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0u) != 0x80u) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  if ((lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) > 0x9f) ||
      (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) > 0x8f)) {
    return 0;
  }
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t count_varints(std::string_view bytes) {
  std::size_t count = 0;
  for (const char c : bytes) count += is_last_of_varint(c) ? 1 : 0;
  return count;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Bits beyond 64, which only a damaged file has, are dropped.
    if (i < 10) value |= static_cast<std::uint64_t>(bytes[i] & 0x7f) << (7 * i);
    if (is_last_of_varint(bytes[i])) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  bytes = {};
  return value;
}

template <class Read>
auto Message::guarded(const Read& read) -> decltype(read()) {
  pending_ = false;
  try {
    return read();
  } catch (const protozero::exception&) {
    fail_with("the bytes end, or are damaged, inside");
  }
  return {};
}

void Message::fail_with(std::string message) {
  if (!error_.empty()) return;
  error_ = cat(message, " field ", field_, " of a ", type_);
}

bool Message::next() {
  if (pending_) skip();
  if (!error_.empty()) return false;
  const bool more = guarded([this] { return reader_.next(); });
  if (!error_.empty()) error_ = cat("damaged bytes after field ", field_, " of a ", type_);
  if (!error_.empty() || !more) return false;
  field_ = reader_.tag();
  pending_ = true;
  return true;
}

bool Message::expect(pbf_wire_type type) {
  pending_ = false;
  if (!error_.empty()) return false;
  if (reader_.has_wire_type(type)) return true;
  fail_with(cat("expected ", wire_type_name(type), ", found ", wire_type_name(reader_.wire_type()),
                ", as"));
  return false;
}

void Message::skip() {
  if (is_length_delimited()) {
    (void)bytes();
  } else {
    guarded([this] { return reader_.skip(), true; });
  }
}

std::int64_t Message::integer() {
  if (!expect(pbf_wire_type::varint)) return 0;
  return guarded([this] { return reader_.get_int64(); });
}

float Message::float32() {
  if (!expect(pbf_wire_type::fixed32)) return 0;
  return guarded([this] { return reader_.get_float(); });
}

double Message::float64() {
  if (!expect(pbf_wire_type::fixed64)) return 0;
  return guarded([this] { return reader_.get_double(); });
}

std::string_view Message::bytes() {
  if (!expect(pbf_wire_type::length_delimited)) return {};
  return guarded([this]() -> std::string_view {
    // protozero cuts a length to 32 bits; a longer one is read here first.
    const std::string_view rest(reader_.data().data(), reader_.data().size());
    const char* position = rest.data();
    const std::uint64_t length = protozero::decode_varint(&position, rest.data() + rest.size());
    if (length > static_cast<std::uint64_t>(rest.data() + rest.size() - position)) {
      fail_with(cat("the file ends before the ", length, " bytes of"));
      return {};
    }
    if (length > UINT32_MAX) {
      fail_with("more than 4 GB in");
      return {};
    }
    const protozero::data_view view = reader_.get_view();
    return {view.data(), view.size()};
  });
}

std::string_view Message::text() {
  const std::string_view out = bytes();
  if (is_utf8(out)) return out;
  fail_with("text that is not UTF-8 in");
  return {};
}

void Message::append_to(std::vector<std::int64_t>& out) {
  if (!is_length_delimited()) {
    const std::int64_t value = integer();
    if (error_.empty()) out.push_back(value);
    return;
  }
  std::string_view packed = encoded_varints();
  for (std::size_t n = count_varints(packed); n > 0; --n) {
    out.push_back(static_cast<std::int64_t>(take_varint(packed)));
  }
}

void Message::append_to(std::vector<float>& out) {
  const std::string_view encoded = encoded_fixed32();
  const std::size_t before = out.size();
  out.resize(before + encoded.size() / sizeof(float));
  if (!encoded.empty()) std::memcpy(out.data() + before, encoded.data(), encoded.size());
}

std::string_view Message::encoded_varints() {
  if (is_length_delimited()) {
    const std::string_view packed = bytes();
    if (!packed.empty() && !is_last_of_varint(packed.back())) {
      fail_with("the last number is cut off in");
      return {};
    }
    return packed;
  }
  if (!expect(pbf_wire_type::varint)) return {};
  return guarded([this]() -> std::string_view {
    const char* start = reader_.data().data();
    reader_.skip();
    return {start, static_cast<std::size_t>(reader_.data().data() - start)};
  });
}

std::string_view Message::encoded_fixed32() {
  return encoded_fixed(pbf_wire_type::fixed32, sizeof(std::uint32_t));
}

std::string_view Message::encoded_fixed64() {
  return encoded_fixed(pbf_wire_type::fixed64, sizeof(std::uint64_t));
}

std::string_view Message::encoded_fixed(pbf_wire_type single, std::size_t width) {
  if (is_length_delimited()) {
    const std::string_view packed = bytes();
    if (packed.size() % width != 0) {
      fail_with("the last number is cut off in");
      return {};
    }
    return packed;
  }
  if (!expect(single)) return {};
  return guarded([this, width]() -> std::string_view {
    const char* start = reader_.data().data();
    reader_.skip();
    return {start, width};
  });
}

Result<void> Message::status() const {
  if (error_.empty()) return {};
  return invalid_model(error_);
}

}  // namespace trivet::onnx

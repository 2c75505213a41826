#include "io/npy_header.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace trivet {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 64;  // of numpy

/// Reads the few forms of Python's notation that the header has.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<void> parse(NpyHeader& out) {
    bool seen[3] = {};
    if (!take('{')) return bad("a '{'");
    while (!take('}')) {
      TRIVET_ASSIGN(const std::string_view key, string());
      if (!take(':')) return bad("a ':'");
      TRIVET_TRY(value(key, out, seen));
      if (!take(',') && !peek('}')) return bad("a ',' or '}'");
    }
    if (seen[0] && seen[1] && seen[2]) return {};
    return invalid_argument("the .npy header lacks one of descr, fortran_order and shape");
  }

 private:
  Result<void> value(std::string_view key, NpyHeader& out, bool (&seen)[3]) {
    if (key == "descr") {
      seen[0] = true;
      return descr(out);
    }
    if (key == "fortran_order") {
      seen[1] = true;
      out.fortran_order = take_word("True");
      return out.fortran_order || take_word("False") ? Result<void>{} : bad("True or False");
    }
    if (key == "shape") {
      seen[2] = true;
      return shape(out.shape);
    }
    return invalid_argument("the .npy header has the unknown key '", key, "'");
  }

  Result<void> shape(Shape& out) {
    out.clear();
    if (!take('(')) return bad("a '('");
    while (!take(')')) {
      std::int64_t d = 0;
      skip_blanks();
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), d);
      if (error != std::errc() || d < 0 || out.size() == kMaxRank) return bad("a dimension");
      at_ += static_cast<std::size_t>(end - begin);
      take_word("L");  // as Python 2 wrote long numbers
      out.push_back(d);
      if (!take(',') && !peek(')')) return bad("a ',' or ')'");
    }
    return {};
  }

  /// '<f4': byte order, kind, bytes (for U: code points).
  Result<void> descr(NpyHeader& out) {
    if (peek('['))
      return unsupported(".npy files with structured elements cannot be read; save one field");
    TRIVET_ASSIGN(const std::string_view text, string());
    const auto unknown = [&] {
      return unsupported("arrays of numpy type '", text,
                         "' cannot be read; convert with array.astype()");
    };
    if (text == "?") return set_type(out, 'b', 1) ? Result<void>{} : unknown();
    if (text.size() < 2 || std::string_view("<>|=").find(text[0]) == std::string_view::npos)
      return unknown();
    std::uint32_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), size);
    if (error != std::errc() || end != text.data() + text.size()) return unknown();
    out.big_endian = text[0] == '>';
    return set_type(out, text[1], size) ? Result<void>{} : unknown();
  }

  static bool set_type(NpyHeader& out, char kind, std::size_t size) {
    struct Known {
      char kind;
      std::size_t size;
      DType dtype;
    };
    static constexpr std::array kKnown = {
        Known{'b', 1, DType::kBool},      Known{'i', 1, DType::kInt8},
        Known{'i', 2, DType::kInt16},     Known{'i', 4, DType::kInt32},
        Known{'i', 8, DType::kInt64},     Known{'u', 1, DType::kUInt8},
        Known{'u', 2, DType::kUInt16},    Known{'u', 4, DType::kUInt32},
        Known{'u', 8, DType::kUInt64},    Known{'f', 2, DType::kFloat16},
        Known{'f', 4, DType::kFloat32},   Known{'f', 8, DType::kFloat64},
        Known{'c', 8, DType::kComplex64}, Known{'c', 16, DType::kComplex128},
    };
    out.kind = kind;
    out.item_bytes = size * (kind == 'U' ? 4 : 1);
    out.dtype = kind == 'U' || kind == 'S' ? DType::kString : DType::kUndefined;
    for (const Known& known : kKnown) {
      if (known.kind == kind && known.size == size) out.dtype = known.dtype;
    }
    return out.dtype != DType::kUndefined;
  }

  Result<std::string_view> string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return bad("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return bad("the end of a string");
    const std::string_view out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return out;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool peek(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    const bool there = peek(c);
    if (there) ++at_;
    return there;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    const bool there = text_.substr(at_).starts_with(word);
    if (there) at_ += word.size();
    return there;
  }
  [[nodiscard]] tl::unexpected<Error> bad(std::string_view expected) const {
    return invalid_argument("the .npy header is damaged: ", expected, " should stand at its byte ",
                            at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr std::size_t kVersionAt = kMagic.size();
  if (!text.starts_with(kMagic) || text.size() < kVersionAt + 4)
    return invalid_argument("not a .npy file");
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at]));
  };
  const std::size_t version = byte(kVersionAt);
  if (version < 1 || version > 3) {
    return unsupported("version ", version, " of the .npy format; versions 1 to 3 can be read");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  NpyHeader out;
  out.data_offset = kVersionAt + 2 + length_bytes;
  if (text.size() < out.data_offset)
    return invalid_argument("the .npy file ends within its header");
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(kVersionAt + 2 + i);
  if (length > text.size() - out.data_offset)
    return invalid_argument("the .npy file ends within its header");
  TRIVET_TRY(HeaderParser(text.substr(out.data_offset, length)).parse(out));
  out.data_offset += length;
  return out;
}

std::string write_npy_header(const std::string& descr, const Shape& shape) {
  std::string dims;
  for (const std::int64_t d : shape) dims += std::to_string(d) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  std::string text =
      cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", dims, "), }");
  constexpr std::size_t kPrefix = kMagic.size() + 4;  // 64 dimensions of 20 digits fit in version 1
  constexpr std::size_t kAlign = 64;
  text.append((kAlign - (kPrefix + text.size() + 1) % kAlign) % kAlign, ' ');
  text += '\n';
  std::string out(kMagic);
  out +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

}  // namespace trivet

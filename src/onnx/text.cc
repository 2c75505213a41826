#include "onnx/text.h"

namespace trivet::onnx {

Error one_line(Error error) {
  constexpr std::size_t kMaxBytes = 1000;
  constexpr std::size_t kKeptEnd = 300;  // the end says what is wrong, the start where
  std::string& text = error.message;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  if (text.size() <= kMaxBytes) return error;
  // Cuts between characters: bytes 10xxxxxx continue one.
  const auto is_inside = [&text](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u;
  };
  std::size_t start = kMaxBytes - kKeptEnd;
  while (start > 0 && is_inside(start)) --start;
  std::size_t end = text.size() - kKeptEnd;
  while (is_inside(end)) ++end;
  text.replace(start, end - start, " ... ");
  return error;
}

}  // namespace trivet::onnx

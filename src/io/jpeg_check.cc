#include "io/jpeg_check.h"

namespace trivet {
namespace {

// Markers: ITU-T T.81, table B.1. Each follows a byte of 0xFF.
constexpr unsigned kStartOfImage = 0xD8;
constexpr unsigned kEndOfImage = 0xD9;
constexpr unsigned kHuffmanTables = 0xC4;
constexpr unsigned kStartOfScan = 0xDA;

/// Bytes behind the end read as 0, as they do for the decoder.
class JpegBytes {
 public:
  explicit JpegBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] unsigned byte(std::size_t at) const {
    return at < bytes_.size() ? static_cast<unsigned>(bytes_[at]) : 0;
  }
  /// Length of a segment, itself included.
  [[nodiscard]] std::size_t length(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }

 private:
  std::span<const std::byte> bytes_;
};

/// Whether the tables of the segment whose length stands at `at` fit.
bool tables_fit(const JpegBytes& jpeg, std::size_t at) {
  const std::size_t end = at + jpeg.length(at);
  at += 2;
  while (at < end) {
    unsigned codes = 0;
    for (std::size_t i = 1; i <= 16; ++i) codes += jpeg.byte(at + i);
    if (codes > 256) return false;
    at += 17 + codes;
  }
  return true;
}

/// Moves behind the next marker, over filling, and returns it; 0 at the end.
unsigned next_marker(const JpegBytes& jpeg, std::size_t& at) {
  while (at < jpeg.size() && jpeg.byte(at) != 0xFF) ++at;
  while (at < jpeg.size() && jpeg.byte(at) == 0xFF) ++at;
  return jpeg.byte(at++);
}

/// Where the decoder looks for markers after the first scan depends on what it decodes, so every
/// place that looks like tables must fit.
bool all_tables_fit(const JpegBytes& jpeg, std::size_t at) {
  for (; at + 1 < jpeg.size(); ++at) {
    const bool tables = jpeg.byte(at) == 0xFF && jpeg.byte(at + 1) == kHuffmanTables;
    if (tables && !tables_fit(jpeg, at + 2)) return false;
  }
  return true;
}

}  // namespace

bool jpeg_tables_fit(std::span<const std::byte> bytes) {
  const JpegBytes jpeg(bytes);
  std::size_t at = 0;
  if (jpeg.byte(0) != 0xFF || next_marker(jpeg, at) != kStartOfImage) return true;
  while (at < jpeg.size()) {
    const unsigned marker = next_marker(jpeg, at);
    if (marker == 0 || marker == kEndOfImage) return true;
    if (marker == kStartOfScan) return all_tables_fit(jpeg, at);
    if (marker == kHuffmanTables && !tables_fit(jpeg, at)) return false;
    at += jpeg.length(at);
  }
  return true;
}

}  // namespace trivet

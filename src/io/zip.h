// Zip archives, as far as .npz files need them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_file.h"

namespace trivet {

/// Checksum of zip and gzip (polynomial 0xEDB88320). `so_far` continues an earlier one.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t so_far = 0);

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::size_t size = 0;             ///< unpacked
  std::span<const std::byte> data;  ///< as it lies in the file
};

/// The members by the central directory, zip64 included. Their data do not exceed the file in sum,
/// and a deflated member does not claim more than deflate can give, so that unpacking takes at most
/// about a thousand times the file's size.
[[nodiscard]] Result<std::vector<ZipMember>> list_zip(std::span<const std::byte> file);

/// The member's content, checked against its checksum.
[[nodiscard]] Result<std::vector<std::byte>> unpack(const ZipMember& member);

/// Writes stored members one after the other.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}

  /// The content comes in pieces. Fails beyond 4 GB, for the whole and for one member.
  Result<void> add(const std::string& name, std::span<const std::span<const std::byte>> pieces);
  /// The central directory; nothing can be added after it.
  Result<void> finish();

 private:
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(const std::string& text) { return write(std::as_bytes(std::span(text))); }

  OutputFile& file_;
  std::uint64_t offset_ = 0;
  std::string directory_;
  std::uint32_t members_ = 0;
};

}  // namespace trivet

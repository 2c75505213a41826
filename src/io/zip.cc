#include "io/zip.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "io/stb.h"

namespace trivet {
namespace {

// Signatures and sizes from PKWARE's APPNOTE.TXT, version 6.3.10.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::uint32_t kZip64End = 0x06064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kZip64EndBytes = 56;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  ///< the value stands in the zip64 extra field
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kUtf8Name = 1 << 11;
/// Deflate's best: 258 bytes in two bits, and a little for the header.
constexpr std::uint64_t kMostRatio = 1032;

/// Little-endian numbers at given offsets; the caller has checked that they are inside.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t out = 0;
    for (std::size_t i = size; i-- > 0;)
      out = out << 8 | static_cast<std::uint64_t>(bytes_[at + i]);
    return out;
  }
  [[nodiscard]] std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(number(at, 2));
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const {
    return static_cast<std::uint32_t>(number(at, 4));
  }
  [[nodiscard]] std::uint64_t u64(std::size_t at) const { return number(at, 8); }

 private:
  std::span<const std::byte> bytes_;
};

tl::unexpected<Error> damaged(std::string_view what) {
  return invalid_argument("the zip file is damaged: ", what);
}

/// The part of `file` at an offset that was read from it.
Result<std::span<const std::byte>> part(std::span<const std::byte> file, std::uint64_t offset,
                                        std::uint64_t size, std::string_view what) {
  if (offset > file.size() || size > file.size() - offset)
    return damaged(cat(what, " lies outside of it"));
  return file.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Where the end record starts: it is last, but a comment of up to 64 kB may follow.
std::optional<std::size_t> find_end(std::span<const std::byte> file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const std::size_t last = file.size() - kEndBytes;
  for (std::size_t back = 0; back <= std::min<std::size_t>(last, 0xffff); ++back) {
    if (Fields(file).u32(last - back) == kEnd) return last - back;
  }
  return std::nullopt;
}

Result<Directory> find_directory(std::span<const std::byte> file) {
  const auto end = find_end(file);
  if (!end) return invalid_argument("not a zip file, or one that is cut off");
  const Fields fields(file);
  Directory out{fields.u32(*end + 16), fields.u32(*end + 12)};
  if (out.offset != kIn64Bits && out.size != kIn64Bits) return out;
  if (*end < kLocatorBytes || fields.u32(*end - kLocatorBytes) != kZip64Locator) {
    return damaged("its zip64 end record is missing");
  }
  const std::uint64_t at = fields.u64(*end - kLocatorBytes + 8);
  TRIVET_ASSIGN(const auto record, part(file, at, kZip64EndBytes, "its zip64 end record"));
  if (Fields(record).u32(0) != kZip64End) return damaged("its zip64 end record is missing");
  return Directory{Fields(record).u64(48), Fields(record).u64(40)};
}

/// Sizes and offset of a member; those that do not fit 32 bits come from the extra field.
struct Extent {
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

Result<Extent> read_extent(std::span<const std::byte> header, std::span<const std::byte> extra) {
  const Fields fields(header);
  Extent out{fields.u32(20), fields.u32(24), fields.u32(42)};
  const std::array<std::uint64_t*, 3> in_order = {&out.size, &out.packed, &out.offset};
  const bool wide =
      std::ranges::any_of(in_order, [](const auto* value) { return *value == kIn64Bits; });
  if (!wide) return out;
  while (extra.size() >= 4) {
    const std::size_t size = Fields(extra).u16(2);
    if (size > extra.size() - 4) break;
    const auto body = extra.subspan(4, size);
    if (Fields(extra).u16(0) == 1) {
      std::size_t at = 0;
      for (std::uint64_t* value : in_order) {
        if (*value != kIn64Bits) continue;
        if (at + 8 > body.size()) return damaged("a zip64 size is missing");
        *value = Fields(body).u64(at);
        at += 8;
      }
      return out;
    }
    extra = extra.subspan(4 + size);
  }
  return damaged("a zip64 size is missing");
}

/// The data of a member lie behind a local header whose names and extra fields have their own
/// length.
Result<std::span<const std::byte>> member_data(std::span<const std::byte> file,
                                               const Extent& extent) {
  TRIVET_ASSIGN(const auto header, part(file, extent.offset, kLocalBytes, "a local header"));
  if (Fields(header).u32(0) != kLocalHeader) return damaged("a local header is missing");
  const std::uint64_t skip = kLocalBytes + Fields(header).u16(26) + Fields(header).u16(28);
  return part(file, extent.offset + skip, extent.packed, "a member");
}

/// Reads the entry at the start of `directory` and moves behind it.
Result<ZipMember> read_member(std::span<const std::byte> file,
                              std::span<const std::byte>& directory) {
  const Fields fields(directory);
  if (directory.size() < kCentralBytes || fields.u32(0) != kCentralHeader)
    return damaged("its directory is cut off");
  const std::size_t name_size = fields.u16(28);
  const std::size_t extra_size = fields.u16(30);
  const std::size_t whole = kCentralBytes + name_size + extra_size + fields.u16(32);
  if (whole > directory.size()) return damaged("its directory is cut off");
  ZipMember out;
  out.name.assign(reinterpret_cast<const char*>(directory.data()) + kCentralBytes, name_size);
  out.crc = fields.u32(16);
  const std::uint16_t method = fields.u16(10);
  if ((fields.u16(8) & kEncrypted) != 0) return unsupported("member '", out.name, "' is encrypted");
  if (method != 0 && method != 8) {
    return unsupported("member '", out.name, "' is packed by method ", method,
                       "; stored and deflated ones can be read");
  }
  out.deflated = method == 8;
  TRIVET_ASSIGN(const Extent extent,
                read_extent(directory, directory.subspan(kCentralBytes + name_size, extra_size)));
  TRIVET_ASSIGN(out.data, member_data(file, extent));
  const bool possible = out.deflated ? extent.size <= out.data.size() * kMostRatio + 64
                                     : extent.size == out.data.size();
  if (!possible)
    return damaged(cat("member '", out.name, "' claims a size of ", extent.size, " bytes"));
  out.size = static_cast<std::size_t>(extent.size);
  directory = directory.subspan(whole);
  return out;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (0xEDB88320u & (0u - (value & 1u)));
    table[i] = value;
  }
  return table;
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

/// What the local and the central header have in common.
std::string common_header(const std::string& name, std::uint32_t crc, std::uint64_t size) {
  constexpr std::uint16_t kVersionNeeded = 20;
  constexpr std::uint32_t kFirstDay =
      0x00210000;  // 1980-01-01 00:00: the same content, the same file
  std::string out;
  put(out, kVersionNeeded, 2);
  put(out, kUtf8Name, 2);
  put(out, 0, 2);  // stored
  put(out, kFirstDay, 4);
  put(out, crc, 4);
  put(out, size, 4);
  put(out, size, 4);
  put(out, name.size(), 2);
  put(out, 0, 2);  // no extra field
  return out;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t so_far) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t crc = ~so_far;
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

Result<std::vector<ZipMember>> list_zip(std::span<const std::byte> file) {
  TRIVET_ASSIGN(const Directory place, find_directory(file));
  TRIVET_ASSIGN(auto directory, part(file, place.offset, place.size, "its directory"));
  std::vector<ZipMember> out;
  std::size_t data = 0;
  while (!directory.empty()) {
    TRIVET_ASSIGN(ZipMember member, read_member(file, directory));
    data += member.data.size();
    if (data > file.size()) return damaged("its members overlap");
    out.push_back(std::move(member));
  }
  return out;
}

Result<std::vector<std::byte>> unpack(const ZipMember& member) {
  std::vector<std::byte> out;
  if (member.deflated) {
    out.resize(member.size);
    auto done = stb::inflate(member.data, out);
    if (!done) return tl::unexpected(std::move(done).error().at(cat("member '", member.name, "'")));
  } else {
    out.assign(member.data.begin(), member.data.end());
  }
  if (crc32(out) != member.crc)
    return damaged(cat("the checksum of member '", member.name, "' is wrong"));
  return out;
}

Result<void> ZipWriter::write(std::span<const std::byte> bytes) {
  offset_ += bytes.size();
  return file_.write(bytes);
}

Result<void> ZipWriter::add(const std::string& name,
                            std::span<const std::span<const std::byte>> pieces) {
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  for (const auto piece : pieces) {
    crc = crc32(piece, crc);
    size += piece.size();
  }
  if (offset_ + size + kLocalBytes + name.size() >= kIn64Bits || members_ == 0xfffe) {
    return unsupported("a .npz file of over 4 GB, or of over 65,534 arrays; save fewer arrays");
  }
  if (name.size() > 0xffff) return unsupported("an array's name of over 65,535 bytes");
  const std::string common = common_header(name, crc, size);
  put(directory_, kCentralHeader, 4);
  put(directory_, 20, 2);  // made by version 2.0
  directory_ += common;
  directory_.append(10, '\0');  // no comment, first disk, no attributes
  put(directory_, offset_, 4);
  directory_ += name;
  ++members_;
  std::string local;
  put(local, kLocalHeader, 4);
  TRIVET_TRY(write(local + common + name));
  for (const auto piece : pieces) TRIVET_TRY(write(piece));
  return {};
}

Result<void> ZipWriter::finish() {
  std::string end;
  put(end, kEnd, 4);
  put(end, 0, 4);  // this disk and the directory's
  put(end, members_, 2);
  put(end, members_, 2);
  put(end, directory_.size(), 4);
  put(end, offset_, 4);
  put(end, 0, 2);  // no comment
  return write(directory_ + end);
}

}  // namespace trivet

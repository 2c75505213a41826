#include "io/npz.h"

#include <array>
#include <string_view>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "io/npy.h"
#include "io/zip.h"

namespace trivet {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

Result<std::vector<NamedArray>> parse_npz(std::span<const std::byte> bytes) {
  TRIVET_ASSIGN(const std::vector<ZipMember> members, list_zip(bytes));
  std::vector<NamedArray> out;
  for (const ZipMember& member : members) {
    if (!member.name.ends_with(kSuffix)) continue;
    TRIVET_ASSIGN(const std::vector<std::byte> content, unpack(member));
    std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    auto tensor = parse_npy(content);
    if (!tensor) return tl::unexpected(std::move(tensor).error().at(cat("array '", name, "'")));
    out.push_back({std::move(name), *std::move(tensor)});
  }
  return out;
}

Result<std::vector<NamedArray>> read_npz(const std::string& path) {
  TRIVET_ASSIGN(const auto file, MappedFile::open(path));
  auto arrays = parse_npz(file->bytes());
  if (!arrays) return tl::unexpected(std::move(arrays).error().at(cat("'", path, "'")));
  return arrays;
}

Result<void> write_npz(const std::string& path, std::span<const NamedArray> arrays,
                       bool overwrite) {
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, overwrite));
  ZipWriter zip(file);
  for (const NamedArray& array : arrays) {
    TRIVET_ASSIGN(const NpyContent content, npy_content(array.tensor));
    const std::array pieces = {std::as_bytes(std::span(content.header)), content.data()};
    TRIVET_TRY(zip.add(array.name + std::string(kSuffix), pieces));
  }
  TRIVET_TRY(zip.finish());
  return file.commit();
}

}  // namespace trivet

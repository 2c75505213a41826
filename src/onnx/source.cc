#include "onnx/source.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace trivet::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReleaseBytes = std::size_t{1} << 20;  // less is not worth a system call

Result<std::uint64_t> parse_size(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return invalid_model("external_data '", key, "' is not a number of bytes: '", text, "'");
  }
  return value;
}

struct Place {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Result<Place> parse_entries(const ExternalEntries& entries) {
  Place place;
  for (const auto& [key, value] : entries) {
    if (key == "location") place.location = value;
    if (key == "offset") {
      TRIVET_ASSIGN(place.offset, parse_size(key, value));
    }
    if (key == "length") {
      TRIVET_ASSIGN(place.length, parse_size(key, value));
    }
  }
  if (place.location.empty()) return invalid_model("external_data has no 'location'");
  return place;
}

bool has_parent_step(const fs::path& path) {
  return std::ranges::any_of(path, [](const fs::path& part) { return part == ".."; });
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace

Bytes Bytes::of(std::shared_ptr<const MappedFile> file) {
  const auto bytes = file->bytes();
  return {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file, file};
}

void Bytes::release(std::string_view sub) const {
  if (file == nullptr || sub.size() < kReleaseBytes) return;
  const auto* start = reinterpret_cast<const char*>(file->bytes().data());
  file->release_pages(static_cast<std::size_t>(sub.data() - start), sub.size());
}

Result<Bytes> ExternalFiles::open(const std::string& location) {
  if (const auto it = opened_.find(location); it != opened_.end()) return it->second;
  if (!folder_) {
    return invalid_argument("its weights are in '", location,
                            "', but a model read from memory has no folder to look in; read it "
                            "from its file, or store the weights inside it");
  }
  const fs::path relative(location);
  if (location.find('\0') != std::string::npos || relative.is_absolute() ||
      has_parent_step(relative)) {
    return invalid_model("external data location '", location,
                         "' leads out of the model's folder; only files beside the model are read");
  }
  const fs::path folder = folder_->empty() ? fs::path(".") : fs::path(*folder_);
  std::error_code error;
  const fs::path real_folder = fs::canonical(folder, error);
  if (error) return fail(ErrorCode::kIo, "cannot open folder '", folder.string(), "'");
  const fs::path real_file = fs::canonical(folder / relative, error);
  if (error) {
    return fail(ErrorCode::kIo, "its weights should be in '", (folder / relative).string(),
                "', which cannot be opened (", error.message(),
                "); put that file beside the model");
  }
  if (!lies_in(real_file, real_folder)) {
    return invalid_model("external data location '", location,
                         "' is a link out of the model's folder; replace the link by the file");
  }
  TRIVET_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(real_file.string()));
  return opened_.emplace(location, Bytes::of(std::move(file))).first->second;
}

Result<Bytes> ExternalFiles::find(const ExternalEntries& entries, std::size_t size) {
  TRIVET_ASSIGN(const Place place, parse_entries(entries));
  TRIVET_ASSIGN(const Bytes whole, open(place.location));
  if (place.length && *place.length != size) {
    return invalid_model("its shape needs ", size, " bytes, but external_data has length ",
                         *place.length);
  }
  const std::size_t available = whole.view.size();
  if (place.offset > available || size > available - place.offset) {
    return invalid_model("its ", size, " bytes at offset ", place.offset, " of '", place.location,
                         "' lie beyond the end of that file (", available,
                         " bytes); the file is cut short, or belongs to another model");
  }
  return whole.part(whole.view.substr(static_cast<std::size_t>(place.offset), size));
}

}  // namespace trivet::onnx

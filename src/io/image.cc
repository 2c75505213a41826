#include "io/image.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/mapped_file.h"
#include "io/stb.h"

namespace trivet {

Result<Image> decode_image(std::span<const std::byte> bytes) { return stb::decode(bytes); }

Result<Image> read_image(const std::string& path) {
  TRIVET_ASSIGN(const auto file, MappedFile::open(path));
  auto image = decode_image(file->bytes());
  if (!image) return tl::unexpected(std::move(image).error().at(cat("picture '", path, "'")));
  return image;
}

bool has_image_extension(const std::string& path) {
  static constexpr std::array<std::string_view, 4> kExtensions = {".png", ".jpg", ".jpeg", ".bmp"};
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

Result<std::vector<std::string>> list_images(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> out;
  std::filesystem::directory_iterator it(folder, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (has_image_extension(it->path().string()) && it->is_regular_file(ignored)) {
      out.push_back(it->path().string());
    }
  }
  if (error)
    return fail(ErrorCode::kIo, "cannot read the folder '", folder, "': ", error.message());
  if (out.empty()) {
    return invalid_argument("the folder '", folder, "' holds no .png, .jpg, .jpeg or .bmp file");
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace trivet

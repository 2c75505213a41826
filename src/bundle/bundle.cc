#include "bundle/bundle.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "base/sha256.h"

namespace trivet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestName = "manifest.json";
constexpr std::size_t kMaxManifestBytes = 16u << 20;

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

tl::unexpected<Error> cannot(std::string_view action, std::string_view path,
                             const std::error_code& error) {
  return fail(ErrorCode::kIo, "cannot ", action, " '", path, "': ", error.message());
}

/// A name beside the target that nobody uses.
std::string name_beside(const std::string& target) {
  static std::atomic<unsigned> counter = 0;
  const fs::path path(target);
  const std::string name = cat(".", path.filename().string(), "-", getpid(), "-", counter++);
  return (path.parent_path() / name).string();
}

Result<void> check_target(const std::string& path, bool overwrite) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return {};
  if (!overwrite) {
    return fail(ErrorCode::kIo, "'", path, "' already exists; use --force to overwrite it");
  }
  const bool empty_folder = fs::is_directory(path, error) && fs::is_empty(path, error);
  if (!is_bundle(path) && !empty_folder) {
    return fail(ErrorCode::kIo, "'", path, "' exists and is not a bundle; give another name to -o");
  }
  return {};
}

Result<BundleFile> describe_file(const fs::path& path) {
  TRIVET_ASSIGN(const std::shared_ptr<const MappedFile> mapped, MappedFile::open(path.string()));
  return BundleFile{path.filename().string(), sha256_hex(mapped->bytes()), mapped->bytes().size()};
}

Result<std::vector<BundleFile>> describe_files(const std::string& folder) {
  std::vector<BundleFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    TRIVET_ASSIGN(BundleFile file, describe_file(it->path()));
    files.push_back(std::move(file));
  }
  if (error) return cannot("list", folder, error);
  std::ranges::sort(files, {}, &BundleFile::name);
  return files;
}

/// Moves a whole folder to `target`; what is there goes aside first and away last.
Result<void> replace_folder(const std::string& staging, const std::string& target) {
  std::error_code error;
  std::string aside;
  if (fs::exists(fs::symlink_status(target, error))) {
    aside = name_beside(target);
    fs::rename(target, aside, error);
    if (error) return cannot("replace", target, error);
  }
  fs::rename(staging, target, error);
  if (error) {
    std::error_code ignored;
    if (!aside.empty()) fs::rename(aside, target, ignored);
    return cannot("write", target, error);
  }
  if (!aside.empty()) fs::remove_all(aside, error);
  return {};
}

Result<void> check_file(const Bundle& bundle, const BundleFile& file) {
  const std::string path = bundle.file(file.name);
  TRIVET_ASSIGN(const std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  if (mapped->bytes().size() != file.bytes) {
    return invalid_argument("'", path, "' has ", mapped->bytes().size(),
                            " bytes, its manifest says ", file.bytes,
                            "; the bundle was changed after it was made: ship it again");
  }
  if (sha256_hex(mapped->bytes()) != file.sha256) {
    return invalid_argument("'", path, "' does not have the SHA-256 of its manifest",
                            "; the bundle was changed after it was made: ship it again");
  }
  return {};
}

}  // namespace

Result<BundleWriter> BundleWriter::create(const std::string& path, bool overwrite) {
  const std::string target = without_trailing_slash(path);
  if (target.empty()) return invalid_argument("the bundle needs a name; give one to -o");
  TRIVET_TRY(check_target(target, overwrite));
  const std::string staging = name_beside(target);
  std::error_code error;
  if (const fs::path parent = fs::path(target).parent_path(); !parent.empty()) {
    fs::create_directories(parent, error);
    if (error) return cannot("create", parent.string(), error);
  }
  if (!fs::create_directory(staging, error)) return cannot("create", staging, error);
  return BundleWriter(target, staging, overwrite);
}

BundleWriter::BundleWriter(BundleWriter&& other) noexcept
    : target_(std::move(other.target_)),
      staging_(std::exchange(other.staging_, {})),
      overwrite_(other.overwrite_) {}

BundleWriter::~BundleWriter() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

std::string BundleWriter::file(std::string_view name) const { return cat(staging_, "/", name); }

Result<void> BundleWriter::add_text(std::string_view name, std::string_view text) const {
  TRIVET_ASSIGN(OutputFile out, OutputFile::create(file(name), true));
  TRIVET_TRY(out.write(text));
  return out.commit();
}

Result<void> BundleWriter::commit(Manifest manifest) {
  TRIVET_ASSIGN(manifest.files, describe_files(staging_));
  TRIVET_TRY(add_text(kManifestName, manifest_to_text(manifest)));
  TRIVET_TRY(check_target(target_, overwrite_));
  TRIVET_TRY(replace_folder(staging_, target_));
  staging_.clear();
  return {};
}

bool is_bundle(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / kManifestName, error);
}

Result<Manifest> read_manifest(const std::string& path) {
  const std::string folder = without_trailing_slash(path);
  TRIVET_ASSIGN(const std::string text,
                read_text_file(cat(folder, "/", kManifestName), kMaxManifestBytes));
  auto manifest = parse_manifest(text);
  if (!manifest) return tl::unexpected(std::move(manifest).error().at(cat("'", folder, "'")));
  return manifest;
}

Result<Bundle> open_bundle(const std::string& path) {
  TRIVET_ASSIGN(Manifest manifest, read_manifest(path));
  Bundle bundle{without_trailing_slash(path), std::move(manifest)};
  for (const BundleFile& file : bundle.manifest.files) TRIVET_TRY(check_file(bundle, file));
  return bundle;
}

Result<std::string> sha256_of_file(const std::string& path) {
  TRIVET_ASSIGN(const std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  return sha256_hex(mapped->bytes());
}

}  // namespace trivet

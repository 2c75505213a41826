#include "base/output_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/mapped_file.h"

namespace trivet {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

std::string system_message(int error) { return std::generic_category().message(error); }

tl::unexpected<Error> cannot(std::string_view action, std::string_view path, int error) {
  return fail(ErrorCode::kIo, "cannot ", action, " '", path, "': ", system_message(error));
}

tl::unexpected<Error> already_exists(std::string_view path) {
  return fail(ErrorCode::kIo, "'", path, "' already exists; use --force to overwrite it");
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Opens a new file beside the target. Not mkstemp: that one makes files which others cannot read,
/// and the mask that says who may is not to be had without changing it for all threads.
Result<std::pair<std::string, int>> open_temporary(const std::string& target) {
  static std::atomic<unsigned> counter = 0;
  constexpr int kAttempts = 100;  // leftovers of crashed processes with the same number
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = cat(folder_of(target), "/.trivet-", getpid(), "-", counter++, ".tmp");
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return std::pair(std::move(name), descriptor);
    if (errno != EEXIST) return cannot("create", target, errno);
  }
  return cannot("create", target, EEXIST);
}

/// Makes a rename durable; a file system that cannot do it for folders is no error.
void sync_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

}  // namespace

OutputFile::OutputFile(std::string target, std::string temporary, int descriptor, bool overwrite)
    : target_(std::move(target)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      overwrite_(overwrite) {
  buffer_.reserve(kBufferBytes);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      overwrite_(other.overwrite_),
      buffer_(std::move(other.buffer_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    overwrite_ = other.overwrite_;
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

Result<OutputFile> OutputFile::create(const std::string& path, bool overwrite) {
  if (path.empty()) return invalid_argument("the name of the output file is empty");
  std::string target = path;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return fail(ErrorCode::kIo, "cannot write '", path, "': it is a directory");
    }
    if (!S_ISREG(status.st_mode)) {
      return fail(ErrorCode::kIo, "cannot write '", path, "': it is not a regular file");
    }
    if (!overwrite) return already_exists(path);
    if (MappedFile::is_mapped(path)) {
      return fail(ErrorCode::kIo, "'", path, "' is being read; give another name");
    }
    // Write the file that a link points to; renaming onto the link would replace the link.
    std::error_code error;
    const std::filesystem::path resolved = std::filesystem::canonical(path, error);
    if (!error) target = resolved.string();
  }
  TRIVET_ASSIGN(auto opened, open_temporary(target));
  return OutputFile(std::move(target), std::move(opened.first), opened.second, overwrite);
}

Result<void> OutputFile::write_through(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor_, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      discard();
      return cannot("write", target_, error);
    }
    data = data.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::flush() {
  TRIVET_TRY(write_through(buffer_));
  buffer_.clear();
  return {};
}

Result<void> OutputFile::write(std::span<const std::byte> data) {
  if (descriptor_ < 0) {
    return fail(ErrorCode::kFailed, "'", target_,
                "' takes no more data: committed, or failed before");
  }
  if (buffer_.size() + data.size() > kBufferBytes) TRIVET_TRY(flush());
  if (data.size() >= kBufferBytes) return write_through(data);
  buffer_.insert(buffer_.end(), data.begin(), data.end());
  return {};
}

Result<void> OutputFile::move_into_place() {
  if (!overwrite_) {
    // A file that came into being since create() is not overwritten either.
    if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) {
      return {};
    }
    if (errno == EEXIST) return already_exists(target_);
    // Some file systems (and old kernels) lack the flag: look first, then rename.
    if (errno != EINVAL && errno != ENOSYS) return cannot("write", target_, errno);
    if (access(target_.c_str(), F_OK) == 0) return already_exists(target_);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return cannot("write", target_, errno);
  return {};
}

Result<void> OutputFile::commit() {
  TRIVET_TRY(write(std::string_view()));  // an error when it is committed already
  TRIVET_TRY(flush());
  if (fsync(descriptor_) != 0 && errno != EINVAL) {
    const int error = errno;
    discard();
    return cannot("write", target_, error);
  }
  Result<void> moved = move_into_place();
  if (moved) temporary_.clear();
  discard();
  if (moved) sync_folder(folder_of(target_));
  return moved;
}

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot("open", path, errno);
  std::string text;
  ssize_t got = 0;
  do {
    constexpr std::size_t kChunk = 64 * 1024;
    const std::size_t before = text.size();
    // One byte more than allowed tells a file that is too long.
    const std::size_t wanted = std::min(kChunk, max_bytes - before) + (max_bytes - before < kChunk);
    text.resize(before + wanted);
    got = read(descriptor, text.data() + before, wanted);
    const int error = errno;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) {
      got = 1;
      continue;
    }
    if (got < 0) {
      close(descriptor);
      return cannot("read", path, error);
    }
  } while (got > 0 && text.size() <= max_bytes);
  close(descriptor);
  if (text.size() > max_bytes) {
    return fail(ErrorCode::kIo, "'", path, "' is longer than the ", max_bytes,
                " bytes that are read of such a file");
  }
  return text;
}

}  // namespace trivet

#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>

namespace trivet {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

/// Closes the descriptor at the end of the scope; a mapping outlives it.
struct Descriptor {
  int value;
  explicit Descriptor(int fd) : value(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

/// All mappings that are alive, by their first byte.
struct Mappings {
  std::mutex mutex;
  std::map<const std::byte*, const MappedFile*> files;
};

Mappings& mappings() {
  static Mappings all;
  return all;
}

}  // namespace

MappedFile::MappedFile(std::string path, const std::byte* data, std::size_t size)
    : path_(std::move(path)), data_(data), size_(size) {
  if (size_ == 0) return;
  const std::lock_guard lock(mappings().mutex);
  mappings().files.emplace(data_, this);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer before it could be refused below.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value < 0) {
    return fail(ErrorCode::kIo, "cannot open '", path, "': ", system_message(errno));
  }
  struct stat status {};
  if (fstat(file.value, &status) != 0) {
    return fail(ErrorCode::kIo, "cannot examine '", path, "': ", system_message(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kIo, "'", path, "' is a directory, not a file");
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo, "'", path, "' is not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  const std::byte* data = nullptr;
  if (size > 0) {  // mmap refuses a length of 0
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
    if (memory == MAP_FAILED) {
      return fail(ErrorCode::kIo, "cannot map '", path, "' (", size,
                  " bytes): ", system_message(errno));
    }
    data = static_cast<const std::byte*>(memory);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, size));
}

MappedFile::~MappedFile() {
  if (size_ == 0) return;
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().files.erase(data_);
  }
  munmap(const_cast<std::byte*>(data_), size_);
}

bool MappedFile::release_mapped(const void* data, std::size_t length) {
  const auto* first = static_cast<const std::byte*>(data);
  const std::lock_guard lock(mappings().mutex);
  auto next = mappings().files.upper_bound(first);
  if (next == mappings().files.begin()) return false;
  const MappedFile& file = *std::prev(next)->second;
  const auto offset = static_cast<std::size_t>(first - file.data_);
  if (offset >= file.size_) return false;
  file.release_pages(offset, length);
  return true;
}

void MappedFile::release_all() {
  const std::lock_guard lock(mappings().mutex);
  for (const auto& [data, file] : mappings().files) file->release_pages(0, file->size_);
}

bool MappedFile::is_mapped(const std::string& path) {
  const std::lock_guard lock(mappings().mutex);
  return std::ranges::any_of(mappings().files, [&](const auto& entry) {
    std::error_code ignored;
    return std::filesystem::equivalent(entry.second->path_, path, ignored);
  });
}

void MappedFile::release_pages(std::size_t offset, std::size_t length) const {
  if (offset >= size_) return;
  const std::size_t end = offset + std::min(length, size_ - offset);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first_page = (offset + page - 1) / page * page;
  // The last page of the file holds nothing else, so it counts as whole when the range reaches the
  // end.
  const std::size_t last_page = end == size_ ? (end + page - 1) / page * page : end / page * page;
  if (first_page >= last_page) return;
  // Advice only: when it is refused, the pages merely stay in memory.
  (void)madvise(const_cast<std::byte*>(data_) + first_page, last_page - first_page, MADV_DONTNEED);
}

}  // namespace trivet

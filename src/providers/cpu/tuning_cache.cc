#include "providers/cpu/tuning_cache.h"

#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/output_file.h"

namespace trivet::cpu {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr const char* kFormat = "trivet-tuning/1";

}  // namespace

Result<TuningCache> TuningCache::open(std::string path, Isa isa, const std::string& cpu) {
  TuningCache out(std::move(path), cat(cpu, "\t", isa_name(isa), "\t"));
  TRIVET_ASSIGN(out.entries_, out.read());
  return out;
}

const TuningCache::Entry* TuningCache::find(const std::string& key) const {
  const auto it = entries_.find(prefix_ + key);
  return it == entries_.end() ? nullptr : &it->second;
}

void TuningCache::set(const std::string& key, Entry entry) {
  fresh_[prefix_ + key] = entry;
  entries_[prefix_ + key] = std::move(entry);
}

Result<TuningCache::Entries> TuningCache::read() const {
  Entries out;
  std::error_code error;
  if (path_.empty() || !std::filesystem::exists(path_, error)) return out;
  const auto foreign = [this] {
    return invalid_argument("'", path_, "' is no tuning cache and is left as it is; ",
                            "name another file with --tune-cache");
  };
  if (!std::filesystem::is_regular_file(path_, error)) return foreign();
  if (std::filesystem::file_size(path_, error) == 0) return out;
  TRIVET_ASSIGN(const std::string text, read_text_file(path_, kMaxFileBytes));
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFormat) return foreign();
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string cpu, isa, key, choice, effort;
    const bool whole = std::getline(fields, cpu, '\t') && std::getline(fields, isa, '\t') &&
                       std::getline(fields, key, '\t') && std::getline(fields, choice, '\t') &&
                       std::getline(fields, effort) && (effort == "quick" || effort == "full");
    if (whole) out[cat(cpu, "\t", isa, "\t", key)] = {choice, effort == "full"};
  }
  return out;
}

Result<void> TuningCache::save() {
  if (path_.empty() || fresh_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  TRIVET_ASSIGN(Entries all, read());
  for (const auto& [key, entry] : fresh_) all[key] = entry;
  std::string text = cat(kFormat, "\n");
  for (const auto& [key, entry] : all)
    text += cat(key, "\t", entry.choice, "\t", entry.thorough ? "full" : "quick", "\n");
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path_, true));
  TRIVET_TRY(file.write(text));
  TRIVET_TRY(file.commit());
  fresh_.clear();
  return {};
}

}  // namespace trivet::cpu

#include "providers/cpu/tuning_cache.h"

#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/output_file.h"

namespace trivet::cpu {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

}  // namespace

TuningCache::TuningCache(std::string path, Isa isa, std::string cpu)
    : path_(std::move(path)), header_(cat("trivet-tuning/1\t", cpu, "\t", isa_name(isa))) {
  entries_ = read();
}

const TuningCache::Entry* TuningCache::find(const std::string& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

void TuningCache::set(const std::string& key, Entry entry) {
  fresh_[key] = entry;
  entries_[key] = std::move(entry);
}

std::map<std::string, TuningCache::Entry> TuningCache::read() const {
  std::map<std::string, Entry> out;
  const auto text = path_.empty() ? Result<std::string>("") : read_text_file(path_, kMaxFileBytes);
  if (!text) return out;
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || line != header_) return out;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string key, choice, effort;
    const bool whole = std::getline(fields, key, '\t') && std::getline(fields, choice, '\t') &&
                       std::getline(fields, effort) && (effort == "quick" || effort == "full");
    if (whole) out[key] = {choice, effort == "full"};
  }
  return out;
}

Result<void> TuningCache::save() {
  if (path_.empty() || fresh_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  std::map<std::string, Entry> all = read();
  for (const auto& [key, entry] : fresh_) all[key] = entry;
  std::string text = header_ + "\n";
  for (const auto& [key, entry] : all)
    text += cat(key, "\t", entry.choice, "\t", entry.thorough ? "full" : "quick", "\n");
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path_, true));
  TRIVET_TRY(file.write(text));
  TRIVET_TRY(file.commit());
  fresh_.clear();
  return {};
}

}  // namespace trivet::cpu

#include "check/targets.h"

#include <algorithm>

namespace trivet::check {
namespace {

bool is_called(const TargetTable& table, std::string_view name) {
  return name == table.name || std::ranges::find(table.aliases, name) != table.aliases.end();
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string known_names() {
  std::string out;
  for (const TargetTable& table : target_tables()) {
    out += cat(out.empty() ? "" : ", ", table.name);
  }
  return out;
}

std::string known_versions(const TargetTable& table) {
  std::string out;
  for (const TargetLimits& row : table.versions) {
    out += cat(out.empty() ? "" : ", ", row.version.to_string());
  }
  return out;
}

/// The newest row that is not newer; null where all are.
const TargetLimits* limits_of(const TargetTable& table, const TargetVersion& version) {
  const TargetLimits* found = nullptr;
  for (const TargetLimits& row : table.versions) {
    if (row.version <= version) found = &row;
  }
  return found;
}

/// The newest row with this first number; null where there is none.
const TargetLimits* newest_of(const TargetTable& table, std::int64_t major) {
  const TargetLimits* found = nullptr;
  for (const TargetLimits& row : table.versions) {
    if (row.version.part(0) == major) found = &row;
  }
  return found;
}

bool same_release(const TargetVersion& a, const TargetVersion& b) {
  return a.part(0) == b.part(0) && a.part(1) == b.part(1);
}

Result<Target> with_version(const TargetTable& table, std::string_view text) {
  const auto version = TargetVersion::parse(text);
  if (!version) {
    return invalid_argument("'", text, "' is no version of ", table.title,
                            "; known are: ", known_versions(table));
  }
  if (version->size() == 1) {
    if (const TargetLimits* row = newest_of(table, version->part(0))) {
      return Target{&table, row->version, row, ""};
    }
  }
  const TargetLimits* row = limits_of(table, *version);
  if (row == nullptr) {
    return invalid_argument(
        table.title, " ", text,
        " is older than what is known of it; known are: ", known_versions(table));
  }
  std::string note;
  if (!same_release(row->version, *version)) {
    note = cat("nothing is known of the ceilings of ", table.title, " ", text,
               "; they are those of ", row->version.to_string());
  }
  return Target{&table, *version, row, std::move(note)};
}

}  // namespace

Result<Target> find_target(std::string_view text) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const std::string name = lower_case(text.substr(0, at));
  for (const TargetTable& table : target_tables()) {
    if (!is_called(table, name)) continue;
    if (at < text.size()) return with_version(table, text.substr(at + 1));
    const TargetLimits& newest = table.versions.back();
    return Target{&table, newest.version, &newest, ""};
  }
  return invalid_argument("there is no target '", name, "'; known are: ", known_names());
}

}  // namespace trivet::check

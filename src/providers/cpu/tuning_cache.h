// What tuning found on this processor, kept in a text file between runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet::cpu {

/// One line per problem: its key, the way that was fastest, and how thoroughly it was looked for,
/// with tabs between them. The first line names the format, the processor and the instruction set;
/// a file of others, or one that cannot be read, counts as empty.
class TuningCache {
 public:
  struct Entry {
    std::string choice;
    bool thorough = false;  ///< found by `full`
  };

  /// An empty path keeps entries in memory only.
  TuningCache(std::string path, Isa isa, std::string cpu = cpu_model_name());

  [[nodiscard]] const Entry* find(const std::string& key) const;
  /// Keys and choices hold no tab and no line break.
  void set(const std::string& key, Entry entry);

  /// Writes the file anew where something was set since, with the entries that others wrote
  /// meanwhile; makes its folder.
  [[nodiscard]] Result<void> save();

 private:
  [[nodiscard]] std::map<std::string, Entry> read() const;

  std::string path_;
  std::string header_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Entry> fresh_;  ///< set since the file was read or written
};

}  // namespace trivet::cpu

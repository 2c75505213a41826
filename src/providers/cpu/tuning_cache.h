// What tuning found on this processor, kept in a text file between runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet::cpu {

/// One line per problem: processor, instruction set, key, the way that was fastest, and how
/// thoroughly it was looked for, with tabs between them, under a first line that names the format.
/// Lines of other processors stay as they are; those that cannot be read are left out.
class TuningCache {
 public:
  struct Entry {
    std::string choice;
    bool thorough = false;  ///< found by `full`
  };

  /// An empty path keeps entries in memory only. A file that is something else is an error.
  [[nodiscard]] static Result<TuningCache> open(std::string path, Isa isa,
                                                const std::string& cpu = cpu_model_name());

  [[nodiscard]] const Entry* find(const std::string& key) const;
  /// Keys and choices hold no tab and no line break.
  void set(const std::string& key, Entry entry);

  /// Writes the file anew where something was set since, with the entries that others wrote
  /// meanwhile; makes its folder.
  [[nodiscard]] Result<void> save();

 private:
  using Entries = std::map<std::string, Entry>;  ///< by processor, instruction set and key

  TuningCache(std::string path, std::string prefix)
      : path_(std::move(path)), prefix_(std::move(prefix)) {}
  [[nodiscard]] Result<Entries> read() const;

  std::string path_;
  std::string prefix_;  ///< of the keys of this processor
  Entries entries_;
  Entries fresh_;  ///< set since the file was read or written
};

}  // namespace trivet::cpu

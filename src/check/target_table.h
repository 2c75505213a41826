// What is known of one runtime, read from src/check/data/target_<name>.json; docs/TARGETS.md says
// what the file holds and where its facts come from.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/finding.h"
#include "tensor/dtype.h"

namespace trivet::check {

/// "1.16.3" as numbers; missing parts count as 0.
class TargetVersion {
 public:
  TargetVersion() = default;
  /// Nothing where the text is not numbers with dots between them.
  [[nodiscard]] static std::optional<TargetVersion> parse(std::string_view text);

  [[nodiscard]] std::int64_t part(std::size_t i) const { return i < parts_.size() ? parts_[i] : 0; }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] std::strong_ordering operator<=>(const TargetVersion& other) const;
  [[nodiscard]] bool operator==(const TargetVersion& other) const {
    return (*this <=> other) == std::strong_ordering::equal;
  }

 private:
  std::vector<std::int64_t> parts_;
};

/// The versions from the first on and before the second; empty ends are open.
struct VersionRange {
  TargetVersion from;
  TargetVersion until;

  [[nodiscard]] bool contains(const TargetVersion& version) const {
    return (from.empty() || version >= from) && (until.empty() || version < until);
  }
};

/// What one version reads; 0 where it sets no ceiling.
struct TargetLimits {
  TargetVersion version;
  int opset = 0;
  int ml_opset = 0;
  std::int64_t ir = 0;
  std::string source;
};

/// An operator that is refused between two opsets, by some versions.
struct Refusal {
  int first_opset = 1;
  int last_opset = 0;   ///< 0: open
  int lower_opset = 0;  ///< an opset in which the operator means something older; 0: there is none
  VersionRange versions;
};

/// Element types that an input may have, each with the first version that takes it.
using AllowedTypes = std::map<DType, TargetVersion>;

struct TypeRow {
  int first_opset = 1;
  int last_opset = 0;  ///< 0: open
  std::map<std::size_t, AllowedTypes> inputs;
};

/// What a node, or an input of the model, must be for a restriction to speak. All must hold.
struct Condition {
  enum class Open : std::uint8_t { kNo, kShape, kRank };

  struct Rank {
    std::optional<std::size_t> input;  ///< nothing: any of them
    std::vector<std::size_t> allowed;  ///< empty: all up to `above`
    std::size_t above = 0;
  };
  struct Types {
    std::optional<std::size_t> input;  ///< nothing: any of them
    std::vector<DType> types;
  };
  struct Setting {
    std::string name;
    std::string fallback;  ///< the value of an attribute that is not there
    bool present = false;  ///< only whether it is there
    std::vector<std::string> is;
    std::vector<std::string> is_not;
    std::optional<std::int64_t> beyond;  ///< one of the integers is larger
  };

  std::optional<std::size_t> not_constant;  ///< this input is there and computed
  std::optional<std::size_t> nonzero;       ///< this input is a constant with another value than 0
  std::optional<std::size_t> output;        ///< this output is there
  Open open = Open::kNo;
  std::optional<Rank> rank;
  std::optional<Types> dtype;
  std::optional<Setting> attribute;
};

struct Restriction {
  std::string_view rule;  ///< "target-restriction", "target-dtype", ...
  Severity severity = Severity::kWarning;
  bool on_inputs = false;        ///< looks at the model's inputs in place of nodes
  std::vector<std::string> ops;  ///< sorted; empty: all
  std::vector<std::string> except;
  VersionRange versions;
  Condition when;
  std::string cause;
  std::string consequence;
  std::string fix;
  std::string source;
};

struct TargetTable {
  std::string name;
  std::string title;
  std::string scope;  ///< what of the runtime the table speaks of, and where it was taken from
  std::vector<std::string> aliases;
  std::vector<std::string> domains;    ///< of a vendor, that it knows
  bool beyond_is_error = false;        ///< a version above the ceiling is refused, not warned of
  std::vector<TargetLimits> versions;  ///< ascending
  /// What happens to a refused operator where the model runs all the same, and what to do.
  std::string fallback;
  std::string fallback_fix;
  std::string operators_source;
  std::string types_source;
  /// First version of each operator; empty where all are supported but the refused ones.
  std::map<std::string, TargetVersion, std::less<>> supported;
  std::map<std::string, std::vector<Refusal>, std::less<>> refused;
  std::map<std::string, std::vector<TypeRow>, std::less<>> types;
  std::vector<Restriction> restrictions;
};

/// All runtimes, in the order of the lists.
[[nodiscard]] std::span<const TargetTable> target_tables();

}  // namespace trivet::check

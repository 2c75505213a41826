// Options: of each kind, and those that mean the same in every command. Each group of these adds
// itself to a command and then turns what was given into what the library takes. Commands include
// this in place of <CLI/CLI.hpp>, which costs the compiler seconds in every file that sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "io/preprocess.h"
#include "measure/parity.h"
#include "runtime/session.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trivet::cli {

/// `value_name` stands for the value in --help. Where a value is missing or wrong, the parser says
/// so.
void add_flag(CLI::App& command, const std::string& flag, bool& value,
              const std::string& description);
void add_text(CLI::App& command, const std::string& flag, std::string& value,
              const std::string& description, const std::string& value_name, bool required = false);
/// All texts that follow; or, where `count` is given, exactly so many.
void add_texts(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
               const std::string& description, const std::string& value_name, int count = 0);
/// One text per use of the option, so that it cannot swallow the words behind it.
void add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                    const std::string& description, const std::string& value_name);
/// A number from `low` to `high`.
void add_number(CLI::App& command, const std::string& flag, int& value,
                const std::string& description, int low, int high);
void add_number(CLI::App& command, const std::string& flag, std::size_t& value,
                const std::string& description, int low, int high);
void add_number(CLI::App& command, const std::string& flag, double& value,
                const std::string& description, const std::string& value_name, double low,
                double high);
/// Such numbers with commas between them.
void add_numbers(CLI::App& command, const std::string& flag, std::vector<std::int64_t>& values,
                 const std::string& description, const std::string& value_name, std::int64_t low,
                 std::int64_t high);
/// A finite number of at least 0, or above 0 where `positive`.
void add_real(CLI::App& command, const std::string& flag, std::optional<double>& value,
              const std::string& description, const std::string& value_name, bool positive = false);
/// One of two words; `value` is whether it is the second.
void add_choice(CLI::App& command, const std::string& flag, bool& value, const std::string& first,
                const std::string& second, const std::string& description);
/// A number of bytes, above 0: 300000, 64MB (10^6), 1.5GiB (2^30).
void add_bytes(CLI::App& command, const std::string& flag, std::size_t& value,
               const std::string& description);
/// `flag` is an error without `other`.
void only_with(CLI::App& command, const std::string& flag, const std::string& other);
/// `flag` is an error beside `other`.
void never_with(CLI::App& command, const std::string& flag, const std::string& other);

/// The positional MODEL.
void add_model(CLI::App& command, std::string& path);

/// --json
void add_json(CLI::App& command, bool& json);

/// --threads, --provider, --allow-fallback, --no-optimize, --no-spin, --pin, --memory,
/// --max-memory, --tune, --tune-cache
struct SessionFlags {
  int threads = 0;  ///< 0: one per physical core
  std::vector<std::string> providers;
  bool allow_fallback = false;
  bool no_optimize = false;
  bool no_spin = false;
  bool pin = false;
  EngineSettings settings = {};
  std::string tune;  ///< "off", "quick", "full"; empty: off

  void add_to(CLI::App& command);
  /// The same without what only the engine that is tested shall keep to: memory, tuning.
  [[nodiscard]] SessionFlags of_yardstick() const;
  /// The named providers first, then the other built-in ones that can be used here: those serve
  /// only with --allow-fallback, and the error for a node that needs one names it. Without a named
  /// one the first that can be used is it; a TRIVET_ISA that names no instruction set of this
  /// processor is an error, and not a reason to take another provider.
  [[nodiscard]] Result<SessionOptions> to_options() const;
};

/// A built-in provider by its name, or one in a shared library by its path (which holds a '/').
[[nodiscard]] Result<const TrvProvider*> provider_from_option(const std::string& name);

/// --resize, --crop, --interpolation, --scale, --mean, --std, --layout, --channels
struct PreprocessFlags {
  PreprocessText values;  ///< empty where not given

  void add_to(CLI::App& command);
  [[nodiscard]] bool given() const;
  [[nodiscard]] Result<Preprocess> parse() const;
};

/// --input, --shape, --random, --seed and the preprocessing
struct FeedFlags {
  std::vector<std::string> inputs;  ///< NAME=FILE, or FILE
  std::vector<std::string> shapes;  ///< NAME=1x3x224x224, SYMBOL=3
  bool random = false;
  std::uint64_t seed = 0;
  PreprocessFlags preprocess;

  void add_to(CLI::App& command);
};

/// --shape alone, for commands that take no data
void add_shapes(CLI::App& command, std::vector<std::string>& shapes);
/// --seed
void add_seed(CLI::App& command, std::uint64_t& seed);

/// --atol, --rtol: |a − b| may be at most atol + rtol · |b|
struct ToleranceFlags {
  std::optional<double> atol;
  std::optional<double> rtol;

  void add_to(CLI::App& command);
  [[nodiscard]] Tolerance to_tolerance() const;
};

/// Fails when writing `target` would write over `source`, a file or a bundle that is being read:
/// they are the same, or one lies in the other. `flag` gives the target.
[[nodiscard]] Result<void> check_apart(const std::string& flag, const std::string& target,
                                       const std::string& source);

/// --save FILE and --force. A target that exists without --force is found by check() before the
/// work starts.
struct SaveFlags {
  std::string path;
  bool force = false;

  /// `flag` is "--save" or "-o,--output".
  void add_to(CLI::App& command, const std::string& flag, const std::string& description);
  [[nodiscard]] Result<void> check() const;
  /// The whole file, or nothing of it.
  [[nodiscard]] Result<void> write(std::string_view text) const;
};

}  // namespace trivet::cli

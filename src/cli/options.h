// Options that mean the same in every command. Each group adds itself to a command and then turns
// what was given into what the library takes.
#pragma once

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
class Option;
}  // namespace CLI

namespace trivet::cli {

/// The positional MODEL.
void add_model(CLI::App& command, std::string& path);

/// --json
void add_json(CLI::App& command, bool& json);

/// --threads, --provider, --allow-fallback, --no-optimize
struct SessionFlags {
  int threads = 0;  ///< 0: one per physical core
  std::vector<std::string> providers;
  bool allow_fallback = false;
  bool no_optimize = false;

  void add_to(CLI::App& command);
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
/// A finite number of at least 0, or above 0 where `positive`.
CLI::Option* add_real(CLI::App& command, const std::string& flag, std::optional<double>& value,
                      const std::string& description, const std::string& value_name,
                      bool positive = false);
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

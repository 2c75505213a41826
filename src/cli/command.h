// What every command shares: how it is added, its exit codes, where its output goes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace CLI {
class App;
}

namespace trivet::cli {

inline constexpr int kPassed = 0;
inline constexpr int kCheckFailed = 1;  ///< the command worked, and what it checked does not hold
inline constexpr int kBadInput = 2;

/// What a command does once its options are known. The value is the exit code, kPassed or
/// kCheckFailed; an Error becomes one line on standard error and kBadInput.
using Action = std::function<Result<int>()>;

/// Collects the commands and then the one that was asked for.
///
///   void add_run(CommandLine& line) {
///     const auto options = std::make_shared<RunOptions>();
///     CLI::App& command = line.add("run", "Runs a model", "  trivet run m.onnx --random",
///                                  [options] { return run(*options); });
///     command.add_option(...);
///   }
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  /// `examples` are lines that work when pasted, each after two blanks.
  CLI::App& add(const std::string& name, const std::string& description,
                const std::string& examples, Action action);
  /// One that --help does not list: the program itself, or bench/peers, starts it.
  CLI::App& add_hidden(const std::string& name, const std::string& description,
                       const std::string& examples, Action action);

  [[nodiscard]] const Action& chosen() const { return chosen_; }

 private:
  CLI::App& app_;
  Action chosen_;
};

/// One entry per command; the definition in commands.cc is the list.
using AddCommand = void (*)(CommandLine&);

/// The whole program: parses, runs the command, reports its error. Returns the exit code.
int run_program(int argc, const char* const* argv);

/// To standard output. A failed write shows when the program ends.
void print(std::string_view text);
/// `trivet: text` on standard error, for what the user should know though the command goes on.
void warn(std::string_view text);

}  // namespace trivet::cli

#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/format.h"

namespace trivet::cli {
namespace {

/// The one line on standard error that ends a command with kBadInput.
int report(const std::string& message) {
  warn(message);
  return kBadInput;
}

/// "trivet run --help" when the words show which command was meant, else "trivet --help".
std::string help_hint(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return cat("; see trivet ", parsed.empty() ? "" : parsed.front()->get_name() + " ", "--help");
}

/// A first word that is no command gets an answer of its own: the parser would name it as an extra
/// argument.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  if (word.empty() || word.front() == '-') return "";
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return "";
    if (command->get_group().empty()) continue;  // for the program's own use
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return cat("there is no command '", word, "'; there are: ", known);
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app("Takes a trained ONNX model to an edge device: checks, measures and packs it.",
               "trivet");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", cat("trivet ", kVersion), "Print the version");
  app.require_subcommand(1);
  app.footer(
      "trivet COMMAND --help tells more and gives examples.\n"
      "Exit codes: 0 done and passed, 1 the check or comparison failed, 2 bad usage or bad input.");
  app.get_formatter()->column_width(34);
  CommandLine line(app);
  for (const AddCommand add : commands()) add(line);
  if (argc < 2) return report("a command is missing; see trivet --help");
  if (const std::string fault = unknown_command(app, argv[1]); !fault.empty()) return report(fault);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    return report(cat(error.what(), help_hint(app)));
  }
  const Result<int> code = line.chosen()();
  return code ? *code : report(code.error().message);
}

}  // namespace

CLI::App& CommandLine::add(const std::string& name, const std::string& description,
                           const std::string& examples, Action action) {
  CLI::App* command = app_.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  command->callback([this, run = std::move(action)] { chosen_ = run; });
  return *command;
}

CLI::App& CommandLine::add_hidden(const std::string& name, const std::string& description,
                                  const std::string& examples, Action action) {
  CLI::App& command = add(name, description, examples, std::move(action));
  command.group("");
  return command;
}

int run_program(int argc, const char* const* argv) {
  int code = kBadInput;
  try {
    code = parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    report("not enough memory; use a smaller input or model");
  } catch (const std::exception& error) {
    report(cat("internal error: ", error.what(),
               "; please report this with the command that you ran"));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report("cannot write to standard output; is the disk full or the pipe closed?");
  }
  return code;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void warn(std::string_view text) {
  const std::string line = cat("trivet: ", format_text(std::string(text), 4000), "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace trivet::cli

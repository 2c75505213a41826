#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/cpu_info.h"
#include "base/output_file.h"
#include "measure/machine_file.h"
#include "providers/providers.h"
#include "runtime/host.h"

namespace trivet::cli {
namespace {

/// The number that the whole text is; the parser's own reading takes "-1" for a large count.
template <class T>
std::optional<T> number_from(const std::string& text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "64MB" as a count of bytes.
std::optional<std::size_t> bytes_from(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},         {"B", 1},        {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1024.0},
      {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"k", 1e3},  {"M", 1e6},  {"G", 1e9},
  };
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = number_from<double>(text.substr(0, end));
  const auto unit = std::ranges::find(kUnits, std::string_view(text).substr(end),
                                      &std::pair<std::string_view, double>::first);
  if (!number || unit == std::end(kUnits)) return std::nullopt;
  const double bytes = *number * unit->second;
  if (!(bytes >= 1 && bytes < 0x1p63)) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

template <class T, class Bound>
void add_ranged(CLI::App& command, const std::string& flag, T& value,
                const std::string& description, const std::string& value_name, Bound low,
                Bound high) {
  command.add_option(flag, value, description)->check(CLI::Range(low, high))->type_name(value_name);
}

Result<Tuning> parse_tuning(const std::string& text) {
  if (text.empty() || text == "off") return Tuning::kOff;
  if (text == "quick") return Tuning::kQuick;
  if (text == "full") return Tuning::kFull;
  return invalid_argument("--tune is off, quick or full, not '", text, "'");
}

}  // namespace

void add_flag(CLI::App& command, const std::string& flag, bool& value,
              const std::string& description) {
  command.add_flag(flag, value, description);
}

void add_text(CLI::App& command, const std::string& flag, std::string& value,
              const std::string& description, const std::string& value_name, bool required) {
  command.add_option(flag, value, description)->type_name(value_name)->required(required);
}

void add_texts(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
               const std::string& description, const std::string& value_name, int count) {
  CLI::Option* option = command.add_option(flag, values, description)->type_name(value_name);
  if (count > 0) option->expected(count);
}

void add_repeatable(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                    const std::string& description, const std::string& value_name) {
  command.add_option(flag, values, description)->allow_extra_args(false)->type_name(value_name);
}

void add_number(CLI::App& command, const std::string& flag, int& value,
                const std::string& description, int low, int high) {
  add_ranged(command, flag, value, description, "N", low, high);
}

void add_number(CLI::App& command, const std::string& flag, std::size_t& value,
                const std::string& description, int low, int high) {
  add_ranged(command, flag, value, description, "N", low, high);
}

void add_number(CLI::App& command, const std::string& flag, double& value,
                const std::string& description, const std::string& value_name, double low,
                double high) {
  add_ranged(command, flag, value, description, value_name, low, high);
}

void add_numbers(CLI::App& command, const std::string& flag, std::vector<std::int64_t>& values,
                 const std::string& description, const std::string& value_name, std::int64_t low,
                 std::int64_t high) {
  command.add_option(flag, values, description)
      ->delimiter(',')
      ->check(CLI::Range(low, high))
      ->type_name(value_name);
}

void add_real(CLI::App& command, const std::string& flag, std::optional<double>& value,
              const std::string& description, const std::string& value_name, bool positive) {
  const auto check = [positive](const std::string& text) -> std::string {
    const auto number = number_from<double>(text);
    if (number && std::isfinite(*number) && (positive ? *number > 0 : *number >= 0)) return "";
    return cat("takes a number ", positive ? "above 0" : "of at least 0", ", not '", text, "'");
  };
  command.add_option(flag, value, description)->check(check)->type_name(value_name);
}

void add_choice(CLI::App& command, const std::string& flag, bool& value, const std::string& first,
                const std::string& second, const std::string& description) {
  command
      .add_option_function<std::string>(
          flag, [&value, second](const std::string& text) { value = text == second; }, description)
      ->check(CLI::IsMember({first, second}))
      ->type_name(first + "|" + second);
}

void add_bytes(CLI::App& command, const std::string& flag, std::size_t& value,
               const std::string& description) {
  const auto check = [](const std::string& text) -> std::string {
    if (bytes_from(text)) return "";
    return cat("takes a number of bytes above 0, such as 300000, 64MB or 1.5GiB, not '", text, "'");
  };
  command
      .add_option_function<std::string>(
          flag, [&value](const std::string& text) { value = bytes_from(text).value_or(0); },
          description)
      ->check(check)
      ->type_name("SIZE");
}

void only_with(CLI::App& command, const std::string& flag, const std::string& other) {
  command.get_option(flag)->needs(other);
}

void never_with(CLI::App& command, const std::string& flag, const std::string& other) {
  command.get_option(flag)->excludes(other);
}

void add_model(CLI::App& command, std::string& path) {
  add_text(command, "MODEL", path, "An ONNX file, or a bundle that `trivet ship` wrote", "", true);
}

void add_json(CLI::App& command, bool& json) {
  add_flag(command, "--json", json, "Print one JSON document instead of text");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  const auto check = [](const std::string& text) -> std::string {
    if (number_from<std::uint64_t>(text)) return "";
    return cat("takes a whole number of at least 0, not '", text, "'");
  };
  command.add_option("--seed", seed, "Start of the random numbers (default 0)")
      ->check(check)
      ->type_name("N");
}

void add_shapes(CLI::App& command, std::vector<std::string>& shapes) {
  add_repeatable(command, "--shape", shapes,
                 "Size of an input, or of a dimension that the model names: batch=3. Repeatable",
                 "NAME=1x3x224x224");
}

void SessionFlags::add_to(CLI::App& command) {
  add_number(command, "--threads", threads, "Worker threads (default: one per physical core)", 1,
             1024);
  add_repeatable(
      command, "--provider", providers,
      "Engine to run on: a name that `trivet providers` lists, or the path of a shared library. "
      "Repeatable, the first is preferred",
      "NAME");
  add_flag(command, "--allow-fallback", allow_fallback,
           "Let other providers run the nodes that the first one cannot");
  add_flag(command, "--no-optimize", no_optimize, "Run the graph as it is in the file");
  add_flag(command, "--no-spin", no_spin,
           "Let idle worker threads sleep at once: less energy and heat, slower runs");
  add_flag(command, "--pin", pin, "Keep each worker thread on a processor of its own");
  add_choice(command, "--memory", settings.low_memory, "fast", "low",
             "low: weights take little more room than in the file, which can cost speed "
             "(default fast)");
  add_text(command, "--tune", tune,
           "quick or full: time the ways to compute each layer on this machine, once, and keep the "
           "fastest, which may take more memory (default off: an estimate chooses)",
           "off|quick|full");
  add_text(command, "--tune-cache", settings.tuning_cache,
           "File that keeps what --tune found (default: tuning.txt beside the machine file, in "
           "~/.cache/trivet)",
           "FILE");
  only_with(command, "--tune-cache", "--tune");
  add_bytes(command, "--max-memory", settings.max_memory,
            "Refuse what would make this process hold more resident memory, such as 64MB or "
            "1.5GiB: at load, where the shapes are known then");
}

SessionFlags SessionFlags::of_yardstick() const {
  SessionFlags out = *this;
  out.settings = {};
  out.tune.clear();
  return out;
}

Result<const TrvProvider*> provider_from_option(const std::string& name) {
  if (name.find('/') != std::string::npos) return load_provider(name);
  return find_provider(name);
}

Result<SessionOptions> SessionFlags::to_options() const {
  // A wrong TRIVET_ISA makes the cpu provider unusable; the next one must not step in for it.
  TRIVET_TRY(selected_isa());
  SessionOptions options;
  options.threads = threads;
  options.optimize = !no_optimize;
  options.allow_fallback = allow_fallback;
  options.spin = !no_spin;
  options.pin = pin;
  options.settings = settings;
  TRIVET_ASSIGN(options.settings.tuning, parse_tuning(tune));
  if (options.settings.tuning != Tuning::kOff && settings.tuning_cache.empty()) {
    const auto machine = default_machine_file();
    if (!machine) {
      return invalid_argument("--tune has no place to keep what it finds, since neither HOME nor ",
                              "XDG_CACHE_HOME is set; name a file with --tune-cache");
    }
    options.settings.tuning_cache =
        std::filesystem::path(*machine).replace_filename("tuning.txt").string();
  }
  for (const std::string& name : providers) {
    TRIVET_ASSIGN(const TrvProvider* provider, provider_from_option(name));
    options.providers.push_back(provider);
  }
  for (const TrvProvider* provider : builtin_providers()) {
    const bool listed = std::ranges::find(options.providers, provider) != options.providers.end();
    if (!listed && check_provider(*provider)) options.providers.push_back(provider);
  }
  return options;
}

void PreprocessFlags::add_to(CLI::App& command) {
  struct Flag {
    const char* key;
    const char* value_name;
    const char* description;
  };
  static constexpr Flag kFlags[] = {
      {"resize", "N|WxH", "Resize pictures: the shorter side, or width and height"},
      {"crop", "N|WxH", "Then cut this much out of the middle"},
      {"interpolation", "NAME", "bilinear (default), bilinear-no-antialias or bicubic"},
      {"scale", "X", "Then multiply each pixel, 0 to 255, by this: 1/255 (default 1)"},
      {"mean", "R,G,B", "Then subtract this, one number or one per channel (default 0)"},
      {"std", "R,G,B", "Then divide by this (default 1)"},
      {"layout", "NAME", "nchw (default) or nhwc"},
      {"channels", "NAME", "rgb (default), bgr or gray"},
  };
  for (const Flag& flag : kFlags) {
    command.add_option(std::string("--") + flag.key, values[flag.key], flag.description)
        ->type_name(flag.value_name)
        ->group("Pictures");
  }
}

bool PreprocessFlags::given() const {
  return std::ranges::any_of(values, [](const auto& entry) { return !entry.second.empty(); });
}

Result<Preprocess> PreprocessFlags::parse() const {
  PreprocessText text;
  for (const auto& [key, value] : values) {
    if (!value.empty()) text[key] = value;
  }
  return parse_preprocess(text);
}

void FeedFlags::add_to(CLI::App& command) {
  add_repeatable(
      command, "--input,-i", inputs,
      "File for an input: .npy, .npz, .pb, .png, .jpg or .bmp. Repeatable; NAME= may be left out "
      "where the model has one input",
      "NAME=FILE");
  add_shapes(command, shapes);
  add_flag(command, "--random", random, "Make up the inputs that have no file");
  add_seed(command, seed);
  preprocess.add_to(command);
}

void ToleranceFlags::add_to(CLI::App& command) {
  add_real(command, "--atol", atol,
           "Absolute tolerance (default: 1e-4 of the output's largest magnitude)", "X");
  add_real(command, "--rtol", rtol, "Tolerance relative to the expected value (default 1e-3)", "X");
}

Tolerance ToleranceFlags::to_tolerance() const {
  return {.atol = atol, .rtol = rtol.value_or(Tolerance::kDefaultRtol)};
}

Result<void> check_apart(const std::string& flag, const std::string& target,
                         const std::string& source) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path to = fs::weakly_canonical(target, error);
  const fs::path from = fs::weakly_canonical(source, error);
  const auto starts_with = [](const fs::path& path, const fs::path& folder) {
    return std::ranges::mismatch(folder, path).in1 == folder.end();
  };
  const bool overlap = starts_with(to, from) || starts_with(from, to);
  if (!overlap && !fs::equivalent(target, source, error)) return {};
  return invalid_argument(flag, " '", target, "' would write over '", source,
                          "', which is being read; give another name");
}

void SaveFlags::add_to(CLI::App& command, const std::string& flag, const std::string& description) {
  add_text(command, flag, path, description, "FILE");
  add_flag(command, "--force", force, "Replace a file that exists");
}

Result<void> SaveFlags::check() const {
  std::error_code ignored;
  if (path.empty() || force || !std::filesystem::exists(path, ignored)) return {};
  return fail(ErrorCode::kIo, "'", path, "' exists; use --force to replace it");
}

Result<void> SaveFlags::write(std::string_view text) const {
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, force));
  TRIVET_TRY(file.write(text));
  return file.commit();
}

}  // namespace trivet::cli

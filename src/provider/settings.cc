#include "provider/settings.h"

#include <charconv>
#include <string_view>

namespace trivet {
namespace {

constexpr const char* kMemory = "memory";
constexpr const char* kMaxMemory = "max_memory";
constexpr const char* kTune = "tune";
constexpr const char* kTuneCache = "tune_cache";

Result<std::size_t> count_of(std::string_view name, std::string_view text) {
  std::size_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size())
    return invalid_argument("setting '", name, "' takes a number, not '", text, "'");
  return value;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> to_pairs(const EngineSettings& settings) {
  std::vector<std::pair<std::string, std::string>> out;
  if (settings.low_memory) out.emplace_back(kMemory, "low");
  if (settings.max_memory != 0) out.emplace_back(kMaxMemory, std::to_string(settings.max_memory));
  if (settings.tuning != Tuning::kOff)
    out.emplace_back(kTune, settings.tuning == Tuning::kFull ? "full" : "quick");
  if (!settings.tuning_cache.empty()) out.emplace_back(kTuneCache, settings.tuning_cache);
  return out;
}

Result<EngineSettings> to_settings(const TrvCompileOptions& options) {
  EngineSettings out;
  for (std::size_t i = 0; i < options.setting_count; ++i) {
    const std::string_view name = options.settings[i].name;
    const std::string_view value = options.settings[i].value;
    if (name == kMemory) {
      if (value != "low" && value != "fast")
        return invalid_argument("setting 'memory' is 'low' or 'fast', not '", value, "'");
      out.low_memory = value == "low";
    } else if (name == kMaxMemory) {
      TRIVET_ASSIGN(out.max_memory, count_of(name, value));
    } else if (name == kTune) {
      if (value != "off" && value != "quick" && value != "full")
        return invalid_argument("setting 'tune' is 'off', 'quick' or 'full', not '", value, "'");
      out.tuning = value == "off"     ? Tuning::kOff
                   : value == "quick" ? Tuning::kQuick
                                      : Tuning::kFull;
    } else if (name == kTuneCache) {
      out.tuning_cache = value;
    }
  }
  return out;
}

}  // namespace trivet

#include "measure/machine_file.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/output_file.h"

namespace trivet {
namespace {

using Json = nlohmann::ordered_json;

/// The version of the format that this build writes, and the only one that it reads.
constexpr int kFormat = 1;
constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;  // what every reader of JSON holds
constexpr std::int64_t kMostProcessors = 1 << 20;

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

/// Reads members of one object and keeps the first thing that is wrong with them.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  [[nodiscard]] const std::string& fault() const { return fault_; }

  std::string text(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    note(key, "is no text");
    return "";
  }
  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most = kMostWhole) {
    const Json* value = find(key);
    if (value != nullptr && value->is_number_integer()) {
      const auto number = value->get<std::int64_t>();
      if (number >= least && number <= most) return number;
    }
    note(key, cat("is no whole number from ", least, " to ", most));
    return least;
  }
  double rate(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && is_rate(*value)) return value->get<double>();
    note(key, "is no number above 0");
    return 1;
  }
  std::optional<double> rate_or_null(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && value->is_null()) return std::nullopt;
    return rate(key);
  }
  Members object(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && value->is_object()) return Members(*value);
    note(key, "is no object");
    static const Json kEmpty = Json::object();
    return Members(kEmpty);
  }
  void take_fault(const Members& inner) {
    if (fault_.empty()) fault_ = inner.fault_;
  }

 private:
  static bool is_rate(const Json& value) {
    return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0;
  }
  const Json* find(const char* key) {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void note(const char* key, const std::string& what) {
    if (fault_.empty()) fault_ = cat("'", key, "' is missing or ", what);
  }

  const Json& object_;
  std::string fault_;
};

Json to_json(const ThreadPeaks& peaks) {
  return {{"threads", peaks.threads},
          {"fma_gflops", peaks.fma_gflops},
          {"int8_gops", peaks.int8_gops},
          {"bf16_gflops", optional_json(peaks.bf16_gflops)},
          {"l1_read_gb_s", peaks.l1_gb_s},
          {"l2_read_gb_s", optional_json(peaks.l2_gb_s)},
          {"l3_read_gb_s", optional_json(peaks.l3_gb_s)},
          {"dram_read_gb_s", peaks.dram_gb_s},
          {"dram_copy_gb_s", peaks.dram_copy_gb_s}};
}

ThreadPeaks thread_peaks(Members& members) {
  ThreadPeaks out;
  out.threads = static_cast<int>(members.whole("threads", 1, kMostProcessors));
  out.fma_gflops = members.rate("fma_gflops");
  out.int8_gops = members.rate("int8_gops");
  out.bf16_gflops = members.rate_or_null("bf16_gflops");
  out.l1_gb_s = members.rate("l1_read_gb_s");
  out.l2_gb_s = members.rate_or_null("l2_read_gb_s");
  out.l3_gb_s = members.rate_or_null("l3_read_gb_s");
  out.dram_gb_s = members.rate("dram_read_gb_s");
  out.dram_copy_gb_s = members.rate("dram_copy_gb_s");
  return out;
}

Json to_json(const CacheSizes& caches) {
  Json out = Json::object();
  const std::pair<const char*, const Cache&> levels[] = {
      {"l1", caches.l1}, {"l2", caches.l2}, {"l3", caches.l3}};
  for (const auto& [name, cache] : levels) {
    out[name] = {{"bytes", cache.bytes}, {"sharers", cache.sharers}};
  }
  out["last_level_bytes"] = caches.last_level_bytes;
  return out;
}

CacheSizes parse_caches(Members members, Members& outer) {
  const auto level = [&members](const char* key) {
    Members one = members.object(key);
    const Cache cache = {.bytes = one.whole("bytes", 0),
                         .sharers = static_cast<int>(one.whole("sharers", 1, kMostProcessors))};
    members.take_fault(one);
    return cache;
  };
  CacheSizes out;
  out.l1 = level("l1");
  out.l2 = level("l2");
  out.l3 = level("l3");
  out.last_level_bytes = members.whole("last_level_bytes", 1);
  outer.take_fault(members);
  return out;
}

/// What is wrong with the document, or the peaks.
tl::expected<MachinePeaks, std::string> parse(const std::string& text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return tl::unexpected<std::string>("it is no JSON object");
  Members members(root);
  const std::int64_t format = members.whole("format", 1);
  if (members.fault().empty() && format != kFormat) {
    return tl::unexpected<std::string>(cat("it has format ", format, ", not ", kFormat));
  }
  MachinePeaks out;
  out.cpu = members.text("cpu");
  out.isa = members.text("isa");
  out.date = members.text("date");
  out.int8_instruction = members.text("int8_instruction");
  out.bf16_instruction = members.text("bf16_instruction");
  out.caches = parse_caches(members.object("caches"), members);
  const auto list = root.find("peaks");
  if (list == root.end() || !list->is_array() || list->empty()) {
    return tl::unexpected<std::string>("'peaks' is missing or is no list with entries");
  }
  for (const Json& entry : *list) {
    if (!entry.is_object()) return tl::unexpected<std::string>("'peaks' has a bad entry");
    Members one(entry);
    out.threads.push_back(thread_peaks(one));
    members.take_fault(one);
    const std::size_t count = out.threads.size();
    if (count > 1 && out.threads[count - 2].threads >= out.threads[count - 1].threads) {
      return tl::unexpected<std::string>("'threads' of 'peaks' do not rise");
    }
  }
  if (!members.fault().empty()) return tl::unexpected<std::string>(members.fault());
  return out;
}

}  // namespace

Result<std::string> default_machine_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return cat(cache, "/trivet/machine.json");
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] != '\0') return cat(home, "/.cache/trivet/machine.json");
  return invalid_argument(
      "there is no place for the machine's peaks: neither XDG_CACHE_HOME nor HOME is set; "
      "set one of them");
}

Json machine_to_json(const MachinePeaks& peaks) {
  Json list = Json::array();
  for (const ThreadPeaks& one : peaks.threads) list.push_back(to_json(one));
  return {{"format", kFormat},
          {"cpu", peaks.cpu},
          {"isa", peaks.isa},
          {"date", peaks.date},
          {"int8_instruction", peaks.int8_instruction},
          {"bf16_instruction", peaks.bf16_instruction},
          {"caches", to_json(peaks.caches)},
          {"peaks", std::move(list)}};
}

Result<void> write_machine_file(const MachinePeaks& peaks, const std::string& path,
                                bool overwrite) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::kIo, "cannot make the folder '", folder.string(),
                "': ", error.message());
  }
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, overwrite));
  TRIVET_TRY(file.write(machine_to_json(peaks).dump(2, ' ', false, Json::error_handler_t::replace) +
                        "\n"));
  return file.commit();
}

Result<MachinePeaks> read_machine_file(const std::string& path, const std::string& cpu) {
  TRIVET_ASSIGN(const std::string text, read_text_file(path, kMostBytes));
  auto peaks = parse(text);
  if (!peaks) {
    return invalid_argument("'", path, "' does not hold a machine's peaks: ", peaks.error(),
                            "; measure again with trivet bench --machine");
  }
  if (peaks->cpu != cpu) {
    return invalid_argument("'", path, "' holds the peaks of '", peaks->cpu,
                            "', and this processor is '", cpu,
                            "'; measure again with trivet bench --machine");
  }
  return *std::move(peaks);
}

}  // namespace trivet

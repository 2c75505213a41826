#include "measure/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

namespace trivet {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// RAPL counts to 2^32 units of 15 µJ or more, 65 kJ: at 1 kW that takes over a minute.
constexpr std::chrono::milliseconds kCounterInterval{10'000};
constexpr double kMicro = 1e-6;

/// The first line of a small file of the kernel.
Result<std::string> read_line(const std::string& path) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  char text[256] = "";
  const bool read = file != nullptr && std::fgets(text, sizeof(text), file) != nullptr;
  const int error = errno;
  if (file != nullptr) std::fclose(file);
  if (!read) {
    return fail(ErrorCode::kIo, "cannot read '", path,
                "': ", error == 0 ? "it is empty" : std::generic_category().message(error));
  }
  std::string line = text;
  line.erase(line.find_last_not_of(" \t\r\n") + 1);
  return line;
}

Result<double> read_number(const std::string& path) {
  TRIVET_ASSIGN(const std::string line, read_line(path));
  char* end = nullptr;
  const double value = std::strtod(line.c_str(), &end);
  if (line.empty() || *end != '\0' || !std::isfinite(value)) {
    return fail(ErrorCode::kIo, "'", path, "' should hold a number and holds '", line, "'");
  }
  return value;
}

std::string line_or_empty(const std::string& path) {
  auto line = read_line(path);
  return line ? *std::move(line) : std::string();
}

std::string below(const SystemRoot& root, std::string_view path) {
  return cat(root.path == "/" ? "" : root.path, path);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<double> read_channel(const EnergyChannel& channel) {
  if (!channel.status_file.empty()) {
    TRIVET_ASSIGN(const std::string status, read_line(channel.status_file));
    if (status != "Discharging") {
      return fail(ErrorCode::kFailed, channel.name, " is not discharging ('", status,
                  "'); unplug the charger to measure");
    }
  }
  double value = channel.scale;
  for (const std::string& file : channel.files) {
    TRIVET_ASSIGN(const double factor, read_number(file));
    value *= factor;
  }
  // Some drivers tell the current out of a battery as a negative number.
  return channel.status_file.empty() ? value : std::abs(value);
}

/// The entries of a folder whose names start with `prefix` and go on with a number, by that number.
std::vector<std::string> numbered(const std::string& folder, std::string_view prefix) {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string digits = name.substr(prefix.size());
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    found.emplace_back(std::stoi(digits), entry->path().string());
  }
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [number, path] : found) out.push_back(std::move(path));
  return out;
}

std::string joined_names(const std::vector<EnergyChannel>& channels) {
  std::string out;
  for (const EnergyChannel& channel : channels) out += (out.empty() ? "" : " + ") + channel.name;
  return out;
}

/// The first channel that cannot be read now; empty when all can.
std::string fault_of(const std::vector<EnergyChannel>& channels) {
  for (const EnergyChannel& channel : channels) {
    if (const auto value = read_channel(channel); !value) return value.error().message;
  }
  return "";
}

/// What a device of hwmon offers: the files of one kind, such as energy*_input.
std::vector<EnergyChannel> hwmon_channels(const std::string& device, std::string_view kind,
                                          std::string_view file) {
  constexpr int kMostChannels = 1024;  // amd_energy has one per core
  std::vector<EnergyChannel> first;
  std::vector<EnergyChannel> sockets;
  for (int i = 1; i <= kMostChannels; ++i) {
    const std::string path = cat(device, "/", kind, i, "_", file);
    if (!exists(path)) {
      if (i > 1) break;
      continue;
    }
    const std::string label = line_or_empty(cat(device, "/", kind, i, "_label"));
    EnergyChannel channel{.name = label.empty() ? cat(kind, i) : label,
                          .files = {path},
                          .scale = kMicro,
                          .range = 0,
                          .status_file = ""};
    if (label.starts_with("Esocket")) sockets.push_back(channel);
    if (first.empty()) first.push_back(std::move(channel));
  }
  return sockets.empty() ? first : sockets;
}

/// Drivers in hwmon whose energy is not the processor's, and those that mirror a power supply.
bool is_other_device(const std::string& name, const SystemRoot& root) {
  static constexpr std::array kOthers = {"amdgpu", "radeon", "nouveau", "i915", "xe", "nvme"};
  return std::ranges::find(kOthers, name) != kOthers.end() ||
         (!name.empty() && exists(below(root, "/sys/class/power_supply/" + name)));
}

}  // namespace

EnergyReading estimate_joules(double cpu_seconds, double wall_seconds, double watts, int cores) {
  EnergyReading reading;
  reading.estimate = true;
  reading.source = "estimate";
  if (!(cpu_seconds >= 0) || !(wall_seconds > 0) || !(watts > 0) || cores < 1) {
    reading.note = fmt::format(
        "no estimate from {:.4g} s of processor time in {:.4g} s on {} cores of {:.4g} W together; "
        "these must be above 0",
        cpu_seconds, wall_seconds, cores, watts);
    return reading;
  }
  const double utilisation = std::min(1.0, cpu_seconds / (wall_seconds * cores));
  reading.joules = utilisation * wall_seconds * watts;
  reading.note = fmt::format("utilisation {:.1f} % × {:.4g} s × {:.4g} W as given; not measured",
                             100 * utilisation, wall_seconds, watts);
  return reading;
}

std::optional<double> counter_step(double before, double after, double range) {
  if (after >= before) return after - before;
  if (range < before) return std::nullopt;
  return after + range - before;
}

/// Reads the channels at start, at every interval and at the end, and adds up.
class EnergyMeter::Sampler {
 public:
  Sampler(const std::vector<EnergyChannel>& channels, bool counts,
          std::chrono::milliseconds interval)
      : channels_(channels), counts_(counts), interval_(interval) {
    if (!take(/*first=*/true)) return;
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      // Out of threads: the two ends are read all the same.
    }
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler() { end_thread(); }

  Result<double> finish() {
    end_thread();
    if (error_.empty()) take(/*first=*/false);
    if (error_.empty() && counts_ && joules_ == 0) {
      error_ =
          "the counter stood still: too short a time, or a virtual machine that does not count";
    }
    if (!error_.empty()) return fail(ErrorCode::kFailed, error_);
    return joules_;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval_, [this] { return stop_; })) {
      if (!take(/*first=*/false)) return;
    }
  }

  void end_thread() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  /// False after an error. The time of a sample is that in the middle of reading it.
  bool take(bool first) {
    const auto before = Clock::now();
    std::vector<double> values;
    for (const EnergyChannel& channel : channels_) {
      const auto value = read_channel(channel);
      if (!value) {
        error_ = value.error().message;
        return false;
      }
      values.push_back(*value);
    }
    const auto now = before + (Clock::now() - before) / 2;
    if (!first) add(values, std::chrono::duration<double>(now - last_time_).count());
    last_time_ = now;
    last_ = std::move(values);
    return error_.empty();
  }

  void add(const std::vector<double>& values, double seconds) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!counts_) {
        joules_ += (last_[i] + values[i]) / 2 * seconds;
      } else if (const auto step = counter_step(last_[i], values[i], channels_[i].range)) {
        joules_ += *step;
      } else {
        error_ = fmt::format("{} went back from {:.9g} J to {:.9g} J", channels_[i].name, last_[i],
                             values[i]);
      }
    }
  }

  std::vector<EnergyChannel> channels_;
  bool counts_;
  std::chrono::milliseconds interval_;
  std::vector<double> last_;
  Clock::time_point last_time_;
  double joules_ = 0;
  std::string error_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  ///< guarded by mutex_
  std::thread thread_;
};

EnergyMeter::EnergyMeter() = default;
EnergyMeter::EnergyMeter(EnergyMeter&&) noexcept = default;
EnergyMeter& EnergyMeter::operator=(EnergyMeter&&) noexcept = default;
EnergyMeter::~EnergyMeter() = default;

void EnergyMeter::add_note(const std::string& text) { note_ += (note_.empty() ? "" : "; ") + text; }

bool EnergyMeter::take_rapl(const SystemRoot& root) {
  const std::string folder = below(root, "/sys/class/powercap");
  for (const std::string& domain : numbered(folder, "intel-rapl:")) {
    const std::string name = line_or_empty(domain + "/name");
    if (!name.starts_with("package")) continue;
    const auto range = read_number(domain + "/max_energy_range_uj");
    channels_.push_back({.name = name,
                         .files = {domain + "/energy_uj"},
                         .scale = kMicro,
                         .range = range ? *range * kMicro : 0,
                         .status_file = ""});
  }
  if (channels_.empty()) return false;
  if (const std::string fault = fault_of(channels_); !fault.empty()) {
    channels_.clear();
    add_note(cat(fault, "; run as root, or once: chmod a+r ", folder, "/intel-rapl:*/energy_uj"));
    return false;
  }
  counts_ = true;
  source_ = "RAPL " + joined_names(channels_);
  add_note("the processor packages alone, with whatever else runs on them");
  return true;
}

bool EnergyMeter::take_hwmon(const SystemRoot& root) {
  struct Kind {
    const char* prefix;
    const char* file;
    bool counts;
  };
  static constexpr Kind kKinds[] = {
      {"energy", "input", true}, {"power", "average", false}, {"power", "input", false}};
  for (const Kind& kind : kKinds) {
    for (const std::string& device : numbered(below(root, "/sys/class/hwmon"), "hwmon")) {
      const std::string name = line_or_empty(device + "/name");
      if (is_other_device(name, root)) continue;
      channels_ = hwmon_channels(device, kind.prefix, kind.file);
      if (channels_.empty()) continue;
      const std::string fault = fault_of(channels_);
      if (fault.empty()) {
        counts_ = kind.counts;
        source_ = cat("hwmon ", name, " ", joined_names(channels_));
        return true;
      }
      channels_.clear();
      add_note(cat(fault, "; run as root, or make the file readable"));
    }
  }
  return false;
}

bool EnergyMeter::take_battery(const SystemRoot& root) {
  std::vector<std::string> supplies;
  std::error_code error;
  for (fs::directory_iterator entry(below(root, "/sys/class/power_supply"), error), end;
       !error && entry != end; entry.increment(error)) {
    supplies.push_back(entry->path().string());
  }
  std::ranges::sort(supplies);
  for (const std::string& supply : supplies) {
    if (line_or_empty(supply + "/type") != "Battery") continue;
    if (line_or_empty(supply + "/scope") == "Device") continue;  // of a mouse or a headset
    EnergyChannel channel{.name = fs::path(supply).filename().string(),
                          .files = {supply + "/power_now"},
                          .scale = kMicro,
                          .range = 0,
                          .status_file = supply + "/status"};
    if (!exists(channel.files.front())) {
      channel.files = {supply + "/current_now", supply + "/voltage_now"};
      channel.scale = kMicro * kMicro;
    }
    const auto watts = read_channel(channel);
    if (watts) {
      channels_.push_back(std::move(channel));
    } else {
      add_note(watts.error().message);
    }
  }
  if (channels_.empty()) return false;
  source_ = "battery " + joined_names(channels_);
  add_note("the whole machine");
  return true;
}

EnergyMeter EnergyMeter::find(const SystemRoot& root, std::chrono::milliseconds power_interval) {
  EnergyMeter meter;
  if (!meter.take_rapl(root) && !meter.take_hwmon(root) && !meter.take_battery(root)) {
    meter.source_ = kNoEnergySensor;
    return meter;
  }
  meter.interval_ = meter.counts_ ? kCounterInterval : power_interval;
  if (!meter.counts_) meter.add_note(cat("power sampled every ", power_interval.count(), " ms"));
  return meter;
}

void EnergyMeter::start() {
  sampler_.reset();
  if (available()) sampler_ = std::make_unique<Sampler>(channels_, counts_, interval_);
}

EnergyReading EnergyMeter::stop() {
  EnergyReading reading{.joules = {}, .source = source_, .estimate = false, .note = note_};
  if (sampler_ == nullptr) return reading;
  const auto joules = sampler_->finish();
  sampler_.reset();
  if (joules) {
    reading.joules = *joules;
  } else {
    reading.note = cat("not measured: ", joules.error().message);
  }
  return reading;
}

}  // namespace trivet

// What a piece of work costs in energy: from a sensor of the machine, or as a labelled estimate.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet {

/// What `source` says where there is nothing to measure with.
inline constexpr std::string_view kNoEnergySensor = "not measured: no sensor";

struct EnergyReading {
  std::optional<double> joules;  ///< nothing where it was not measured
  std::string source;            ///< "RAPL package-0", "battery BAT0", or kNoEnergySensor
  bool estimate = false;         ///< worked out from a given wattage, not measured
  std::string note;              ///< what the number covers; why there is none, and the fix
};

/// Utilisation × time × wattage: cpu_seconds / (cores · wall_seconds) · wall_seconds · watts, the
/// utilisation cut at 1. `watts` is what the processor draws when all of its `cores` are busy. No
/// joules, and a note, where a number is not above 0 (cpu_seconds may be 0).
[[nodiscard]] EnergyReading estimate_joules(double cpu_seconds, double wall_seconds, double watts,
                                            int cores);

/// How far a counter has come from one reading to the next; `range` above 0 is where it starts
/// again at 0. Nothing when it went back and has no range.
[[nodiscard]] std::optional<double> counter_step(double before, double after, double range);

/// One number that the kernel tells: the product of its files times `scale`, in joules for a
/// counter and in watts for power.
struct EnergyChannel {
  std::string name;
  std::vector<std::string> files;
  double scale = 1;
  double range = 0;         ///< of a counter, in joules: where it starts again; 0 for never
  std::string status_file;  ///< must read "Discharging" at every reading; empty for none
};

/// Measures from start() to stop(). The sensors, the first that can be read of:
///  - RAPL by way of powercap (Intel and AMD): the domains intel-rapl:N that are packages, summed.
///    Their parts (core, uncore) are in them; psys counts the packages again; dram is left out.
///  - hwmon: energy*_input, else power*_average or power*_input, of the first device that is no
///    graphics card and no power supply. Channels labelled Esocket… are summed; of others the
///    first counts, because the rest of a device are parts of it.
///  - a battery, while it discharges: power_now, else current_now × voltage_now.
/// A counter is also read in between, before it could wrap twice. Power is sampled every
/// `power_interval` by a thread and integrated by the trapezoidal rule.
class EnergyMeter {
 public:
  static constexpr std::chrono::milliseconds kPowerInterval{100};

  /// Never fails: without a sensor the meter says so in its readings.
  [[nodiscard]] static EnergyMeter find(const SystemRoot& root = {},
                                        std::chrono::milliseconds power_interval = kPowerInterval);

  EnergyMeter(EnergyMeter&&) noexcept;
  EnergyMeter& operator=(EnergyMeter&&) noexcept;
  ~EnergyMeter();

  /// False when stop() will tell no joules.
  [[nodiscard]] bool available() const { return !channels_.empty(); }
  [[nodiscard]] const std::string& source() const { return source_; }
  /// What the sensor covers; without one, why not and what would help.
  [[nodiscard]] const std::string& note() const { return note_; }

  /// Starts again where it had been started.
  void start();
  /// The energy since start(), without joules when the meter has no sensor or was not started, or
  /// when the sensor failed in between (the note says how).
  [[nodiscard]] EnergyReading stop();

 private:
  class Sampler;

  EnergyMeter();
  bool take_rapl(const SystemRoot& root);
  bool take_hwmon(const SystemRoot& root);
  bool take_battery(const SystemRoot& root);
  void add_note(const std::string& text);

  std::vector<EnergyChannel> channels_;
  bool counts_ = false;  ///< the channels count energy; else they tell power
  std::chrono::milliseconds interval_{0};
  std::string source_;
  std::string note_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace trivet

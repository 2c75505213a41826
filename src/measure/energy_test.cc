#include "measure/energy.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A made tree of /sys/class.
class FakeSystem {
 public:
  FakeSystem& with(std::string_view file, std::string_view text) {
    dir_.write(cat("sys/class/", file), text);
    return *this;
  }
  FakeSystem& rapl(std::string_view domain, std::string_view name, std::string_view microjoules) {
    with(cat("powercap/", domain, "/name"), cat(name, "\n"));
    with(cat("powercap/", domain, "/max_energy_range_uj"), "262143328850\n");
    return with(cat("powercap/", domain, "/energy_uj"), cat(microjoules, "\n"));
  }
  FakeSystem& battery(std::string_view name, std::string_view status) {
    with(cat("power_supply/", name, "/type"), "Battery\n");
    return with(cat("power_supply/", name, "/status"), cat(status, "\n"));
  }
  [[nodiscard]] SystemRoot root() const { return {dir_.path()}; }
  [[nodiscard]] std::string file(std::string_view name) const {
    return dir_.file(cat("sys/class/", name));
  }

 private:
  TempDirForTest dir_;
};

/// While it lives, file modes hold for this thread even when it is root's.
class WithoutRootsRights {
 public:
  WithoutRootsRights() {
    if (syscall(SYS_capget, &header_, saved_) != 0) return;
    __user_cap_data_struct cut[2] = {saved_[0], saved_[1]};
    cut[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    changed_ = syscall(SYS_capset, &header_, cut) == 0;
  }
  WithoutRootsRights(const WithoutRootsRights&) = delete;
  WithoutRootsRights& operator=(const WithoutRootsRights&) = delete;
  ~WithoutRootsRights() {
    if (changed_) syscall(SYS_capset, &header_, saved_);
  }

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct saved_[2]{};
  bool changed_ = false;
};

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Energy, WithoutASensorItSaysSo) {
  EnergyMeter meter = EnergyMeter::find(FakeSystem().root());
  EXPECT_FALSE(meter.available());
  meter.start();
  const EnergyReading reading = meter.stop();
  EXPECT_FALSE(reading.joules);
  EXPECT_FALSE(reading.estimate);
  EXPECT_EQ(reading.source, "not measured: no sensor");
}

TEST(Energy, CounterStepsWrapAround) {
  EXPECT_DOUBLE_EQ(*counter_step(10, 25, 100), 15);
  EXPECT_DOUBLE_EQ(*counter_step(95, 5, 100), 10);
  EXPECT_FALSE(counter_step(95, 5, 0));
  EXPECT_FALSE(counter_step(95, 5, 90));  // a range below a reading is none
}

TEST(Energy, RaplSumsPackagesAndNothingTwice) {
  FakeSystem system;  // two sockets, their parts, and the platform that holds them
  system.rapl("intel-rapl:0", "package-0", "1000000").rapl("intel-rapl:1", "package-1", "7000000");
  system.rapl("intel-rapl:0:0", "core", "500000").rapl("intel-rapl:0:1", "dram", "500000");
  system.rapl("intel-rapl:2", "psys", "900").rapl("intel-rapl-mmio:0", "package-0", "1000000");
  EnergyMeter meter = EnergyMeter::find(system.root());
  EXPECT_EQ(meter.source(), "RAPL package-0 + package-1");
  meter.start();
  system.rapl("intel-rapl:0", "package-0", "3500000").rapl("intel-rapl:1", "package-1", "8000000");
  system.rapl("intel-rapl:0:0", "core", "99000000").rapl("intel-rapl:2", "psys", "99000000");
  system.rapl("intel-rapl:0:1", "dram", "99000000");
  const EnergyReading reading = meter.stop();
  ASSERT_TRUE(reading.joules) << reading.note;
  EXPECT_DOUBLE_EQ(*reading.joules, 2.5 + 1.0);
  EXPECT_FALSE(reading.estimate);
  EXPECT_FALSE(meter.stop().joules);  // not started again
}

TEST(Energy, RaplWrapsAtItsOwnRange) {
  FakeSystem system;
  system.rapl("intel-rapl:0", "package-0", "262143000000");
  EnergyMeter meter = EnergyMeter::find(system.root());
  meter.start();
  system.rapl("intel-rapl:0", "package-0", "671150");
  const EnergyReading reading = meter.stop();
  ASSERT_TRUE(reading.joules) << reading.note;
  EXPECT_NEAR(*reading.joules, 1.0, 1e-6);  // 328850 µJ to the end and 671150 from there
}

TEST(Energy, ACounterThatStandsStillIsNoMeasurement) {
  FakeSystem system;
  system.rapl("intel-rapl:0", "package-0", "0");
  EnergyMeter meter = EnergyMeter::find(system.root());
  meter.start();
  const EnergyReading reading = meter.stop();
  EXPECT_FALSE(reading.joules);
  EXPECT_TRUE(holds(reading.note, "stood still")) << reading.note;
}

TEST(Energy, ASensorThatFailsInBetweenGivesNoNumber) {
  FakeSystem system;
  system.rapl("intel-rapl:0", "package-0", "1000");
  EnergyMeter meter = EnergyMeter::find(system.root());
  meter.start();
  system.rapl("intel-rapl:0", "package-0", "abc");
  const EnergyReading reading = meter.stop();
  EXPECT_FALSE(reading.joules);
  EXPECT_TRUE(holds(reading.note, "holds 'abc'")) << reading.note;
}

TEST(Energy, UnreadableRaplTellsTheFixAndTheNextSensorServes) {
  FakeSystem system;
  system.rapl("intel-rapl:0", "package-0", "1000");
  ASSERT_EQ(chmod(system.file("powercap/intel-rapl:0/energy_uj").c_str(), 0), 0);
  const WithoutRootsRights guard;
  const EnergyMeter none = EnergyMeter::find(system.root());
  EXPECT_FALSE(none.available());
  EXPECT_EQ(none.source(), kNoEnergySensor);
  EXPECT_TRUE(holds(none.note(), "Permission denied; run as root, or once: chmod a+r"))
      << none.note();

  system.with("hwmon/hwmon0/name", "ina226\n").with("hwmon/hwmon0/power1_input", "2500000\n");
  const EnergyMeter next = EnergyMeter::find(system.root());
  EXPECT_EQ(next.source(), "hwmon ina226 power1");
  EXPECT_TRUE(holds(next.note(), "Permission denied")) << next.note();
}

TEST(Energy, HwmonCountersOfSocketsAreSummed) {
  FakeSystem system;  // as the driver amd_energy has them; another device comes first
  system.with("hwmon/hwmon0/name", "amdgpu\n").with("hwmon/hwmon0/power1_average", "30000000\n");
  system.with("hwmon/hwmon10/name", "amd_energy\n");
  for (int i = 1; i <= 4; ++i) {
    system.with(cat("hwmon/hwmon10/energy", i, "_input"), "1000000\n");
    system.with(cat("hwmon/hwmon10/energy", i, "_label"),
                i <= 2 ? cat("Ecore00", i - 1, "\n") : cat("Esocket", i - 3, "\n"));
  }
  EnergyMeter meter = EnergyMeter::find(system.root());
  EXPECT_EQ(meter.source(), "hwmon amd_energy Esocket0 + Esocket1");
  meter.start();
  system.with("hwmon/hwmon10/energy1_input", "9000000\n");
  system.with("hwmon/hwmon10/energy3_input", "1250000\n");
  system.with("hwmon/hwmon10/energy4_input", "1500000\n");
  const EnergyReading reading = meter.stop();
  ASSERT_TRUE(reading.joules) << reading.note;
  EXPECT_DOUBLE_EQ(*reading.joules, 0.75);
}

/// Constant power over a time that is known from both sides.
void expect_watts(EnergyMeter meter, double watts) {
  const auto outer = Clock::now();
  meter.start();
  const auto inner = Clock::now();
  std::this_thread::sleep_for(20ms);
  const double least = std::chrono::duration<double>(Clock::now() - inner).count();
  const EnergyReading reading = meter.stop();
  const double most = std::chrono::duration<double>(Clock::now() - outer).count();
  ASSERT_TRUE(reading.joules) << reading.note;
  EXPECT_GE(*reading.joules, watts * least * (1 - 1e-9));
  EXPECT_LE(*reading.joules, watts * most * (1 + 1e-9));
}

TEST(Energy, PowerIsIntegratedOverTime) {
  FakeSystem system;
  system.with("hwmon/hwmon0/name", "power_meter\n")
      .with("hwmon/hwmon0/power1_average", "125000000\n")
      .with("hwmon/hwmon0/power1_input", "1\n");
  EnergyMeter meter = EnergyMeter::find(system.root(), 3ms);
  EXPECT_TRUE(holds(meter.note(), "every 3 ms")) << meter.note();
  expect_watts(std::move(meter), 125);
}

TEST(Energy, PowerThatRisesIsIntegratedByTrapezoids) {
  FakeSystem system;
  system.with("hwmon/hwmon0/name", "power_meter\n").with("hwmon/hwmon0/power1_input", "0\n");
  EnergyMeter meter = EnergyMeter::find(system.root(), 10min);
  const auto outer = Clock::now();
  meter.start();
  const auto inner = Clock::now();
  system.with("hwmon/hwmon0/power1_input", "40000000\n");
  std::this_thread::sleep_for(20ms);
  const double least = std::chrono::duration<double>(Clock::now() - inner).count();
  const EnergyReading reading = meter.stop();
  const double most = std::chrono::duration<double>(Clock::now() - outer).count();
  ASSERT_TRUE(reading.joules) << reading.note;
  // Half of 40 W over the whole time; a rectangle below either end would give 0 or twice as much.
  EXPECT_GE(*reading.joules, 20 * least * (1 - 1e-9));
  EXPECT_LE(*reading.joules, 20 * most * (1 + 1e-9));
}

TEST(Energy, BatteriesServeWhileTheyDischarge) {
  FakeSystem system;
  system.with("power_supply/AC/type", "Mains\n");
  system.battery("mouse", "Discharging").with("power_supply/mouse/scope", "Device\n");
  system.with("power_supply/mouse/power_now", "100000\n");
  system.battery("BAT0", "Charging").with("power_supply/BAT0/power_now", "9000000\n");
  const EnergyMeter charging = EnergyMeter::find(system.root());
  EXPECT_FALSE(charging.available());
  EXPECT_TRUE(holds(charging.note(), "BAT0 is not discharging ('Charging'); unplug"))
      << charging.note();

  system.battery("BAT0", "Discharging");
  EnergyMeter meter = EnergyMeter::find(system.root());
  EXPECT_EQ(meter.source(), "battery BAT0");
  expect_watts(std::move(meter), 9);
}

TEST(Energy, BatteriesWithoutPowerTellCurrentAndVoltage) {
  FakeSystem system;
  system.battery("BAT1", "Discharging")
      .with("power_supply/BAT1/current_now", "-1500000\n")
      .with("power_supply/BAT1/voltage_now", "12000000\n");
  expect_watts(EnergyMeter::find(system.root()), 18);
}

TEST(Energy, ABatteryThatIsPluggedInBetweenGivesNoNumber) {
  FakeSystem system;
  system.battery("BAT0", "Discharging").with("power_supply/BAT0/power_now", "9000000\n");
  EnergyMeter meter = EnergyMeter::find(system.root());
  meter.start();
  system.battery("BAT0", "Full");
  const EnergyReading reading = meter.stop();
  EXPECT_FALSE(reading.joules);
  EXPECT_TRUE(holds(reading.note, "not discharging ('Full')")) << reading.note;
}

TEST(Energy, EstimatesAreLabelled) {
  const EnergyReading reading = estimate_joules(3, 2, 10, 4);
  ASSERT_TRUE(reading.joules);
  EXPECT_DOUBLE_EQ(*reading.joules, 3.0 / (4 * 2) * 2 * 10);
  EXPECT_TRUE(reading.estimate);
  EXPECT_EQ(reading.source, "estimate");
  EXPECT_EQ(reading.note, "utilisation 37.5 % × 2 s × 10 W as given; not measured");
  EXPECT_DOUBLE_EQ(*estimate_joules(100, 2, 10, 4).joules, 20);  // no more than all cores
  EXPECT_FALSE(estimate_joules(1, 0, 10, 4).joules);
  EXPECT_FALSE(estimate_joules(1, 1, 0, 4).joules);
  EXPECT_FALSE(estimate_joules(1, 1, 10, 0).joules);
}

}  // namespace
}  // namespace trivet

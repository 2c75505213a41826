#include "cli/machine.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "measure/machine_file.h"

namespace trivet::cli {
namespace {

/// Three digits, as a rate; "-" where there is none.
std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  return fmt::format("{:.{}f}", *rate, *rate < 9.995 ? 2 : *rate < 99.95 ? 1 : 0);
}

/// Caches come in powers of two: "32 KiB", "1.25 MiB".
std::string cache_size_text(std::int64_t bytes) {
  const double kibibytes = static_cast<double>(bytes) / 1024;
  if (kibibytes < 1024) return fmt::format("{:.4g} KiB", kibibytes);
  return fmt::format("{:.4g} MiB", kibibytes / 1024);
}

std::string cache_text(const CacheSizes& caches) {
  std::string out;
  const std::pair<const char*, const Cache&> levels[] = {
      {"L1", caches.l1}, {"L2", caches.l2}, {"L3", caches.l3}};
  for (const auto& [name, cache] : levels) {
    if (cache.bytes == 0) continue;
    out += cat(out.empty() ? "" : ", ", name, " ", cache_size_text(cache.bytes));
    if (cache.sharers > 1) out += cat(" for ", cache.sharers, " processors");
  }
  return out;
}

std::string facts_text(const MachinePeaks& peaks) {
  Table table({{""}, {""}});
  table.add_row({"processor", format_text(peaks.cpu)});
  table.add_row({"instruction set", peaks.isa});
  table.add_row({"int8 by", peaks.int8_instruction});
  table.add_row(
      {"bf16 by", peaks.bf16_instruction.empty() ? "not available" : peaks.bf16_instruction});
  table.add_row({"caches", cache_text(peaks.caches)});
  return table.to_string();
}

std::string peaks_text(const MachinePeaks& peaks) {
  Table table({{"threads", Align::kRight},
               {"float32 GFLOP/s", Align::kRight},
               {"int8 GOP/s", Align::kRight},
               {"bf16 GFLOP/s", Align::kRight},
               {"L1 GB/s", Align::kRight},
               {"L2 GB/s", Align::kRight},
               {"L3 GB/s", Align::kRight},
               {"memory GB/s", Align::kRight},
               {"copy GB/s", Align::kRight}});
  for (const ThreadPeaks& one : peaks.threads) {
    table.add_row({std::to_string(one.threads), rate_text(one.fma_gflops), rate_text(one.int8_gops),
                   rate_text(one.bf16_gflops), rate_text(one.l1_gb_s), rate_text(one.l2_gb_s),
                   rate_text(one.l3_gb_s), rate_text(one.dram_gb_s),
                   rate_text(one.dram_copy_gb_s)});
  }
  return table.to_string();
}

}  // namespace

Result<int> run_machine(const MachineOptions& options) {
  const bool replace = options.save.empty() || options.force;
  std::string path = options.save;
  if (path.empty()) {
    TRIVET_ASSIGN(path, default_machine_file());
  }
  std::error_code ignored;
  if (!replace && std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::kIo, "'", path, "' exists; use --force to replace it");
  }
  TRIVET_ASSIGN(const Isa isa, selected_isa());
  std::optional<Progress> bar;
  int shown = 0;
  const PeakOptions windows = {
      .max_threads = options.threads, .seconds = options.seconds, .root = options.root};
  auto peaks = measure_machine(isa, windows, [&](int done, int total) {
    if (!bar) bar.emplace("machine", total);
    bar->advance(done - std::exchange(shown, done));
  });
  bar.reset();
  if (!peaks) return tl::unexpected<Error>(std::move(peaks).error());
  TRIVET_TRY(write_machine_file(*peaks, path, replace));
  if (options.json) {
    Json document = machine_to_json(*peaks);
    document["file"] = path;
    print_json(document);
  } else {
    print(cat(facts_text(*peaks), "\n", peaks_text(*peaks), "\nwrote ", format_text(path), "\n"));
  }
  return kPassed;
}

}  // namespace trivet::cli

#include "cli/roofline.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/cpu_info.h"
#include "measure/machine_file.h"

namespace trivet::cli {
namespace {

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<Roofline> parse_roofline(const std::string& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view all = text;
  const auto gflops = positive_number(all.substr(0, comma));
  const auto gbytes = positive_number(all.substr(std::min(comma + 1, text.size())));
  if (!gflops || !gbytes) {
    return invalid_argument("--roofline takes GFLOP/s and GB/s, such as 230,37, not '", text, "'");
  }
  return Roofline{.flops_per_s = *gflops * 1e9, .bytes_per_s = *gbytes * 1e9};
}

Result<std::optional<KnownRoofline>> find_roofline(const std::string& text, int threads,
                                                   std::string& why) {
  if (!text.empty()) {
    TRIVET_ASSIGN(const Roofline given, parse_roofline(text));
    return KnownRoofline{given, "--roofline"};
  }
  const auto path = default_machine_file();
  std::error_code ignored;
  if (!path || !std::filesystem::exists(*path, ignored)) {
    why =
        "no roofline, because the peaks of this machine are not known: "
        "run trivet bench --machine once, or give --roofline GFLOPS,GBPS";
    return std::optional<KnownRoofline>();
  }
  const auto peaks = read_machine_file(*path);
  if (!peaks) {
    why = cat("no roofline: ", peaks.error().message);
    return std::optional<KnownRoofline>();
  }
  if (threads == 0) threads = default_thread_count();
  return KnownRoofline{trivet::roofline(*peaks, threads),
                       cat(*path, ", ", threads, threads == 1 ? " thread" : " threads")};
}

}  // namespace trivet::cli

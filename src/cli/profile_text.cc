#include "cli/profile_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format.h"
#include "cli/table.h"

namespace trivet::cli {
namespace {

constexpr std::size_t kNameWidth = 72;

template <class Format>
std::string text_or_dash(const std::optional<double>& value, const Format& format) {
  return value ? format(*value) : "-";
}

/// The columns that nodes and operators have alike.
std::vector<Table::Column> with_numbers(std::vector<Table::Column> columns, bool roofline) {
  for (const char* title : {"time", "share", "FLOPs", "bytes", "FLOPs/B"}) {
    columns.push_back({title, Align::kRight});
  }
  if (roofline) columns.push_back({"of roofline", Align::kRight});
  return columns;
}

void add_numbers(std::vector<std::string>& row, const ProfileStep& step, double all_ms,
                 const std::optional<Roofline>& roofline) {
  row.push_back(format_ms(step.time_ms));
  row.push_back(format_percent(all_ms > 0 ? step.time_ms / all_ms : 0));
  row.push_back(text_or_dash(step.flops, format_scaled));
  row.push_back(text_or_dash(step.bytes, format_bytes));
  row.push_back(text_or_dash(intensity(step.flops, step.bytes), format_ratio));
  if (roofline) row.push_back(text_or_dash(roofline_share(step, *roofline), format_percent));
}

}  // namespace

std::string names_text(const std::vector<std::string>& names) {
  if (names.empty()) return "-";
  const std::string first = format_text(names.front(), kNameWidth);
  return names.size() == 1 ? first : cat(first, " +", names.size() - 1);
}

std::string format_ratio(double ratio) { return fmt::format("{:.3g}", ratio); }

std::string more_text(std::size_t count) { return cat(count, " more; --top all shows them\n"); }

std::string summary_text(const Profile& profile) {
  std::string out =
      cat(profile.runs, profile.runs == 1 ? " run" : " runs", " of ", format_ms(profile.run_ms),
          " on average, ", format_percent(profile.coverage), " of it in the steps below\n");
  if (const auto overhead = profile.overhead()) {
    out += cat("profiling costs ", format_percent(*overhead), ": ", format_ms(*profile.plain_ms),
               " without it\n");
  }
  return out;
}

std::string operators_text(const Profile& profile, const std::optional<Roofline>& roofline) {
  Table table(with_numbers({{"operator"}, {"steps", Align::kRight}}, roofline.has_value()));
  for (const OperatorTime& entry : times_by_operator(profile)) {
    std::vector<std::string> row = {format_text(entry.sum.op, kNameWidth),
                                    std::to_string(entry.steps)};
    add_numbers(row, entry.sum, profile.steps_ms(), roofline);
    table.add_row(std::move(row));
  }
  return table.to_string();
}

std::string nodes_text(const Profile& profile, const std::optional<Roofline>& roofline,
                       std::size_t top) {
  std::vector<const ProfileStep*> steps;
  for (const ProfileStep& step : profile.steps) steps.push_back(&step);
  std::ranges::stable_sort(steps, std::ranges::greater(),
                           [](const ProfileStep* step) { return step->time_ms; });
  const std::size_t shown = std::min(top, steps.size());
  Table table(with_numbers({{"node"}, {"operator"}, {"kernel"}}, roofline.has_value()));
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfileStep& step = *steps[i];
    std::vector<std::string> row = {names_text(step.names), format_text(step.op, kNameWidth),
                                    step.kernel.empty() ? "-" : format_text(step.kernel, 24)};
    add_numbers(row, step, profile.steps_ms(), roofline);
    table.add_row(std::move(row));
  }
  std::string out = table.to_string();
  if (shown < steps.size()) out += more_text(steps.size() - shown);
  return out;
}

}  // namespace trivet::cli

#include "cli/compare_profiles.h"

#include <algorithm>
#include <optional>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/profile_text.h"
#include "cli/table.h"
#include "measure/profile_compare.h"
#include "measure/profile_file.h"

namespace trivet::cli {
namespace {

/// b by a; nothing where a took no time.
std::optional<double> ratio(double a_ms, double b_ms) {
  return a_ms > 0 ? std::optional(b_ms / a_ms) : std::nullopt;
}

void add_times(std::vector<std::string>& row, double a_ms, double b_ms) {
  const auto by = ratio(a_ms, b_ms);
  row.insert(row.end(), {format_ms(a_ms), format_ms(b_ms), format_ms(b_ms - a_ms),
                         by ? format_ratio(*by) : "-"});
}

std::vector<Table::Column> time_columns(std::vector<Table::Column> columns) {
  for (const char* title : {"A", "B", "B - A", "B / A"}) columns.push_back({title, Align::kRight});
  return columns;
}

std::string side_text(const char* side, const std::string& path, const Profile& profile) {
  return cat(side, "  ", format_text(path), ": ", profile.source,
             profile.model.empty() ? "" : " on " + format_text(profile.model), ", ", profile.runs,
             profile.runs == 1 ? " run" : " runs", " of ", format_ms(profile.run_ms), "\n");
}

std::string nodes_text(const ProfileComparison& comparison, std::size_t top) {
  Table table(time_columns({{"node"}, {"operator"}}));
  const std::size_t shown = std::min(top, comparison.nodes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfilePair& pair = comparison.nodes[i];
    std::vector<std::string> row = {names_text(pair.names), format_text(pair.op, 40)};
    add_times(row, pair.a_ms, pair.b_ms);
    table.add_row(std::move(row));
  }
  std::string out = "\n" + table.to_string();
  if (shown < comparison.nodes.size()) out += more_text(comparison.nodes.size() - shown);
  return out;
}

std::string only_text(const char* side, const std::vector<ProfileStep>& steps, std::size_t top) {
  if (steps.empty()) return "";
  Table table({{cat("only in ", side)}, {"operator"}, {"time", Align::kRight}});
  const std::size_t shown = std::min(top, steps.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.add_row(
        {names_text(steps[i].names), format_text(steps[i].op, 40), format_ms(steps[i].time_ms)});
  }
  std::string out = "\n" + table.to_string();
  if (shown < steps.size()) out += more_text(steps.size() - shown);
  return out;
}

std::string operators_text(const ProfileComparison& comparison) {
  Table table(time_columns({{"operator"}}));
  for (const ProfilePair& pair : comparison.operators) {
    std::vector<std::string> row = {format_text(pair.op, 40)};
    add_times(row, pair.a_ms, pair.b_ms);
    table.add_row(std::move(row));
  }
  std::vector<std::string> sum = {"all"};
  add_times(sum, comparison.a_ms, comparison.b_ms);
  table.add_row(std::move(sum));
  return "\n" + table.to_string();
}

Json json_pairs(const std::vector<ProfilePair>& pairs) {
  Json out = Json::array();
  for (const ProfilePair& pair : pairs) {
    Json json = Json::object();
    if (!pair.names.empty()) json["names"] = pair.names;
    json["op"] = pair.op;
    json["a_ms"] = pair.a_ms;
    json["b_ms"] = pair.b_ms;
    json["difference_ms"] = pair.difference();
    const auto by = ratio(pair.a_ms, pair.b_ms);
    json["ratio"] = by ? Json(*by) : Json();
    out.push_back(std::move(json));
  }
  return out;
}

Json json_steps(const std::vector<ProfileStep>& steps) {
  Json out = Json::array();
  for (const ProfileStep& step : steps) {
    out.push_back({{"names", step.names}, {"op", step.op}, {"time_ms", step.time_ms}});
  }
  return out;
}

Json json_side(const std::string& path, const Profile& profile) {
  return {{"file", path},         {"source", profile.source}, {"model", profile.model},
          {"runs", profile.runs}, {"run_ms", profile.run_ms}, {"steps_ms", profile.steps_ms()}};
}

}  // namespace

Result<int> compare_profile_files(const std::string& a, const std::string& b, std::size_t top,
                                  bool json) {
  TRIVET_ASSIGN(const Profile profile_a, read_profile(a));
  TRIVET_ASSIGN(const Profile profile_b, read_profile(b));
  const ProfileComparison comparison = compare_profiles(profile_a, profile_b);
  if (json) {
    print_json({{"a", json_side(a, profile_a)},
                {"b", json_side(b, profile_b)},
                {"nodes", json_pairs(comparison.nodes)},
                {"only_a", json_steps(comparison.only_a)},
                {"only_b", json_steps(comparison.only_b)},
                {"operators", json_pairs(comparison.operators)}});
    return kPassed;
  }
  print(side_text("A", a, profile_a) + side_text("B", b, profile_b));
  if (comparison.nodes.empty()) {
    print("no node has the same name on both sides, so they are compared by operator alone\n");
  } else {
    print(nodes_text(comparison, top) + only_text("A", comparison.only_a, top) +
          only_text("B", comparison.only_b, top));
  }
  print(operators_text(comparison));
  return kPassed;
}

}  // namespace trivet::cli

#include "cli/check_target.h"

#include <algorithm>

#include "cli/command.h"

namespace trivet::cli {
namespace {

using check::Target;
using check::TargetLimits;
using check::TargetTable;

constexpr std::string_view kList = "list";

/// "15", or "any" where there is no ceiling.
std::string ceiling(std::int64_t number) { return number == 0 ? "any" : cat(number); }

Json table_json(const TargetTable& table) {
  Json versions = Json::array();
  for (const TargetLimits& row : table.versions) {
    versions.push_back({{"version", row.version.to_string()},
                        {"opset", row.opset},
                        {"ml_opset", row.ml_opset},
                        {"ir", row.ir},
                        {"source", row.source}});
  }
  return {{"name", table.name},
          {"title", table.title},
          {"aliases", table.aliases},
          {"scope", table.scope},
          {"versions", std::move(versions)}};
}

void print_table(const TargetTable& table) {
  std::string names = table.name;
  for (const std::string& alias : table.aliases) names += cat(", ", alias);
  print(cat(table.title, " (", names, ")\n  ", table.scope, "\n"));
  for (const TargetLimits& row : table.versions) {
    print(cat("  ", row.version.to_string(), ": opset ", ceiling(row.opset), ", IR version ",
              ceiling(row.ir), "\n"));
  }
  print("\n");
}

}  // namespace

void TargetFlags::add_to(CLI::App& command) {
  add_repeatable(command, "--target", names,
                 "A runtime whose limits the model must keep; 'list' says which are known",
                 "NAME[@VERSION]");
}

bool TargetFlags::wants_list() const { return std::ranges::find(names, kList) != names.end(); }

Result<std::vector<Target>> TargetFlags::find() const {
  std::vector<Target> out;
  for (const std::string& name : names) {
    TRIVET_ASSIGN(Target target, check::find_target(name));
    out.push_back(std::move(target));
  }
  return out;
}

Result<int> list_targets(bool json) {
  Json all = Json::array();
  for (const TargetTable& table : check::target_tables()) {
    if (json) {
      all.push_back(table_json(table));
    } else {
      print_table(table);
    }
  }
  if (json) print_json({{"targets", std::move(all)}});
  return kPassed;
}

Json targets_json(const std::vector<Target>& targets) {
  Json out = Json::array();
  for (const Target& target : targets) {
    out.push_back({{"name", target.table->name},
                   {"version", target.version.to_string()},
                   {"opset", target.limits->opset},
                   {"ir", target.limits->ir},
                   {"note", target.note}});
  }
  return out;
}

void print_notes(const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (!target.note.empty()) print(cat("note: ", target.note, "\n\n"));
  }
}

}  // namespace trivet::cli

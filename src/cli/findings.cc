#include "cli/findings.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/format.h"

namespace trivet::cli {
namespace {

using check::Finding;
using check::Findings;
using check::Severity;

/// Names and causes come from a file: cut where one would fill the screen.
constexpr std::size_t kLongestSentence = 400;

std::string counted(std::size_t count, std::string_view one) {
  return cat(count, " ", one, count == 1 ? "" : "s");
}

}  // namespace

std::size_t count_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

bool passes(const Findings& findings) { return count_of(findings, Severity::kError) == 0; }

Json findings_json(const LoadedModel& model, const Findings& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"rule", finding.rule},
                    {"severity", check::to_string(finding.severity)},
                    {"where", finding.where},
                    {"cause", finding.cause},
                    {"consequence", finding.consequence},
                    {"fix", finding.fix},
                    {"fixable", finding.fixable}});
  }
  return {{"model", model.name},
          {"errors", count_of(findings, Severity::kError)},
          {"warnings", count_of(findings, Severity::kWarning)},
          {"infos", count_of(findings, Severity::kInfo)},
          {"findings", std::move(list)}};
}

void print_findings(const LoadedModel& model, const Findings& findings) {
  const auto text = [](const std::string& sentence) {
    return format_text(sentence, kLongestSentence);
  };
  for (const Finding& finding : findings) {
    print(cat(check::to_string(finding.severity), " ", finding.rule, ": ", text(finding.where),
              "\n  ", text(finding.cause), "\n  so:  ", text(finding.consequence),
              "\n  fix: ", text(finding.fix), "\n\n"));
  }
  print(cat(format_text(model.name), ": ", counted(count_of(findings, Severity::kError), "error"),
            ", ", counted(count_of(findings, Severity::kWarning), "warning"), ", ",
            counted(count_of(findings, Severity::kInfo), "note"), "\n"));
}

}  // namespace trivet::cli

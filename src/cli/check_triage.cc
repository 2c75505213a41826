#include "cli/check_triage.h"

#include <array>
#include <iostream>
#include <vector>

#include "check/triage.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"

namespace trivet::cli {
namespace {

using check::Diagnosis;

/// Logs of a day of exports fit; what is longer is no message.
constexpr std::size_t kLongestLog = std::size_t{64} << 20;

Result<std::string> read_standard_input() {
  std::string out;
  std::array<char, 1 << 16> buffer;
  while (std::cin.read(buffer.data(), buffer.size()) || std::cin.gcount() > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(std::cin.gcount()));
    if (out.size() > kLongestLog) {
      return invalid_argument(
          "--error -: more than 64 MB; pass the part with the message, for "
          "example the last lines: tail -200 LOG | trivet check --error -");
    }
  }
  return out;
}

Json to_json(const std::vector<Diagnosis>& diagnoses) {
  Json list = Json::array();
  for (const Diagnosis& one : diagnoses) {
    list.push_back({{"id", one.id},
                    {"runtime", one.runtime},
                    {"title", one.title},
                    {"cause", one.cause},
                    {"fix", one.fix},
                    {"act", one.act},
                    {"source", one.source},
                    {"matched", one.matched}});
  }
  return {{"known", !diagnoses.empty()}, {"diagnoses", std::move(list)}};
}

void print_diagnoses(const std::vector<Diagnosis>& diagnoses) {
  if (diagnoses.empty()) {
    print(
        "not known\n"
        "Pass the whole message with its last lines; or run trivet check on the model itself.\n");
    return;
  }
  for (const Diagnosis& one : diagnoses) {
    print(cat(one.title, " (", one.runtime, ")\n  seen:  ", format_text(one.matched, 160),
              "\n  cause: ", format_text(one.cause, 600), "\n  fix:   ", format_text(one.fix, 600),
              "\n  like:  ", one.source, "\n\n"));
  }
}

}  // namespace

Result<int> run_triage(const std::string& text, bool json) {
  std::string message = text;
  if (text == "-") {
    TRIVET_ASSIGN(message, read_standard_input());
  }
  const std::vector<Diagnosis> diagnoses = check::triage(message);
  if (json) {
    print_json(to_json(diagnoses));
  } else {
    print_diagnoses(diagnoses);
  }
  return diagnoses.empty() ? kCheckFailed : kPassed;
}

}  // namespace trivet::cli

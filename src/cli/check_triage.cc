#include "cli/check_triage.h"

#include <array>
#include <iostream>
#include <vector>

#include "check/symptoms.h"
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

Json to_json(const std::vector<check::Symptom>& symptoms) {
  Json list = Json::array();
  for (const check::Symptom& one : symptoms) {
    Json causes = Json::array();
    for (const check::SymptomCause& cause : one.causes) {
      causes.push_back(
          {{"cause", cause.cause}, {"tell", cause.tell}, {"fix", cause.fix}, {"act", cause.act}});
    }
    list.push_back({{"id", one.id},
                    {"seen", one.seen},
                    {"causes", std::move(causes)},
                    {"sources", one.sources}});
  }
  return {{"known", !symptoms.empty()}, {"symptoms", std::move(list)}};
}

void print_list(const std::vector<check::Symptom>& symptoms) {
  for (std::size_t i = 0; i < symptoms.size(); ++i) {
    print(cat(i + 1, "  ", symptoms[i].seen, "\n"));
  }
  print("\nCauses and fixes: trivet check --symptom NUMBER\n");
}

void print_symptoms(const std::vector<check::Symptom>& symptoms) {
  if (symptoms.empty()) print("not known; trivet check --symptom list shows all\n");
  for (const check::Symptom& one : symptoms) {
    print(cat(one.seen, "\n"));
    for (const check::SymptomCause& cause : one.causes) {
      print(cat("  cause: ", cause.cause, "\n  tell:  ", cause.tell, "\n  fix:   ", cause.fix,
                "\n\n"));
    }
  }
}

}  // namespace

Result<int> run_symptoms(const std::string& words, bool json) {
  const bool all = words == "list";
  const std::vector<check::Symptom> found =
      all ? check::all_symptoms() : check::find_symptoms(words);
  if (json) {
    print_json(to_json(found));
  } else if (all) {
    print_list(found);
  } else {
    print_symptoms(found);
  }
  return found.empty() ? kCheckFailed : kPassed;
}

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

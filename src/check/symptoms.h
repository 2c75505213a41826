// Symptoms: what is seen where nothing is printed, and what can be behind it. Kept as data
// (data/symptoms.json); messages are in check/triage.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trivet::check {

/// One thing that can be behind a symptom.
struct SymptomCause {
  std::string cause;
  std::string tell;  ///< how to see that it is this one
  std::string fix;
  std::string act;  ///< one of triage_acts()
};

struct Symptom {
  std::string id;
  std::string seen;
  std::vector<std::string> keywords;
  std::vector<SymptomCause> causes;  ///< the likeliest first
  std::vector<std::string> sources;  ///< public threads in which it was seen
};

[[nodiscard]] const std::vector<Symptom>& all_symptoms();
/// Those that the words describe, best first, three at most; or the one whose number (from 1, in
/// the order of all_symptoms()) or id the words are.
[[nodiscard]] std::vector<Symptom> find_symptoms(std::string_view words);

}  // namespace trivet::check

#include "check/symptoms.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "check/embedded.h"
#include "check/fragment_finder.h"

namespace trivet::check {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMatches = 3;
/// A keyword says more than a word that happens to stand in the description.
constexpr std::size_t kKeywordWeight = 4;

Symptom to_symptom(const Json& entry) {
  Symptom symptom;
  symptom.id = entry.at("id").get<std::string>();
  symptom.seen = entry.at("seen").get<std::string>();
  symptom.keywords = entry.at("keywords").get<std::vector<std::string>>();
  symptom.sources = entry.at("sources").get<std::vector<std::string>>();
  for (const Json& cause : entry.at("causes")) {
    symptom.causes.push_back(
        {cause.at("cause").get<std::string>(), cause.at("tell").get<std::string>(),
         cause.at("fix").get<std::string>(), cause.at("act").get<std::string>()});
  }
  return symptom;
}

std::vector<Symptom> load_symptoms() {
  const Json document = Json::parse(embedded::check_symptoms);
  std::vector<Symptom> symptoms;
  for (const Json& entry : document.at("symptoms")) symptoms.push_back(to_symptom(entry));
  return symptoms;
}

/// Words in lower case, with one blank before and behind each: " my output is nan ".
std::string words_of(std::string_view text) {
  std::string words = " ";
  for (const char c : plain_text(text).folded) {
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (part || words.back() != ' ') words += part ? c : ' ';
  }
  if (words.back() != ' ') words += ' ';
  return words;
}

bool holds(const std::string& words, const std::string& phrase) {
  return words.find(phrase) != std::string::npos;
}

std::size_t likeness(const Symptom& symptom, const std::string& words) {
  std::size_t score = 0;
  for (const std::string& keyword : symptom.keywords) {
    const std::string phrase = words_of(keyword);
    if (!holds(words, phrase)) continue;
    const auto parts = std::ranges::count(phrase, ' ') - 1;  // a phrase says more than a word
    score += kKeywordWeight * static_cast<std::size_t>(parts);
  }
  if (score == 0) return 0;  // a description alone shares too many words with anything
  const std::string seen = words_of(symptom.seen);
  for (std::size_t at = 0; at + 1 < words.size();) {
    const std::size_t end = words.find(' ', at + 1);
    const std::string word = words.substr(at, end - at + 1);
    if (word.size() > 5 && holds(seen, word)) ++score;
    at = end;
  }
  return score;
}

}  // namespace

const std::vector<Symptom>& all_symptoms() {
  static const std::vector<Symptom> kSymptoms = load_symptoms();
  return kSymptoms;
}

std::vector<Symptom> find_symptoms(std::string_view words) {
  const std::vector<Symptom>& all = all_symptoms();
  std::size_t number = 0;
  const auto parsed = std::from_chars(words.data(), words.data() + words.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == words.data() + words.size() && number >= 1 &&
      number <= all.size()) {
    return {all[number - 1]};
  }
  const auto named = std::ranges::find(all, words, &Symptom::id);
  if (named != all.end()) return {*named};

  const std::string asked = words_of(words);
  std::vector<std::pair<std::size_t, std::size_t>> scored;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::size_t score = likeness(all[i], asked)) scored.emplace_back(score, i);
  }
  std::ranges::stable_sort(scored, std::ranges::greater(),
                           &std::pair<std::size_t, std::size_t>::first);
  std::vector<Symptom> found;
  for (const auto& [score, index] : scored) {
    if (found.size() < kMatches && 2 * score >= scored.front().first) found.push_back(all[index]);
  }
  return found;
}

}  // namespace trivet::check

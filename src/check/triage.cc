#include "check/triage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "check/embedded.h"
#include "check/fragment_finder.h"

namespace trivet::check {
namespace {

using Json = nlohmann::json;

/// How far apart two fragments may lie: around a value, and around anything (" * ").
constexpr std::size_t kValueGap = 200;
constexpr std::size_t kAnyGap = 600;
constexpr std::size_t kDiagnoses = 3;
/// The last line of a traceback is the error itself; what stands above are warnings and callers.
constexpr std::size_t kTail = 400;
constexpr double kTailBonus = 15.0;
/// Others than the best are told where they are at least this share as specific.
constexpr double kWorthTelling = 0.5;

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// One pattern text, cut: "exporting {op} to * fails" is three fragments, a value and a gap.
struct Alternative {
  std::size_t pattern = 0;
  std::vector<std::uint32_t> fragments;
  std::vector<std::size_t> gaps;    ///< before each fragment; 0 for the first
  std::vector<std::string> values;  ///< the name before each fragment and behind the last, or ""
  std::size_t length = 0;           ///< bytes of all fragments
};

/// Where a fragment is used: in which alternative, as which of its fragments.
struct Use {
  std::size_t alternative = 0;
  std::size_t place = 0;
};

/// All patterns, ready to be looked for together.
struct Catalogue {
  std::vector<TriagePattern> patterns;
  std::vector<Alternative> alternatives;
  FragmentFinder finder;
  std::vector<std::vector<Use>> uses;            ///< by fragment; later places first
  std::vector<std::vector<std::uint32_t>> any;   ///< by pattern
  std::vector<std::vector<std::uint32_t>> none;  ///< by pattern
};

std::vector<std::string> texts(const Json& object, const char* key) {
  return object.contains(key) ? object[key].get<std::vector<std::string>>()
                              : std::vector<std::string>();
}

TriagePattern to_pattern(const Json& entry) {
  TriagePattern pattern;
  const std::pair<const char*, std::string*> fields[] = {
      {"id", &pattern.id},     {"runtime", &pattern.runtime}, {"act", &pattern.act},
      {"kind", &pattern.kind}, {"title", &pattern.title},     {"cause", &pattern.cause},
      {"fix", &pattern.fix},   {"example", &pattern.example}, {"source", &pattern.source}};
  for (const auto& [key, value] : fields) *value = entry.at(key).get<std::string>();
  pattern.patterns = texts(entry, "patterns");
  pattern.any = texts(entry, "any");
  pattern.none = texts(entry, "not");
  return pattern;
}

std::string trimmed(std::string_view text, std::string_view what = " ") {
  const std::size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(what) - begin + 1));
}

std::uint32_t add_fragment(Catalogue& all, const std::string& fragment) {
  const std::uint32_t id = all.finder.add(fragment);
  if (all.uses.size() <= id) all.uses.resize(id + 1);
  return id;
}

/// Where the next value or gap of a pattern's text begins, and what is written there.
struct Hole {
  std::size_t begin = std::string::npos;
  std::size_t end = std::string::npos;
  std::string value;  ///< empty: " * "
};

Hole next_hole(const std::string& text, std::size_t from) {
  const std::size_t star = text.find(" * ", from);
  const std::size_t brace = text.find('{', from);
  if (star < brace) return {star, star + 3, ""};
  const std::size_t close = brace == std::string::npos ? brace : text.find('}', brace);
  if (close == std::string::npos) return {};
  return {brace, close + 1, text.substr(brace + 1, close - brace - 1)};
}

void add_alternative(Catalogue& all, std::size_t pattern, const std::string& written) {
  const std::string text = plain_text(written).folded;
  Alternative made;
  made.pattern = pattern;
  std::string value;
  std::size_t gap = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const Hole hole = next_hole(text, at);
    const std::string fragment = trimmed(std::string_view(text).substr(at, hole.begin - at));
    if (!fragment.empty()) {
      made.fragments.push_back(add_fragment(all, fragment));
      made.gaps.push_back(made.gaps.empty() ? 0 : std::max(gap, std::size_t{1}));
      made.values.push_back(value);
      made.length += fragment.size();
      value.clear();
      gap = 0;
    }
    if (hole.begin == std::string::npos) break;
    if (!hole.value.empty()) value = hole.value;
    gap = std::max(gap, hole.value.empty() ? kAnyGap : kValueGap);
    at = hole.end;
  }
  made.values.push_back(value);
  for (std::size_t i = made.fragments.size(); i-- > 0;) {
    all.uses[made.fragments[i]].push_back({all.alternatives.size(), i});
  }
  if (!made.fragments.empty()) all.alternatives.push_back(std::move(made));
}

std::vector<std::uint32_t> add_conditions(Catalogue& all, const std::vector<std::string>& written) {
  std::vector<std::uint32_t> ids;
  for (const std::string& text : written) {
    ids.push_back(add_fragment(all, plain_text(text).folded));
  }
  return ids;
}

Catalogue load_catalogue() {
  Catalogue all;
  const Json document = Json::parse(embedded::check_triage);
  for (const Json& entry : document.at("patterns")) {
    const std::size_t index = all.patterns.size();
    all.patterns.push_back(to_pattern(entry));
    const TriagePattern& pattern = all.patterns.back();
    for (const std::string& text : pattern.patterns) add_alternative(all, index, text);
    all.any.push_back(add_conditions(all, pattern.any));
    all.none.push_back(add_conditions(all, pattern.none));
  }
  all.finder.prepare();
  return all;
}

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = load_catalogue();
  return kCatalogue;
}

/// What one pass over a text finds. For each alternative and each of its fragments, the latest run
/// of fragments up to there that stand in order and near enough.
class Matches {
 public:
  Matches(const Catalogue& all, std::string_view text) : all_(all), seen_(all.uses.size(), false) {
    chains_.resize(all.alternatives.size());
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].resize(all.alternatives[i].fragments.size());
    }
    all.finder.scan(text, [this](std::uint32_t fragment, std::size_t begin, std::size_t end) {
      seen_[fragment] = true;
      for (const Use& use : all_.uses[fragment]) extend(use, {begin, end});
    });
  }

  /// The spans of the last full match; empty: none.
  [[nodiscard]] const std::vector<Span>& of(std::size_t alternative) const {
    return chains_[alternative].back();
  }
  [[nodiscard]] bool allowed(std::size_t pattern) const {
    const auto seen = [this](std::uint32_t fragment) -> bool { return seen_[fragment]; };
    if (std::ranges::any_of(all_.none[pattern], seen)) return false;
    return all_.any[pattern].empty() || std::ranges::any_of(all_.any[pattern], seen);
  }

 private:
  void extend(const Use& use, Span span) {
    std::vector<std::vector<Span>>& chains = chains_[use.alternative];
    if (use.place == 0) {
      chains[0].assign(1, span);
      return;
    }
    const std::vector<Span>& before = chains[use.place - 1];
    if (before.empty() || before.back().end > span.begin) return;
    const std::size_t gap = all_.alternatives[use.alternative].gaps[use.place];
    if (span.begin - before.back().end > gap) return;
    chains[use.place] = before;
    chains[use.place].push_back(span);
  }

  const Catalogue& all_;
  std::vector<std::vector<std::vector<Span>>> chains_;
  std::vector<bool> seen_;
};

double specificity(const Alternative& alternative, const TriagePattern& pattern, std::size_t end,
                   std::size_t text_size) {
  double score = static_cast<double>(alternative.length);
  if (text_size > 3 * kTail && end + kTail > text_size) score += kTailBonus;
  if (pattern.kind == "warning") return score * 0.5;
  return pattern.kind == "family" ? score * 0.3 : score;
}

constexpr std::string_view kAround = " ,;.:()[]{}<>";

/// The value between two fragments, or the word before the first or behind the last.
std::string value_at(std::string_view text, const std::vector<Span>& spans, std::size_t place) {
  constexpr std::size_t kLongest = 80;
  if (place == 0) {
    const std::string_view before = text.substr(0, spans.front().begin);
    const std::string word =
        trimmed(before.substr(before.size() - std::min(before.size(), kLongest)));
    const std::size_t blank = word.rfind(' ');
    return trimmed(blank == std::string::npos ? word : word.substr(blank + 1), kAround);
  }
  const std::size_t begin = spans[place - 1].end;
  if (place < spans.size() && spans[place].begin - begin <= kLongest) {
    return trimmed(text.substr(begin, spans[place].begin - begin), kAround);
  }
  const std::string rest = trimmed(text.substr(begin, kLongest));
  return trimmed(rest.substr(0, rest.find(' ')), kAround);
}

/// What stands for a value that the message did not name.
std::string_view unnamed(std::string_view value) {
  if (value == "op") return "an operator";
  if (value == "bytes") return "that many";
  return "?";
}

/// `text` with {name} replaced by what the match says.
std::string filled(const std::string& text, const Alternative& alternative,
                   const std::vector<Span>& spans, std::string_view kept) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    out += text.substr(at, open - at);
    if (close == std::string::npos) break;
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto found = std::ranges::find(alternative.values, name);
    std::string value;
    if (found != alternative.values.end()) {
      value = value_at(kept, spans, static_cast<std::size_t>(found - alternative.values.begin()));
    }
    out += value.empty() ? std::string(unnamed(name)) : value;
    at = close + 1;
  }
  return out;
}

Diagnosis to_diagnosis(const Catalogue& all, const Alternative& alternative,
                       const std::vector<Span>& spans, std::string_view kept, double score) {
  constexpr std::size_t kLongest = 200;
  const TriagePattern& pattern = all.patterns[alternative.pattern];
  const std::size_t begin = spans.front().begin;
  return {pattern.id,
          pattern.runtime,
          pattern.title,
          filled(pattern.cause, alternative, spans, kept),
          filled(pattern.fix, alternative, spans, kept),
          pattern.act,
          pattern.source,
          std::string(kept.substr(begin, std::min(spans.back().end - begin, kLongest))),
          score};
}

}  // namespace

std::vector<Diagnosis> triage(std::string_view text) {
  const Catalogue& all = catalogue();
  const PlainText plain = plain_text(text);
  const Matches matches(all, plain.folded);
  std::vector<std::optional<std::pair<double, std::size_t>>> best(all.patterns.size());
  for (std::size_t i = 0; i < all.alternatives.size(); ++i) {
    const Alternative& alternative = all.alternatives[i];
    const std::vector<Span>& spans = matches.of(i);
    if (spans.empty() || !matches.allowed(alternative.pattern)) continue;
    const double score = specificity(alternative, all.patterns[alternative.pattern],
                                     spans.back().end, plain.folded.size());
    auto& known = best[alternative.pattern];
    if (!known || known->first < score) known = {score, i};
  }
  std::vector<Diagnosis> found;
  for (const auto& one : best) {
    if (!one) continue;
    found.push_back(to_diagnosis(all, all.alternatives[one->second], matches.of(one->second),
                                 plain.kept, one->first));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Diagnosis::score);
  const auto weak = std::ranges::find_if(
      found, [&](const Diagnosis& one) { return one.score < kWorthTelling * found.front().score; });
  found.erase(weak, found.end());
  if (found.size() > kDiagnoses) found.resize(kDiagnoses);
  return found;
}

const std::vector<TriagePattern>& triage_patterns() { return catalogue().patterns; }

const std::vector<std::string_view>& triage_acts() {
  static const std::vector<std::string_view> kActs = {"custom-op",
                                                      "declare-axis",
                                                      "fix-input",
                                                      "free-memory",
                                                      "install-dependency",
                                                      "pin-opset",
                                                      "preprocess",
                                                      "re-export",
                                                      "rebuild-on-target",
                                                      "quantize",
                                                      "require-provider",
                                                      "script-module",
                                                      "shape-profile",
                                                      "swap-op",
                                                      "upgrade-runtime",
                                                      "verify-numerics",
                                                      "measure"};
  return kActs;
}

}  // namespace trivet::check

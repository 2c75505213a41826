#include "check/symptoms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "check/triage.h"

namespace trivet::check {
namespace {

std::string first_symptom(std::string_view words) {
  const auto found = find_symptoms(words);
  return found.empty() ? "" : found.front().id;
}

TEST(Symptoms, EachHasCausesActsAndAThread) {
  std::set<std::string> ids;
  for (const Symptom& symptom : all_symptoms()) {
    EXPECT_TRUE(ids.insert(symptom.id).second) << symptom.id;
    EXPECT_FALSE(symptom.causes.empty()) << symptom.id;
    EXPECT_FALSE(symptom.sources.empty()) << symptom.id;
    for (const std::string& source : symptom.sources) EXPECT_TRUE(source.starts_with("https://"));
    for (const SymptomCause& cause : symptom.causes) {
      const bool known = std::ranges::find(triage_acts(), cause.act) != triage_acts().end();
      EXPECT_TRUE(known) << symptom.id << ": " << cause.act;
      EXPECT_FALSE(cause.tell.empty() || cause.fix.empty()) << symptom.id;
    }
  }
  EXPECT_GE(ids.size(), 14U);
}

TEST(Symptoms, AreFoundByWhatIsSeen) {
  const std::pair<const char*, const char*> cases[] = {
      {"the exported model always takes the same branch", "one-branch"},
      {"loads fine, runs fast, but accuracy drops by 4 points", "accuracy-falls"},
      {"GPU is idle, slower than expected", "slow-in-fact"},
      {"a 320x320 camera stream is refused", "size-refused"},
      {"only works with batch size 1", "batch-one-only"},
      {"engine copied from another machine does not load", "engine-from-elsewhere"},
      {"first inference takes seconds", "first-run-slow"},
      {"memory leak, RAM grows", "memory-grows"},
      {"different results between runs for the same input", "differs-between-runs"},
      {"everything is NaN", "all-nan"},
      {"int8 slower than float", "int8-slower"},
      {"more threads make it worse", "more-threads-slower"},
  };
  for (const auto& [words, id] : cases) EXPECT_EQ(first_symptom(words), id) << words;
}

TEST(Symptoms, AreFoundByNumberAndId) {
  EXPECT_EQ(first_symptom("1"), all_symptoms().front().id);
  EXPECT_EQ(first_symptom("all-nan"), "all-nan");
  EXPECT_TRUE(find_symptoms("0").empty());
  EXPECT_TRUE(find_symptoms("99").empty());
}

TEST(Symptoms, OtherWordsFindNone) {
  for (const char* words : {"", "the cat sat on the mat", "login page returns 404", "{}'\""}) {
    EXPECT_TRUE(find_symptoms(words).empty()) << words << " -> " << first_symptom(words);
  }
}

}  // namespace
}  // namespace trivet::check

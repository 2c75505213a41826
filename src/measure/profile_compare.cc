#include "measure/profile_compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace trivet {
namespace {

/// The steps of both sides in one row, a's first, in groups that names hold together.
class Groups {
 public:
  Groups(const Profile& a, const Profile& b) {
    for (const ProfileStep& step : a.steps) steps_.push_back(&step);
    for (const ProfileStep& step : b.steps) steps_.push_back(&step);
    leader_.resize(steps_.size());
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
    std::map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (const auto* names : {&steps_[i]->names, &steps_[i]->outputs}) {
        for (const std::string& name : *names) {
          if (name.empty()) continue;
          const auto [at, fresh] = first.emplace(name, i);
          if (!fresh) join(at->second, i);
        }
      }
    }
  }

  /// By the first step of each, ascending.
  [[nodiscard]] std::vector<std::vector<std::size_t>> members() {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < steps_.size(); ++i) groups[leader(i)].push_back(i);
    std::vector<std::vector<std::size_t>> out;
    for (auto& [first, group] : groups) out.push_back(std::move(group));
    return out;
  }

  [[nodiscard]] const ProfileStep& step(std::size_t i) const { return *steps_[i]; }

 private:
  std::size_t leader(std::size_t i) {
    while (leader_[i] != i) i = leader_[i] = leader_[leader_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t k) {
    const std::size_t one = leader(i);
    const std::size_t other = leader(k);
    leader_[std::max(one, other)] = std::min(one, other);
  }

  std::vector<const ProfileStep*> steps_;
  std::vector<std::size_t> leader_;
};

/// The names of a group: what both sides have, then the rest.
std::vector<std::string> names_of(const Groups& groups, const std::vector<std::size_t>& group,
                                  std::size_t a_count) {
  std::vector<std::string> order;
  std::map<std::string, std::set<bool>> sides;
  for (const std::size_t i : group) {
    for (const std::string& name : groups.step(i).names) {
      if (!sides.contains(name)) order.push_back(name);
      sides[name].insert(i < a_count);
    }
  }
  // Not the one of std::ranges, whose result clang 14 cannot compile.
  std::stable_partition(order.begin(), order.end(),
                        [&](const std::string& name) { return sides[name].size() == 2; });
  return order;
}

void add_group(Groups& groups, const std::vector<std::size_t>& group, std::size_t a_count,
               ProfileComparison& out) {
  ProfilePair pair;
  bool has_a = false;
  bool has_b = false;
  for (const std::size_t i : group) {
    const bool is_a = i < a_count;
    (is_a ? has_a : has_b) = true;
    (is_a ? pair.a_ms : pair.b_ms) += groups.step(i).time_ms;
  }
  if (has_a && has_b) {
    pair.names = names_of(groups, group, a_count);
    pair.op = groups.step(group.front()).op;
    out.nodes.push_back(std::move(pair));
    return;
  }
  for (const std::size_t i : group) (has_a ? out.only_a : out.only_b).push_back(groups.step(i));
}

void sort_pairs(std::vector<ProfilePair>& pairs) {
  std::ranges::stable_sort(pairs, std::ranges::greater(),
                           [](const ProfilePair& pair) { return std::abs(pair.difference()); });
}

}  // namespace

ProfileComparison compare_profiles(const Profile& a, const Profile& b) {
  ProfileComparison out;
  out.a_ms = a.steps_ms();
  out.b_ms = b.steps_ms();
  Groups groups(a, b);
  for (const std::vector<std::size_t>& group : groups.members()) {
    add_group(groups, group, a.steps.size(), out);
  }
  std::map<std::string, ProfilePair> operators;
  const auto add = [&](const ProfileStep& step, double ProfilePair::*side) {
    const std::string op(leading_operator(step.op));
    operators[op].op = op;
    operators[op].*side += step.time_ms;
  };
  for (const ProfileStep& step : a.steps) add(step, &ProfilePair::a_ms);
  for (const ProfileStep& step : b.steps) add(step, &ProfilePair::b_ms);
  for (auto& [op, pair] : operators) out.operators.push_back(std::move(pair));
  sort_pairs(out.nodes);
  sort_pairs(out.operators);
  for (auto* only : {&out.only_a, &out.only_b}) {
    std::ranges::stable_sort(*only, std::ranges::greater(), &ProfileStep::time_ms);
  }
  return out;
}

}  // namespace trivet

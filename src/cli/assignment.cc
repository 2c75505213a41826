#include "cli/assignment.h"

namespace trivet::cli {

std::string assignment_text(std::span<const Assignment::Part> parts, int threads) {
  std::string who;
  for (const Assignment::Part& part : parts) {
    if (part.nodes == 0) continue;
    who += cat(who.empty() ? "" : ", ", part.nodes, part.nodes == 1 ? " node on " : " nodes on ",
               part.provider);
  }
  return cat(who.empty() ? "no nodes left" : who, ", ", threads,
             threads == 1 ? " thread" : " threads");
}

std::string assignment_text(const Session& session) {
  return assignment_text(session.assignment().parts, session.threads());
}

Json json_assignment(std::span<const Assignment::Part> parts) {
  Json out = Json::array();
  for (const Assignment::Part& part : parts) {
    out.push_back({{"name", part.provider}, {"nodes", part.nodes}, {"segments", part.segments}});
  }
  return out;
}

}  // namespace trivet::cli

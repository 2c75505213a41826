#include "cli/assignment.h"

namespace trivet::cli {

std::string assignment_text(const Session& session) {
  std::string who;
  for (const Assignment::Part& part : session.assignment().parts) {
    if (part.nodes == 0) continue;
    who += cat(who.empty() ? "" : ", ", part.nodes, part.nodes == 1 ? " node on " : " nodes on ",
               part.provider);
  }
  return cat(who.empty() ? "no nodes left" : who, ", ", session.threads(),
             session.threads() == 1 ? " thread" : " threads");
}

Json json_assignment(const Assignment& assignment) {
  Json out = Json::array();
  for (const Assignment::Part& part : assignment.parts) {
    out.push_back({{"name", part.provider}, {"nodes", part.nodes}, {"segments", part.segments}});
  }
  return out;
}

}  // namespace trivet::cli

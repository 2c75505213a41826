#include "convert/boundary.h"

#include <map>
#include <utility>

namespace trivet::convert {

const Boundary* find_boundary(std::string_view op, int since) {
  using Key = std::pair<std::string_view, int>;
  static const std::map<Key, const Boundary*> all = [] {
    std::map<Key, const Boundary*> out;
    for (const auto& table : {axis_boundaries(), softmax_boundaries(), resize_boundaries(),
                              numeric_boundaries(), decomposition_boundaries()}) {
      for (const Boundary& boundary : table) out[{boundary.op, boundary.since}] = &boundary;
    }
    return out;
  }();
  const auto it = all.find({op, since});
  return it == all.end() ? nullptr : it->second;
}

}  // namespace trivet::convert

#include "cli/model_facts.h"

#include <algorithm>
#include <set>

namespace trivet::cli {
namespace {

struct Sum {
  std::int64_t parameters = 0;
  std::map<std::string, std::uint64_t> bytes;
};

bool is_weight(const Tensor& tensor) {
  return is_floating(tensor.dtype()) ||
         (is_integer(tensor.dtype()) && dtype_bits(tensor.dtype()) <= 8);
}

void add_weights(const Graph& graph, Sum& sum) {
  std::set<ValueId> read;
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : graph.reads(node)) {
      if (graph.is_constant(id)) read.insert(id);
    }
    if (const Tensor* constant = node.attributes.get<Tensor>("value")) {
      if (node.is("Constant") && is_weight(*constant)) {
        sum.parameters += constant->size();
        sum.bytes[std::string(dtype_name(constant->dtype()))] += constant->bytes();
      }
    }
    for (const Graph* inner : subgraphs(node)) add_weights(*inner, sum);
  }
  for (const ValueId id : read) {
    const Tensor& tensor = graph.value(id).constant;
    if (!is_weight(tensor)) continue;
    sum.parameters += tensor.size();
    sum.bytes[std::string(dtype_name(tensor.dtype()))] += tensor.bytes();
  }
}

void add_operators(const Graph& graph, std::map<std::string, std::size_t>& counts) {
  for (const Node& node : graph.nodes()) {
    ++counts[node.op_type];
    for (const Graph* inner : subgraphs(node)) add_operators(*inner, counts);
  }
}

}  // namespace

WeightFacts weight_facts(const Graph& graph) {
  Sum sum;
  add_weights(graph, sum);
  WeightFacts facts{sum.parameters, 0, "none"};
  std::uint64_t most = 0;
  for (const auto& [dtype, bytes] : sum.bytes) {
    facts.bytes += bytes;
    if (bytes > most) facts.precision = dtype;
    most = std::max(most, bytes);
  }
  return facts;
}

std::map<std::string, std::size_t> operator_counts(const Graph& graph) {
  std::map<std::string, std::size_t> counts;
  add_operators(graph, counts);
  return counts;
}

}  // namespace trivet::cli

// TreeEnsemble (ai.onnx.ml, version 5): decision trees that vote or add up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

enum Mode : std::uint8_t {
  kLessOrEqual,
  kLess,
  kGreaterOrEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kMember
};
enum class Aggregate : std::int64_t { kAverage, kSum, kMin, kMax };
enum class PostTransform : std::int64_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

/// Where a branch leads: a leaf or another node.
struct Branch {
  bool leaf = false;
  std::int64_t index = 0;
};

struct TreeNode {
  std::int64_t feature = 0;
  Mode mode = kLessOrEqual;
  double split = 0.0;
  bool missing_is_true = false;
  std::vector<double> members;
  Branch when_true;
  Branch when_false;

  [[nodiscard]] bool test(double x) const {
    if (std::isnan(x)) return missing_is_true || (mode == kNotEqual);
    switch (mode) {
      case kLessOrEqual: return x <= split;
      case kLess: return x < split;
      case kGreaterOrEqual: return x >= split;
      case kGreater: return x > split;
      case kEqual: return x == split;
      case kNotEqual: return x != split;
      case kMember: return std::ranges::find(members, x) != members.end();
    }
    return false;
  }
};

struct Leaf {
  std::int64_t target = 0;
  double weight = 0.0;
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<Leaf> leaves;
  std::vector<std::int64_t> roots;
  std::int64_t targets = 1;
  std::int64_t features = 0;  ///< least width of the input
  Aggregate aggregate = Aggregate::kSum;
  PostTransform post = PostTransform::kNone;
};

std::vector<double> doubles_of(const Attributes& attributes, std::string_view name) {
  std::vector<double> out;
  const auto* tensor = attributes.get<Tensor>(name);
  for (std::int64_t i = 0; tensor != nullptr && i < tensor->size(); ++i)
    out.push_back(element_as_double(*tensor, i));
  return out;
}

bool in_range(const std::vector<std::int64_t>& values, std::size_t end) {
  return std::ranges::all_of(
      values, [end](std::int64_t v) { return v >= 0 && v < static_cast<std::int64_t>(end); });
}

Result<void> read_leaves(const Attributes& attributes, Forest& forest) {
  const auto targets = attributes.ints("leaf_targetids");
  const auto weights = doubles_of(attributes, "leaf_weights");
  constexpr std::int64_t kMostTargets = 1 << 24;
  forest.targets = attributes.int_or("n_targets", 1);
  if (forest.targets < 1 || forest.targets > kMostTargets || targets.size() != weights.size() ||
      !in_range(targets, static_cast<std::size_t>(forest.targets))) {
    return invalid_model(
        "attributes 'leaf_targetids', 'leaf_weights' and 'n_targets' do not fit together");
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    forest.leaves.push_back({targets[i], weights[i]});
  return {};
}

/// The members to test for stand in one list, in the order of the nodes that test, with a NaN after
/// each set.
Result<void> read_members(const Attributes& attributes, Forest& forest) {
  const auto members = doubles_of(attributes, "membership_values");
  std::size_t next = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.mode != kMember) continue;
    for (; next < members.size() && !std::isnan(members[next]); ++next)
      node.members.push_back(members[next]);
    if (next++ >= members.size())
      return invalid_model("attribute 'membership_values' has too few sets");
  }
  return {};
}

Result<void> read_nodes(const Attributes& attributes, Forest& forest) {
  const auto features = attributes.ints("nodes_featureids");
  const auto modes = doubles_of(attributes, "nodes_modes");
  const auto splits = doubles_of(attributes, "nodes_splits");
  const auto true_ids = attributes.ints("nodes_truenodeids");
  const auto false_ids = attributes.ints("nodes_falsenodeids");
  const auto true_leaf = attributes.ints("nodes_trueleafs");
  const auto false_leaf = attributes.ints("nodes_falseleafs");
  const auto missing = attributes.ints("nodes_missing_value_tracks_true");
  const std::size_t n = features.size();
  if (modes.size() != n || splits.size() != n || true_ids.size() != n || false_ids.size() != n ||
      true_leaf.size() != n || false_leaf.size() != n ||
      (!missing.empty() && missing.size() != n) ||
      !in_range(features, std::numeric_limits<std::int32_t>::max())) {
    return invalid_model("the attributes 'nodes_*' must all have one entry per node");
  }
  for (std::size_t i = 0; i < n; ++i) {
    TreeNode node{features[i],
                  kLessOrEqual,
                  splits[i],
                  !missing.empty() && missing[i] != 0,
                  {},
                  {true_leaf[i] != 0, true_ids[i]},
                  {false_leaf[i] != 0, false_ids[i]}};
    for (const Branch& branch : {node.when_true, node.when_false}) {
      const std::size_t end = branch.leaf ? forest.leaves.size() : n;
      if (!in_range({branch.index}, end))
        return invalid_model("a branch leads to ", branch.index, " of ", end);
    }
    if (!(modes[i] >= 0 && modes[i] <= static_cast<int>(kMember)))
      return invalid_model("attribute 'nodes_modes' has ", modes[i]);
    node.mode = static_cast<Mode>(modes[i]);
    forest.features = std::max(forest.features, node.feature + 1);
    forest.nodes.push_back(std::move(node));
  }
  return {};
}

Result<Forest> forest_of(const Attributes& attributes) {
  Forest out;
  TRIVET_TRY(read_leaves(attributes, out));
  TRIVET_TRY(read_nodes(attributes, out));
  TRIVET_TRY(read_members(attributes, out));
  out.roots = attributes.ints("tree_roots");
  if (!in_range(out.roots, out.nodes.size()))
    return invalid_model("attribute 'tree_roots' names a node that is not there");
  const std::int64_t aggregate = attributes.int_or("aggregate_function", 1);
  const std::int64_t post = attributes.int_or("post_transform", 0);
  if (aggregate < 0 || aggregate > 3 || post < 0 || post > 4) {
    return invalid_model("attributes 'aggregate_function' and 'post_transform' are ", aggregate,
                         " and ", post);
  }
  out.aggregate = static_cast<Aggregate>(aggregate);
  out.post = static_cast<PostTransform>(post);
  if (out.post == PostTransform::kProbit)
    return unsupported("attribute 'post_transform' 4 (probit)");
  return out;
}

/// Walks one tree; fails where the nodes form a circle.
Result<Leaf> decide(const Forest& forest, std::int64_t root, const double* row) {
  std::int64_t at = root;
  for (std::size_t steps = 0; steps < forest.nodes.size(); ++steps) {
    const TreeNode& node = forest.nodes[static_cast<std::size_t>(at)];
    const Branch& branch = node.test(row[node.feature]) ? node.when_true : node.when_false;
    if (branch.leaf) return forest.leaves[static_cast<std::size_t>(branch.index)];
    at = branch.index;
  }
  return invalid_model("the nodes of a tree form a circle");
}

double start_of(Aggregate aggregate, bool single) {
  if (aggregate == Aggregate::kSum || aggregate == Aggregate::kAverage) return 0.0;
  const double most =
      single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  return aggregate == Aggregate::kMin ? most : -most;
}

void combine(double& total, double weight, const Forest& forest) {
  switch (forest.aggregate) {
    case Aggregate::kAverage: total += weight / static_cast<double>(forest.roots.size()); break;
    case Aggregate::kSum: total += weight; break;
    case Aggregate::kMin: total = std::min(total, weight); break;
    case Aggregate::kMax: total = std::max(total, weight); break;
  }
}

void transform(std::span<double> scores, PostTransform post) {
  if (post == PostTransform::kLogistic) {
    for (double& score : scores) score = 1 / (1 + std::exp(-score));
  }
  if (post != PostTransform::kSoftmax && post != PostTransform::kSoftmaxZero) return;
  const double most = std::ranges::max(scores);
  double sum = 0.0;
  for (double& score : scores) {
    const bool kept = post == PostTransform::kSoftmaxZero && score == 0.0;  // zeros stay zeros
    score = kept ? 0.0 : std::exp(score - most);
    sum += score;
  }
  for (double& score : scores) score = sum == 0.0 ? 0.0 : score / sum;
}

Result<void> eval_tree_ensemble(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Forest forest, forest_of(context.attributes()));
  if (data.rank() != 2 || data.dim(1) < forest.features ||
      compute_type(data.dtype()) == DType::kUndefined) {
    return invalid_argument("expected rows of at least ", forest.features, " numbers, found ",
                            shape_to_string(data.shape()));
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), {data.dim(0), forest.targets}));
  std::vector<double> row(static_cast<std::size_t>(data.dim(1)));
  std::vector<double> scores(static_cast<std::size_t>(forest.targets));
  for (std::int64_t r = 0; r < data.dim(0); ++r) {
    load_elements(data, r * data.dim(1), data.dim(1), row.data());
    std::ranges::fill(scores, start_of(forest.aggregate, data.dtype() != DType::kFloat64));
    for (const std::int64_t root : forest.roots) {
      TRIVET_ASSIGN(const Leaf leaf, decide(forest, root, row.data()));
      combine(scores[static_cast<std::size_t>(leaf.target)], leaf.weight, forest);
    }
    transform(scores, forest.post);
    store_elements(out, r * forest.targets, forest.targets, scores.data());
  }
  return {};
}

Result<void> infer_tree_ensemble(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const Dim rows = shape != nullptr && shape->size() == 2 ? (*shape)[0] : Dim::unknown();
  context.set_output(0, context.dtype(0), {rows, Dim(context.attributes().int_or("n_targets", 1))});
  return {};
}

}  // namespace

OpDefs tree_ensemble_ops() {
  return {{.name = "TreeEnsemble",
           .domain = "ai.onnx.ml",
           .since = 5,
           .infer = infer_tree_ensemble,
           .eval = eval_tree_ensemble}};
}

}  // namespace trivet::ops

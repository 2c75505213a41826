// Split: parts of a tensor along an axis, of given sizes or equal ones.
#include <algorithm>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

/// Sizes of equal parts. From opset 18 on the last one may be smaller; before, it may not.
Result<SymbolicShape> equal_parts(const Node& node, const Dim& size) {
  const auto parts = static_cast<std::int64_t>(node.outputs.size());
  if (node.opset >= 18 && node.attributes.int_or("num_outputs", parts) != parts) {
    return invalid_model("attribute 'num_outputs' is ", node.attributes.int_or("num_outputs", 0),
                         ", but the node has ", parts, " outputs");
  }
  if (!size.is_constant()) {
    const Dim part = node.opset < 18 ? floor_div(size, Dim(parts)) : ceil_div(size, Dim(parts));
    SymbolicShape out(node.outputs.size(), part);
    if (node.opset >= 18) out.back() = size - part * Dim(parts - 1);
    return out;
  }
  const std::int64_t part = ceil_div(size.value(), parts);
  if (node.opset < 18 && size.value() % parts != 0) {
    return invalid_argument("an axis of size ", size.value(), " does not divide into ", parts,
                            " equal parts");
  }
  SymbolicShape out;
  for (std::int64_t i = 0; i < parts; ++i) {
    out.emplace_back(std::clamp<std::int64_t>(size.value() - i * part, 0, part));
  }
  return out;
}

/// The sizes that the attribute or the input gives, checked against the axis.
Result<SymbolicShape> given_parts(const Node& node, SymbolicShape sizes, const Dim& size) {
  if (sizes.size() != node.outputs.size()) {
    return invalid_argument("'split' has ", sizes.size(), " sizes, the node ", node.outputs.size(),
                            " outputs");
  }
  Dim sum = 0;
  for (const Dim& d : sizes) {
    if (d.is_constant() && d.value() < 0)
      return invalid_argument("'split' has the negative size ", d.value());
    sum = sum + d;
  }
  if (sum.is_unknown() ? size.is_constant() && std::ranges::all_of(sizes, &Dim::is_constant)
                       : sum.is_constant() && size.is_constant() && !(sum == size)) {
    return invalid_argument("the sizes in 'split' add up to ", sum.to_string(), ", the axis has ",
                            size.to_string());
  }
  return sizes;
}

bool has_split(const Node& node) {
  return node.opset < 13 ? node.attributes.has("split") : node.input(1) != kNoValue;
}

Result<void> eval_split(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), data.shape().size()));
  SymbolicShape sizes;
  if (has_split(context.node())) {
    std::vector<std::int64_t> given = context.attributes().ints("split");
    if (context.opset() >= 13) {
      TRIVET_ASSIGN(given, ints_input(context, 1, "split"));
    }
    TRIVET_ASSIGN(sizes, given_parts(context.node(), SymbolicShape(given.begin(), given.end()),
                                     data.shape()[axis]));
  } else {
    TRIVET_ASSIGN(sizes, equal_parts(context.node(), data.shape()[axis]));
  }
  const auto strides = strides_of(data.shape());
  Strided source{0, strides};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    Shape shape = data.shape();
    shape[axis] = sizes[k].value();
    if (context.wants_output(k)) {
      TRIVET_ASSIGN(Tensor out, context.allocate(k, data.dtype(), shape));
      copy_strided(data, source, out, {0, strides_of(shape)}, shape);
    }
    source.offset += shape[axis] * strides[axis];
  }
  return {};
}

Result<void> infer_split(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    for (std::size_t k = 0; k < context.output_count(); ++k)
      context.set_output(k, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), shape->size()));
  SymbolicShape sizes(context.output_count(), Dim::unknown());
  if (!has_split(context.node())) {
    TRIVET_ASSIGN(sizes, equal_parts(context.node(), (*shape)[axis]));
  } else {
    const auto attribute = context.attributes().ints("split");
    const auto given = context.opset() < 13 ? SymbolicShape(attribute.begin(), attribute.end())
                                            : context.elements(1).value_or(sizes);
    TRIVET_ASSIGN(sizes, given_parts(context.node(), given, (*shape)[axis]));
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    SymbolicShape out = *shape;
    out[axis] = sizes[k];
    context.set_output(k, context.dtype(0), std::move(out));
  }
  return propagate_elements(context, eval_split, {0});
}

}  // namespace

OpDefs split_ops() {
  constexpr Arity kOutputs = {1, kVariadic};
  return {
      {.name = "Split", .since = 2, .outputs = kOutputs, .infer = infer_split, .eval = eval_split},
      {.name = "Split",
       .since = 13,
       .inputs = {1, 2},
       .outputs = kOutputs,
       .infer = infer_split,
       .eval = eval_split},
  };
}

}  // namespace trivet::ops

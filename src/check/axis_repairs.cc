#include "check/axis_repairs.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "check/reshape_map.h"
#include "ops/support/elements.h"

namespace trivet::check {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr int kOpsetOfReduceAxesInput = 18;  // of every Reduce operator but ReduceSum

/// Repairs of one node.
class Repairer {
 public:
  Repairer(OpeningState& state, NodeId id, Node& node) : state_(state), id_(id), node_(node) {}

  Result<std::vector<Repair>> run();

 private:
  [[nodiscard]] const SymbolicShape* open_shape(std::size_t operand) const {
    const ValueId id = node_.input(operand);
    return id == kNoValue || !state_.open[id].type.shape ? nullptr : &*state_.open[id].type.shape;
  }
  [[nodiscard]] std::optional<Numbers> exported_shape(ValueId id) const {
    const auto& shape = state_.exported[id].type.shape;
    return shape ? constant_shape(*shape) : std::nullopt;
  }
  /// The elements of an operand that is constant whatever the open sizes are.
  [[nodiscard]] std::optional<Numbers> constant_ints(std::size_t operand) const {
    const ValueId id = node_.input(operand);
    if (id == kNoValue || !state_.open[id].constant.defined()) return std::nullopt;
    const Tensor& tensor = state_.open[id].constant;
    if (!is_integer(tensor.dtype()) || tensor.rank() > 1) return std::nullopt;
    return elements_as_int64(tensor);
  }

  void report(std::string what, bool possible) { repairs_.push_back({std::move(what), possible}); }

  ValueId add_constant(Tensor tensor);
  /// A new node in front of this one; its output, inferred.
  Result<ValueId> add_node(std::string_view op, std::vector<ValueId> inputs,
                           Attributes attributes = {});
  Result<ValueId> size_of(ValueId source, const MappedSize& size);
  Result<ValueId> shape_vector(ValueId source, std::span<const MappedSize> sizes);

  Result<void> reshape();
  Result<void> expand();
  Result<void> slice();
  Result<void> resize();
  Result<void> operands_agree();
  Result<void> states_follow();
  Result<void> operand_follows(std::size_t a, std::size_t r, std::size_t skipped, bool broadcasts);
  Result<void> stretch(std::size_t operand, std::size_t axis, std::size_t reference,
                       std::size_t reference_axis, bool broadcasts);

  OpeningState& state_;
  NodeId id_;
  Node& node_;
  std::vector<Repair> repairs_;
};

std::string list(std::span<const std::int64_t> numbers) {
  std::string out = "[";
  for (const std::int64_t n : numbers) out += cat(out.size() > 1 ? ", " : "", n);
  return out + "]";
}

ValueId Repairer::add_constant(Tensor tensor) {
  const InferredValue known{ValueType::of(tensor), tensor, std::nullopt};
  const ValueId id = state_.patch.add_constant(cat(node_.name, "/open_axes"), std::move(tensor));
  state_.exported.values.push_back(known);
  state_.open.values.push_back(known);
  return id;
}

Result<ValueId> Repairer::add_node(std::string_view op, std::vector<ValueId> inputs,
                                   Attributes attributes) {
  const ValueId out = state_.patch.add_value(cat(node_.name, "/", op), {});
  state_.exported.values.emplace_back();
  state_.open.values.emplace_back();
  Node node{.name = cat(node_.name, "/", op),
            .op_type = std::string(op),
            .opset = node_.opset,
            .inputs = std::move(inputs),
            .outputs = {out},
            .attributes = std::move(attributes)};
  TRIVET_TRY(infer_node(state_.graph, node, state_.exported));
  TRIVET_TRY(infer_node(state_.graph, node, state_.open));
  state_.patch.insert_node(std::move(node), id_);
  return out;
}

/// One element as a vector of length 1.
Result<ValueId> Repairer::size_of(ValueId source, const MappedSize& size) {
  if (size.axes.empty()) return add_constant(Tensor::from_vector(Numbers{size.size.value()}));
  TRIVET_ASSIGN(const ValueId shape, add_node("Shape", {source}));
  const Numbers axes(size.axes.begin(), size.axes.end());
  Attributes axis0;
  axis0.set("axis", std::int64_t{0});
  TRIVET_ASSIGN(ValueId out,
                add_node("Gather", {shape, add_constant(Tensor::from_vector(axes))}, axis0));
  if (axes.size() > 1) {
    std::vector<ValueId> inputs = {out};
    Attributes keep;
    keep.set("keepdims", std::int64_t{1});
    if (node_.opset >= kOpsetOfReduceAxesInput) {
      inputs.push_back(add_constant(Tensor::from_vector(Numbers{0})));
    } else {
      keep.set("axes", Numbers{0});
    }
    TRIVET_ASSIGN(out, add_node("ReduceProd", std::move(inputs), keep));
  }
  if (size.divisor != 1) {
    const ValueId divisor = add_constant(Tensor::from_vector(Numbers{size.divisor}));
    TRIVET_ASSIGN(out, add_node("Div", {out, divisor}));
  }
  return out;
}

Result<ValueId> Repairer::shape_vector(ValueId source, std::span<const MappedSize> sizes) {
  std::vector<ValueId> parts;
  for (const MappedSize& size : sizes) {
    TRIVET_ASSIGN(const ValueId part, size_of(source, size));
    parts.push_back(part);
  }
  Attributes axis0;
  axis0.set("axis", std::int64_t{0});
  return add_node("Concat", std::move(parts), axis0);
}

/// A constant target whose sizes do not follow the open ones.
Result<void> Repairer::reshape() {
  const auto target = constant_ints(1);
  const SymbolicShape* from = open_shape(0);
  if (!target || from == nullptr || constant_shape(*from)) return {};
  const auto exported_from = exported_shape(node_.inputs[0]);
  const auto exported_to = exported_shape(node_.output(0));
  if (!exported_from || !exported_to || exported_to->size() != target->size()) return {};
  const bool keeps_zeros = node_.attributes.int_or("allowzero", 0) == 0;
  const auto sizes = map_reshape(*from, *exported_from, *exported_to);
  if (!sizes) {
    const bool open = std::ranges::count(*target, -1) > 0;
    if (!open) report(cat("its shape ", list(*target), " holds the size of the export"), false);
    return {};
  }
  Numbers wanted = *target;
  std::size_t open = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const MappedSize& size = (*sizes)[i];
    if (size.size.is_constant()) {
      wanted[i] = size.size.value();
    } else if (keeps_zeros && i < from->size() && (*from)[i] == size.size) {
      wanted[i] = 0;
    } else {
      wanted[i] = -1;
      ++open;
    }
  }
  std::size_t baked = 0;
  while (baked < sizes->size() && ((*target)[baked] <= 0 || (*sizes)[baked].size.is_constant())) {
    ++baked;
  }
  if (baked == sizes->size()) return {};
  report(cat("its shape ", list(*target), " holds ", (*target)[baked], " where ",
             (*sizes)[baked].size.to_string(), " belongs"),
         true);
  if (open <= 1) {
    node_.inputs[1] = add_constant(Tensor::from_vector(wanted));
    return {};
  }
  TRIVET_ASSIGN(node_.inputs[1], shape_vector(node_.inputs[0], *sizes));
  return {};
}

/// Expand takes a 1 in its shape for "as the input has it".
Result<void> Repairer::expand() {
  auto target = constant_ints(1);
  const SymbolicShape* from = open_shape(0);
  if (!target || from == nullptr || from->size() > target->size()) return {};
  const std::size_t offset = target->size() - from->size();
  std::string what;
  for (std::size_t i = 0; i < from->size(); ++i) {
    std::int64_t& size = (*target)[offset + i];
    if ((*from)[i].is_constant() || size == 1) continue;
    what = cat("its shape holds ", size, " where ", (*from)[i].to_string(), " belongs");
    size = 1;
  }
  if (what.empty()) return {};
  report(std::move(what), true);
  node_.inputs[1] = add_constant(Tensor::from_vector(*target));
  return {};
}

/// An end at the size of the export, or behind it, meant "to the end".
Result<void> Repairer::slice() {
  if (node_.opset < 10) return {};
  const auto starts = constant_ints(1);
  auto ends = constant_ints(2);
  const SymbolicShape* from = open_shape(0);
  if (!starts || !ends || from == nullptr || starts->size() != ends->size()) return {};
  const auto exported = exported_shape(node_.inputs[0]);
  const auto given_axes = constant_ints(3);
  if (!exported || (node_.input(3) != kNoValue && !given_axes)) return {};
  constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  std::string what;
  for (std::size_t k = 0; k < ends->size(); ++k) {
    std::int64_t axis = given_axes ? (*given_axes)[k] : static_cast<std::int64_t>(k);
    if (axis < 0) axis += static_cast<std::int64_t>(from->size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(from->size())) return {};
    const auto at = static_cast<std::size_t>(axis);
    std::int64_t& end = (*ends)[k];
    const bool whole = end >= (*exported)[at] && end < kFar && (*starts)[k] == 0;
    if ((*from)[at].is_constant() || !whole) continue;
    what = cat("it ends at ", end, ", which is all that the export had of axis ", axis);
    end = kToTheEnd;
  }
  if (what.empty()) return {};
  report(std::move(what), true);
  node_.inputs[2] = add_constant(Tensor::from_vector(*ends));
  return {};
}

/// Sizes in place of scales. An open one is what the input has there, times or by a whole number.
Result<void> Repairer::resize() {
  if (node_.opset < 11 || node_.attributes.has("axes")) return {};
  const auto sizes = constant_ints(3);
  const SymbolicShape* from = open_shape(0);
  if (!sizes || from == nullptr || sizes->size() != from->size()) return {};
  const auto exported = exported_shape(node_.inputs[0]);
  if (!exported || constant_shape(*from)) return {};
  std::vector<MappedSize> wanted;
  Numbers factors(from->size(), 1);
  bool possible = true;
  for (std::size_t i = 0; i < from->size(); ++i) {
    const std::int64_t before = (*exported)[i];
    const std::int64_t after = (*sizes)[i];
    wanted.push_back({Dim(after)});
    if ((*from)[i].is_constant()) continue;
    possible = possible && before > 0 && after > 0 && (after % before == 0 || before % after == 0);
    if (!possible) break;
    wanted.back() = {(*from)[i], {i}, after < before ? before / after : 1};
    factors[i] = after > before ? after / before : 1;
  }
  report(cat("its sizes ", list(*sizes), " hold those of the export"), possible);
  if (!possible) return {};
  TRIVET_ASSIGN(ValueId shape, shape_vector(node_.inputs[0], wanted));
  if (std::ranges::any_of(factors, [](std::int64_t factor) { return factor != 1; })) {
    TRIVET_ASSIGN(shape, add_node("Mul", {shape, add_constant(Tensor::from_vector(factors))}));
  }
  node_.inputs[3] = shape;
  return {};
}

/// The first slice along an axis where all are the same; nothing where they differ.
std::optional<Tensor> common_slice(const Tensor& tensor, std::size_t axis) {
  const Shape& shape = tensor.shape();
  const std::size_t element = dtype_bits(tensor.dtype()) / 8;
  if (element == 0 || tensor.dtype() == DType::kString || tensor.size() == 0) return std::nullopt;
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::size_t out = 1;
    for (std::size_t i = begin; i < end; ++i) out *= static_cast<std::size_t>(shape[i]);
    return out;
  };
  const std::size_t slice = product(axis + 1, shape.size()) * element;
  const std::size_t count = static_cast<std::size_t>(shape[axis]);
  const char* bytes = static_cast<const char*>(tensor.raw());
  Shape one = shape;
  one[axis] = 1;
  auto out = Tensor::allocate(tensor.dtype(), one);
  if (!out) return std::nullopt;
  char* to = static_cast<char*>(out->mutable_raw());
  for (std::size_t o = 0; o < product(0, axis); ++o) {
    const char* first = bytes + o * count * slice;
    for (std::size_t k = 1; k < count; ++k) {
      if (!std::equal(first, first + slice, first + k * slice)) return std::nullopt;
    }
    std::copy(first, first + slice, to + o * slice);
  }
  return *std::move(out);
}

/// Lets `operand` follow the open size that `reference` has: cut to 1 where that broadcasts, else
/// expanded from 1.
Result<void> Repairer::stretch(std::size_t operand, std::size_t axis, std::size_t reference,
                               std::size_t reference_axis, bool broadcasts) {
  const ValueId value = node_.inputs[operand];
  const SymbolicShape shape = *open_shape(operand);
  const Dim wanted = (*open_shape(reference))[reference_axis];
  const std::string what = cat("its input ", operand, " has ", shape[axis].to_string(),
                               " along axis ", axis, " where ", wanted.to_string(), " belongs");
  ValueId one = value;
  if (!shape[axis].equals(1)) {
    const Tensor& constant = state_.open[value].constant;
    auto slice = constant.defined() ? common_slice(constant, axis) : std::nullopt;
    if (!slice) {
      report(what, false);
      return {};
    }
    one = add_constant(*std::move(slice));
  }
  report(what, true);
  node_.inputs[operand] = one;
  if (broadcasts) return {};
  std::vector<MappedSize> sizes(shape.size(), {Dim(1)});
  sizes[axis] = {wanted, {reference_axis}};
  TRIVET_ASSIGN(const ValueId target, shape_vector(node_.inputs[reference], sizes));
  TRIVET_ASSIGN(node_.inputs[operand], add_node("Expand", {one, target}));
  return {};
}

constexpr std::string_view kBroadcasting[] = {"Add",
                                              "Sub",
                                              "Mul",
                                              "Div",
                                              "Pow",
                                              "Where",
                                              "Min",
                                              "Max",
                                              "Sum",
                                              "Mean",
                                              "And",
                                              "Or",
                                              "Xor",
                                              "Equal",
                                              "Less",
                                              "Greater",
                                              "PRelu",
                                              "Mod",
                                              "GreaterOrEqual",
                                              "LessOrEqual",
                                              "BitShift",
                                              "BitwiseAnd",
                                              "BitwiseOr",
                                              "BitwiseXor"};

/// The initial states of a recurrent layer have the batch of its input.
Result<void> Repairer::states_follow() {
  const SymbolicShape* x = open_shape(0);
  if (node_.attributes.int_or("layout", 0) != 0 || x == nullptr || x->size() != 3) return {};
  for (const std::size_t state : {std::size_t{5}, std::size_t{6}}) {
    const SymbolicShape* h = open_shape(state);
    if (h == nullptr || h->size() != 3 || (*x)[1].is_constant() || !(*h)[1].is_constant()) continue;
    TRIVET_TRY(stretch(state, 1, 0, 1, false));
  }
  return {};
}

/// Operand `a` has the sizes of operand `r`, counted from the last axis, or 1 where that
/// broadcasts. The last `skipped` axes, and the one along which a Concat joins, are its own.
Result<void> Repairer::operand_follows(std::size_t a, std::size_t r, std::size_t skipped,
                                       bool broadcasts) {
  if (open_shape(a) == nullptr || open_shape(r) == nullptr) return {};
  const std::size_t rank = open_shape(a)->size();
  const std::size_t shared = std::min(rank, open_shape(r)->size());
  std::int64_t joined = broadcasts ? -1 : node_.attributes.int_or("axis", 0);
  if (!broadcasts && joined < 0) joined += static_cast<std::int64_t>(rank);
  for (std::size_t back = 1 + skipped; back <= shared; ++back) {
    const std::size_t i = rank - back;
    const std::size_t j = open_shape(r)->size() - back;
    const Dim size = (*open_shape(a))[i];
    const Dim wanted = (*open_shape(r))[j];
    const bool fits = !size.is_constant() || wanted.is_constant() || wanted.is_unknown() ||
                      (broadcasts && size.equals(1)) || joined == static_cast<std::int64_t>(i);
    if (!fits) TRIVET_TRY(stretch(a, i, r, j, broadcasts));
  }
  return {};
}

Result<void> Repairer::operands_agree() {
  if (node_.is("LSTM") || node_.is("GRU") || node_.is("RNN")) return states_follow();
  const bool matrices = node_.is("MatMul");
  const bool broadcasts =
      matrices || std::ranges::find(kBroadcasting, node_.op_type) != std::end(kBroadcasting);
  if (!broadcasts && !node_.is("Concat")) return {};
  for (std::size_t a = 0; a < node_.inputs.size(); ++a) {
    for (std::size_t r = 0; r < node_.inputs.size(); ++r) {
      if (a != r) TRIVET_TRY(operand_follows(a, r, matrices ? 2 : 0, broadcasts));
    }
  }
  return {};
}

Result<std::vector<Repair>> Repairer::run() {
  if (!node_.domain.empty()) return std::move(repairs_);
  if (node_.is("Reshape")) {
    TRIVET_TRY(reshape());
  } else if (node_.is("Expand")) {
    TRIVET_TRY(expand());
  } else if (node_.is("Slice")) {
    TRIVET_TRY(slice());
  } else if (node_.is("Resize")) {
    TRIVET_TRY(resize());
  } else {
    TRIVET_TRY(operands_agree());
  }
  return std::move(repairs_);
}

}  // namespace

Result<std::vector<Repair>> repair_operands(OpeningState& state, NodeId id, Node& node) {
  return Repairer(state, id, node).run();
}

}  // namespace trivet::check

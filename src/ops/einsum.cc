// Einsum: sums of products over indices that an equation names.
#include <algorithm>
#include <array>
#include <string>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// Letters stand for themselves; the axes that "..." covers are numbered from the last, from
/// kEllipsis on.
using Label = int;
constexpr Label kEllipsis = 256;

struct Equation {
  std::vector<std::vector<Label>> inputs;
  std::vector<Label> output;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The labels of one term; `covered` is how many axes its ellipsis stands for.
Result<std::vector<Label>> parse_term(std::string_view term, std::size_t covered) {
  std::vector<Label> out;
  bool seen = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      out.push_back(term[i]);
    } else if (term.substr(i, 3) == "..." && !seen) {
      for (std::size_t k = covered; k-- > 0;) out.push_back(kEllipsis + static_cast<Label>(k));
      seen = true;
      i += 2;
    } else {
      return invalid_model("attribute 'equation' has a term '", term, "', which cannot be read");
    }
  }
  return out;
}

/// Indices that occur once, in the order of their letters, after those of the ellipsis.
std::vector<Label> implicit_output(const std::vector<std::vector<Label>>& inputs) {
  std::vector<Label> ellipsis;
  std::vector<Label> letters;
  for (const auto& term : inputs) {
    for (const Label label : term) (label >= kEllipsis ? ellipsis : letters).push_back(label);
  }
  std::ranges::sort(ellipsis, std::greater<>());
  ellipsis.erase(std::unique(ellipsis.begin(), ellipsis.end()), ellipsis.end());
  for (const Label label : [&] {
         auto sorted = letters;
         std::ranges::sort(sorted);
         return sorted;
       }()) {
    if (std::ranges::count(letters, label) == 1) ellipsis.push_back(label);
  }
  return ellipsis;
}

Result<Equation> parse(const Attributes& attributes, const std::vector<std::size_t>& ranks) {
  std::string text = attributes.string_or("equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  Equation out;
  std::size_t most_covered = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    const std::size_t comma = left.find(',');
    const std::string_view term = left.substr(0, comma);
    if ((comma == std::string_view::npos) != (k + 1 == ranks.size())) {
      return invalid_model("attribute 'equation' is '", text, "', which is not for ", ranks.size(),
                           " inputs");
    }
    const auto letters = static_cast<std::size_t>(std::ranges::count_if(term, is_letter));
    const bool ellipsis = term.find("...") != std::string_view::npos;
    if (letters > ranks[k] || (!ellipsis && letters != ranks[k])) {
      return invalid_model("attribute 'equation' has the term '", term, "' for an input of ",
                           ranks[k], " axes");
    }
    TRIVET_ASSIGN(auto labels, parse_term(term, ranks[k] - letters));
    if (ellipsis) most_covered = std::max(most_covered, ranks[k] - letters);
    out.inputs.push_back(std::move(labels));
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    out.output = implicit_output(out.inputs);
    return out;
  }
  TRIVET_ASSIGN(out.output, parse_term(std::string_view(text).substr(arrow + 2), most_covered));
  for (const Label label : out.output) {
    const bool known = std::ranges::any_of(
        out.inputs, [label](const auto& term) { return std::ranges::count(term, label) > 0; });
    if (!known || std::ranges::count(out.output, label) > 1) {
      return invalid_model("attribute 'equation' is '", text,
                           "', whose output names an index twice or one of no input");
    }
  }
  return out;
}

/// Every index with its size: those of the output first.
template <class Number>
struct Indices {
  std::vector<Label> labels;
  std::vector<Number> sizes;

  [[nodiscard]] std::size_t find(Label label) const {
    return static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin());
  }
};

/// An axis of size 1 repeats along an index that is longer elsewhere.
template <class Number>
Result<Indices<Number>> measure(const Equation& equation,
                                const std::vector<std::vector<Number>>& shapes) {
  Indices<Number> out{equation.output, std::vector<Number>(equation.output.size(), 1)};
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (std::size_t i = 0; i < shapes[k].size(); ++i) {
      const Label label = equation.inputs[k][i];
      const std::size_t at = out.find(label);
      if (at == out.labels.size()) {
        out.labels.push_back(label);
        out.sizes.push_back(1);
      }
      TRIVET_ASSIGN(const SymbolicShape size,
                    broadcast_shapes({Dim(out.sizes[at])}, {Dim(shapes[k][i])}));
      if constexpr (std::is_same_v<Number, Dim>) {
        out.sizes[at] = size[0];
      } else {
        out.sizes[at] = size[0].value();
      }
    }
  }
  return out;
}

/// How an operand is read along every index. An index that it names twice walks its diagonal.
std::vector<std::int64_t> operand_strides(const Indices<std::int64_t>& indices,
                                          const std::vector<Label>& term, const Shape& shape) {
  std::vector<std::int64_t> out(indices.labels.size(), 0);
  const auto own = strides_of(shape);
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (shape[i] != 1) out[indices.find(term[i])] += own[i];
  }
  return out;
}

/// For each output the sum over all other indices. C is double, or uint64, which wraps as integers
/// do.
template <class C>
void contract(const Indices<std::int64_t>& indices, std::size_t outputs,
              const std::vector<std::vector<C>>& operands,
              const std::vector<std::vector<std::int64_t>>& strides, std::vector<C>& out) {
  Shape outer = indices.sizes;
  const bool sums = outer.size() > outputs;
  const std::int64_t length = sums ? outer.back() : 1;  // the innermost sum is a loop of its own
  if (sums) outer.back() = 1;
  const std::int64_t rows = element_count(outer);
  const std::int64_t rows_per_output = rows / static_cast<std::int64_t>(out.size());
  StridedWalk walk(outer, strides);
  for (std::int64_t row = 0; row < rows; ++row, walk.next()) {
    C sum{0};
    for (std::int64_t i = 0; i < length; ++i) {
      C term{1};
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const std::int64_t step = sums ? strides[k].back() : 0;
        term *= operands[k][static_cast<std::size_t>(walk.offset(k) + i * step)];
      }
      sum += term;
    }
    out[static_cast<std::size_t>(row / rows_per_output)] += sum;
  }
}

/// Loads the operands as T, which has the layout of C, computes in C and stores again.
template <class T, class C>
void compute(const EvalContext& context, const Equation& equation,
             const Indices<std::int64_t>& indices, Tensor& out) {
  std::vector<std::vector<C>> operands;
  std::vector<std::vector<std::int64_t>> strides;
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    const Tensor& input = context.input(k);
    std::vector<T> loaded(static_cast<std::size_t>(input.size()));
    load_elements(input, 0, input.size(), loaded.data());
    operands.emplace_back(loaded.begin(), loaded.end());
    strides.push_back(operand_strides(indices, equation.inputs[k], input.shape()));
  }
  std::vector<C> sums(static_cast<std::size_t>(out.size()), C{0});
  if (element_count(indices.sizes) > 0)
    contract(indices, equation.output.size(), operands, strides, sums);
  const std::vector<T> results(sums.begin(), sums.end());
  store_elements(out, 0, out.size(), results.data());
}

Result<void> eval_einsum(EvalContext& context) {
  std::vector<std::size_t> ranks;
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    if (!context.has_input(k) || context.input(k).dtype() != context.input(0).dtype()) {
      return invalid_argument("the inputs must have one type, ",
                              dtype_name(context.input(0).dtype()));
    }
    shapes.push_back(context.input(k).shape());
    ranks.push_back(shapes.back().size());
  }
  const DType dtype = context.input(0).dtype();
  if (compute_type(dtype) == DType::kUndefined)
    return unsupported("elements of type ", dtype_name(dtype));
  TRIVET_ASSIGN(const Equation equation, parse(context.attributes(), ranks));
  TRIVET_ASSIGN(const auto indices, measure(equation, shapes));
  if (!checked_product(indices.sizes))
    return invalid_argument("the indices have too many values to walk");
  const Shape shape(indices.sizes.begin(),
                    indices.sizes.begin() + static_cast<std::ptrdiff_t>(equation.output.size()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, shape));
  if (is_floating(dtype)) {
    compute<double, double>(context, equation, indices, out);
  } else {
    compute<std::int64_t, std::uint64_t>(context, equation, indices, out);
  }
  return {};
}

/// Nothing while a rank is not known.
Result<std::optional<std::pair<Equation, Indices<Dim>>>> analyze(const InferContext& context) {
  std::vector<std::size_t> ranks;
  std::vector<SymbolicShape> shapes;
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    if (context.shape(k) == nullptr) return std::optional<std::pair<Equation, Indices<Dim>>>();
    shapes.push_back(*context.shape(k));
    ranks.push_back(shapes.back().size());
  }
  TRIVET_ASSIGN(Equation equation, parse(context.attributes(), ranks));
  TRIVET_ASSIGN(auto indices, measure(equation, shapes));
  return std::optional(std::pair(std::move(equation), std::move(indices)));
}

Result<void> infer_einsum(InferContext& context) {
  TRIVET_ASSIGN(auto known, analyze(context));
  if (!known) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  known->second.sizes.resize(known->first.output.size());
  context.set_output(0, context.dtype(0), std::move(known->second.sizes));
  return {};
}

/// One for every combination of indices; none where there is nothing to multiply.
Dim einsum_macs(const InferContext& context) {
  const auto known = analyze(context);
  if (!known || !*known) return Dim::unknown();
  return context.input_count() < 2 ? Dim(0) : element_count((*known)->second.sizes);
}

}  // namespace

OpDefs einsum_ops() {
  return {{.name = "Einsum",
           .since = 12,
           .inputs = {1, kVariadic},
           .infer = infer_einsum,
           .eval = eval_einsum,
           .macs = einsum_macs}};
}

}  // namespace trivet::ops

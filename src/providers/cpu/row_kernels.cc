// Operators along rows: softmax, layer normalisation, reductions.
#include <algorithm>
#include <array>
#include <numeric>

#include "ops/infer_context.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

using kernels::LayerNormArgs;
using kernels::Pool;
using kernels::Reduce;
using kernels::ReduceArgs;

/// Elements for which another thread pays.
constexpr std::int64_t kLeastElements = 1 << 13;

Result<std::optional<Kernel>> select_softmax(const SelectContext& context) {
  const auto x = context.float_input(0);
  if (!x || x->empty() || element_count(*x) == 0) return std::optional<Kernel>();
  // Before opset 13 all axes from `axis` on form one row.
  const bool flattens = context.node.opset < 13;
  TRIVET_ASSIGN(
      const std::size_t axis,
      normalize_axis(context.node.attributes.int_or("axis", flattens ? 1 : -1), x->size()));
  if (!flattens && axis + 1 != x->size()) return std::optional<Kernel>();
  const std::int64_t columns = element_count(std::span(*x).subspan(axis));
  const std::int64_t rows = element_count(*x) / columns;
  const auto function =
      context.node.op_type == "Softmax" ? context.table.softmax : context.table.log_softmax;
  Kernel kernel;
  kernel.name = "softmax";
  kernel.run = [=](const KernelArgs& args) {
    const float* from = args.input(0);
    float* to = args.output();
    split(args.threads, rows, kLeastElements / columns + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            function(from + begin * columns, to + begin * columns, end - begin, columns);
          });
  };
  return std::optional(std::move(kernel));
}

Result<std::optional<Kernel>> select_layer_norm(const SelectContext& context) {
  const auto x = context.float_input(0);
  const bool only_y = std::ranges::count(context.outputs, nullptr) ==
                      static_cast<std::ptrdiff_t>(context.outputs.size()) - 1;
  if (!x || x->empty() || element_count(*x) == 0 || !only_y || !context.float_output(0))
    return std::optional<Kernel>();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.node.attributes.int_or("axis", -1), x->size()));
  const Shape normalized(x->begin() + static_cast<std::ptrdiff_t>(axis), x->end());
  const LayerNormArgs base{.columns = element_count(normalized),
                           .epsilon = context.node.attributes.float_or("epsilon", 1e-5F)};
  for (const std::size_t i : {1, 2}) {
    if (!context.has_input(i)) continue;
    const auto parameter = context.float_input(i);
    if (parameter != normalized) return std::optional<Kernel>();
  }
  const std::int64_t rows = element_count(*x) / base.columns;
  Kernel kernel;
  kernel.name = "layer-norm";
  kernel.run = [base, rows, &table = context.table](const KernelArgs& args) {
    LayerNormArgs call = base;
    call.x = args.input(0);
    call.scale = args.input(1);
    call.bias = args.input(2);
    call.y = args.output();
    split(args.threads, rows, kLeastElements / base.columns + 1,
          [&](std::int64_t begin, std::int64_t end, int) { table.layer_norm(call, begin, end); });
  };
  return std::optional(std::move(kernel));
}

/// The axes of a reduction, sorted; nothing when they are not known or there are none.
Result<std::optional<std::vector<std::size_t>>> axes_of(const SelectContext& context,
                                                        std::size_t rank) {
  std::vector<std::int64_t> axes = context.node.attributes.ints("axes");
  if (context.has_input(1)) {
    if (!context.inputs[1]->constant.defined()) return std::optional<std::vector<std::size_t>>();
    axes = elements_as_int64(context.inputs[1]->constant);
  }
  std::vector<std::size_t> out;
  for (const std::int64_t axis : axes) {
    TRIVET_ASSIGN(out.emplace_back(), normalize_axis(axis, rank));
  }
  std::ranges::sort(out);
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

Result<std::optional<Kernel>> select_reduce(const SelectContext& context, Reduce kind) {
  const auto x = context.float_input(0);
  const auto y = context.float_output(0);
  if (!x || !y || element_count(*x) == 0) return std::optional<Kernel>();
  TRIVET_ASSIGN(const auto axes, axes_of(context, x->size()));
  if (!axes || axes->back() - axes->front() + 1 != axes->size()) return std::optional<Kernel>();
  const bool all_positions = axes->front() == 2 && axes->back() + 1 == x->size();
  if (context.is_blocked(0) && all_positions && (kind == Reduce::kMean || kind == Reduce::kMax)) {
    const Pool pool = kind == Reduce::kMax ? Pool::kMax : Pool::kAverage;
    return std::optional(global_pool_kernel(context, pool, (*x)[0], (*x)[1],
                                            element_count(*x) / ((*x)[0] * (*x)[1])));
  }
  const std::span shape(*x);
  const std::int64_t outer = element_count(shape.first(axes->front()));
  const ReduceArgs base{.kind = kind,
                        .reduce = element_count(shape.subspan(axes->front(), axes->size())),
                        .inner = element_count(shape.subspan(axes->back() + 1))};
  Kernel kernel;
  kernel.name = "reduce";
  kernel.run = [base, outer, &table = context.table](const KernelArgs& args) {
    ReduceArgs call = base;
    call.x = args.input(0);
    call.y = args.output();
    split(args.threads, outer * base.inner, kLeastElements / base.reduce + 1,
          [&](std::int64_t begin, std::int64_t end, int) { table.reduce(call, begin, end); });
  };
  return std::optional(std::move(kernel));
}

template <Reduce kind>
Result<std::optional<Kernel>> reduce(const SelectContext& context) {
  return select_reduce(context, kind);
}

constexpr std::array<SelectorEntry, 8> kEntries = {{{"Softmax", select_softmax},
                                                    {"LogSoftmax", select_softmax},
                                                    {"LayerNormalization", select_layer_norm},
                                                    {"ReduceSum", reduce<Reduce::kSum>},
                                                    {"ReduceMean", reduce<Reduce::kMean>},
                                                    {"ReduceMax", reduce<Reduce::kMax>},
                                                    {"ReduceMin", reduce<Reduce::kMin>},
                                                    {"ReduceL2", reduce<Reduce::kL2>}}};

}  // namespace

std::span<const SelectorEntry> row_selectors() { return kEntries; }

}  // namespace trivet::cpu

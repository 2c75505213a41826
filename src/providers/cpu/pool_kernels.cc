// Pools over image planes, in blocks of channels.
#include <array>

#include "ops/support/window.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

using kernels::Pool;
using kernels::PoolArgs;
using kernels::Reduce;
using kernels::ReduceArgs;

/// Elements read for which another thread pays.
constexpr std::int64_t kLeastWork = 1 << 15;

Result<std::optional<Kernel>> select_pool(const SelectContext& context, Pool kind) {
  const auto x = context.float_input(0);
  const auto y = context.float_output(0);
  const bool wants_indices = context.outputs.size() > 1 && context.outputs[1] != nullptr;
  if (!x || !y || x->size() != 4 || element_count(*y) == 0 || wants_indices)
    return std::optional<Kernel>();
  TRIVET_ASSIGN(ops::Window w, ops::read_window(context.node.attributes, 2));
  TRIVET_ASSIGN(const Shape out, ops::resolve_window(w, std::span(*x).subspan(2)));
  if (out != Shape{(*y)[2], (*y)[3]}) return std::optional<Kernel>();
  PoolArgs base{.kind = kind,
                .count_include_pad = context.node.attributes.int_or("count_include_pad", 0) != 0,
                .pad_bottom = w.pads_end[0],
                .pad_right = w.pads_end[1]};
  base.window = {.in_height = (*x)[2],
                 .in_width = (*x)[3],
                 .out_height = out[0],
                 .out_width = out[1],
                 .kernel_height = w.kernel[0],
                 .kernel_width = w.kernel[1],
                 .stride_height = w.strides[0],
                 .stride_width = w.strides[1],
                 .dilation_height = w.dilations[0],
                 .dilation_width = w.dilations[1],
                 .pad_top = w.pads_begin[0],
                 .pad_left = w.pads_begin[1]};
  const KernelTable& table = context.table;
  const std::int64_t rows = (*x)[0] * table.blocks((*x)[1]) * out[0];
  const std::int64_t row_work = out[1] * w.kernel[0] * w.kernel[1] * table.lanes;
  Kernel kernel;
  kernel.name = kind == Pool::kMax ? "max-pool" : "average-pool";
  kernel.blocked_inputs = 1;
  kernel.blocked_output = true;
  kernel.run = [=, &table](const KernelArgs& args) {
    PoolArgs call = base;
    call.input = args.input(0);
    call.output = args.output();
    split(args.threads, rows, kLeastWork / row_work + 1,
          [&](std::int64_t begin, std::int64_t end, int) { table.pool_blocked(call, begin, end); });
  };
  return std::optional(std::move(kernel));
}

Result<std::optional<Kernel>> select_max_pool(const SelectContext& context) {
  return select_pool(context, Pool::kMax);
}
Result<std::optional<Kernel>> select_average_pool(const SelectContext& context) {
  return select_pool(context, Pool::kAverage);
}

Result<std::optional<Kernel>> select_global(const SelectContext& context, Pool kind) {
  const auto x = context.float_input(0);
  if (!x || x->size() < 3 || element_count(*x) == 0) return std::optional<Kernel>();
  const std::int64_t planes = (*x)[0] * (*x)[1];
  const std::int64_t positions = element_count(*x) / planes;
  if (context.is_blocked(0)) {
    return std::optional(global_pool_kernel(context, kind, (*x)[0], (*x)[1], positions));
  }
  const ReduceArgs base{
      .kind = kind == Pool::kMax ? Reduce::kMax : Reduce::kMean, .reduce = positions, .inner = 1};
  Kernel kernel;
  kernel.name = "global-pool";
  kernel.run = [base, planes, &table = context.table](const KernelArgs& args) {
    ReduceArgs call = base;
    call.x = args.input(0);
    call.y = args.output();
    split(args.threads, planes, kLeastWork / base.reduce + 1,
          [&](std::int64_t begin, std::int64_t end, int) { table.reduce(call, begin, end); });
  };
  return std::optional(std::move(kernel));
}

Result<std::optional<Kernel>> select_global_average(const SelectContext& context) {
  return select_global(context, Pool::kAverage);
}
Result<std::optional<Kernel>> select_global_max(const SelectContext& context) {
  return select_global(context, Pool::kMax);
}

constexpr std::array<SelectorEntry, 4> kEntries = {{{"MaxPool", select_max_pool},
                                                    {"AveragePool", select_average_pool},
                                                    {"GlobalAveragePool", select_global_average},
                                                    {"GlobalMaxPool", select_global_max}}};

}  // namespace

Kernel global_pool_kernel(const SelectContext& context, Pool kind, std::int64_t batch,
                          std::int64_t channels, std::int64_t positions) {
  Kernel kernel;
  kernel.name = "global-pool";
  kernel.blocked_inputs = 1;
  kernel.run = [=, &table = context.table](const KernelArgs& args) {
    const float* x = args.input(0);
    float* y = args.output();
    const std::int64_t blocks = table.blocks(channels);
    for (std::int64_t n = 0; n < batch; ++n, y += channels, x += blocks * table.lanes * positions) {
      split(args.threads, blocks, kLeastWork / (positions * table.lanes) + 1,
            [&](std::int64_t begin, std::int64_t end, int) {
              table.global_pool_blocked(kind, x, channels, positions, begin, end, y);
            });
    }
  };
  return kernel;
}

std::span<const SelectorEntry> pool_selectors() { return kEntries; }

}  // namespace trivet::cpu

// Conv and FusedConv: as a matrix product, or one filter per channel.
#include <array>

#include "base/math.h"
#include "ops/support/convolution.h"
#include "ops/support/fused.h"
#include "providers/cpu/activation.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::ConvArgs;
using kernels::DepthwiseArgs;

/// Planes below this many multiply-accumulates are not worth another thread.
constexpr std::int64_t kLeastWork = 1 << 15;

/// A window over one plane; a convolution over one axis is one over rows of height 1.
std::optional<kernels::Window> window_of(const ops::ConvPlan& plan) {
  const std::size_t rank = plan.in.size();
  if (rank < 1 || rank > 2) return std::nullopt;
  const bool flat = rank == 1;
  const auto at = [&](const Shape& values, std::size_t axis, std::int64_t missing) {
    if (!flat) return values[axis];
    return axis == 0 ? missing : values[0];
  };
  const ops::Window& w = plan.window;
  return kernels::Window{.in_height = at(plan.in, 0, 1),
                         .in_width = at(plan.in, 1, 1),
                         .out_height = at(plan.out, 0, 1),
                         .out_width = at(plan.out, 1, 1),
                         .kernel_height = at(w.kernel, 0, 1),
                         .kernel_width = at(w.kernel, 1, 1),
                         .stride_height = at(w.strides, 0, 1),
                         .stride_width = at(w.strides, 1, 1),
                         .dilation_height = at(w.dilations, 0, 1),
                         .dilation_width = at(w.dilations, 1, 1),
                         .pad_top = at(w.pads_begin, 0, 0),
                         .pad_left = at(w.pads_begin, 1, 0)};
}

const float* data_or_null(const KernelArgs& args, std::size_t i) {
  return i < args.inputs.size() && args.inputs[i] != nullptr ? args.inputs[i]->data<float>().data()
                                                             : nullptr;
}

Kernel depthwise_kernel(const SelectContext& context, const ops::ConvPlan& plan,
                        const kernels::Window& window, const Activation& activation) {
  const KernelTable& table = context.table;
  const auto scratch_floats = round_up(table.depthwise_scratch(window), 16);
  const std::int64_t planes = plan.batch * plan.groups * plan.out_channels;
  const std::int64_t work =
      window.out_height * window.out_width * window.kernel_height * window.kernel_width;
  const DepthwiseArgs base{.channels = plan.groups * plan.out_channels,
                           .multiplier = plan.out_channels,
                           .window = window,
                           .activation = activation};
  Kernel kernel;
  kernel.name = "depthwise";
  kernel.scratch_bytes = static_cast<std::size_t>(scratch_floats * context.threads) * sizeof(float);
  kernel.run = [base, planes, scratch_floats, work, &table](const KernelArgs& args) {
    DepthwiseArgs call = base;
    call.input = args.inputs[0]->data<float>().data();
    call.weights = args.inputs[1]->data<float>().data();
    call.bias = data_or_null(args, 2);
    call.output = args.outputs[0]->mutable_data<float>().data();
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    split(args.threads, planes, kLeastWork / std::max<std::int64_t>(work, 1),
          [&](std::int64_t begin, std::int64_t end, int worker) {
            table.depthwise(call, begin, end, scratch + worker * scratch_floats);
          });
  };
  return kernel;
}

/// Weights of all groups, one after the other, as the kernel reads them.
Result<Tensor> pack(const Tensor& weight, const ops::ConvPlan& plan, const KernelTable& table) {
  const std::int64_t kernel_size = element_count(plan.window.kernel);
  const std::int64_t group_size = plan.out_channels * plan.in_channels * kernel_size;
  TRIVET_ASSIGN(Tensor packed, Tensor::allocate(DType::kFloat32, {plan.groups * group_size}));
  for (std::int64_t g = 0; g < plan.groups; ++g) {
    table.pack_conv_weights(weight.data<float>().data() + g * group_size, plan.out_channels,
                            plan.in_channels, kernel_size,
                            packed.mutable_data<float>().data() + g * group_size);
  }
  return packed;
}

/// How one image's group is divided among threads: over positions where there are enough panels of
/// them, over channels otherwise.
struct ConvSplit {
  std::int64_t parts = 1;
  bool by_panel = true;
};

ConvSplit split_conv(std::int64_t panels, std::int64_t tiles, std::int64_t images, int threads,
                     std::int64_t macs) {
  if (threads == 1 || macs < kLeastWork) return {};
  if (images % threads == 0) return {};  // whole images keep the threads equally busy
  if (panels >= 4 * threads || panels >= tiles)
    return {std::min<std::int64_t>(threads, panels), true};
  return {std::min<std::int64_t>(threads, tiles), false};
}

Result<std::optional<Kernel>> gemm_kernel(const SelectContext& context, const ops::ConvPlan& plan,
                                          const kernels::Window& window,
                                          const Activation& activation) {
  const KernelTable& table = context.table;
  const Tensor& weight = *context.float_constant(1);
  TRIVET_ASSIGN(const Tensor packed, context.weights.get(weight, cat("conv/", plan.groups), [&] {
    return pack(weight, plan, table);
  }));
  ConvArgs base{
      .in_channels = plan.in_channels, .out_channels = plan.out_channels, .window = window};
  base.epilogue.activation = activation;
  const std::int64_t positions = window.out_height * window.out_width;
  base.epilogue.residual_stride = positions;
  const std::int64_t scratch_floats = round_up(table.conv_scratch(base), 16);
  const std::int64_t panels = table.panel_count(positions);
  const std::int64_t tiles = table.tile_count(plan.out_channels);
  const std::int64_t images = plan.batch * plan.groups;
  const std::int64_t group_size =
      plan.out_channels * plan.in_channels * element_count(plan.window.kernel);
  const ConvSplit parts =
      split_conv(panels, tiles, images, context.threads, positions * group_size * images);
  Kernel kernel;
  kernel.name = "conv-gemm";
  kernel.scratch_bytes = static_cast<std::size_t>(scratch_floats * context.threads) * sizeof(float);
  kernel.run = [=, &table, groups = plan.groups](const KernelArgs& args) {
    const float* input = args.inputs[0]->data<float>().data();
    const float* bias = data_or_null(args, 2);
    const float* residual = data_or_null(args, 3);
    float* output = args.outputs[0]->mutable_data<float>().data();
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const std::int64_t in_size = base.in_channels * window.in_height * window.in_width;
    const std::int64_t out_size = base.out_channels * positions;
    const auto run_part = [&](std::int64_t task, int worker) {
      const std::int64_t image = task / parts.parts;
      const std::int64_t part = task % parts.parts;
      const std::int64_t group = image % groups;
      ConvArgs call = base;
      call.input = input + image * in_size;
      call.weights = packed.data<float>().data() + group * group_size;
      call.output = output + image * out_size;
      call.epilogue.row_bias = bias == nullptr ? nullptr : bias + group * base.out_channels;
      call.epilogue.residual = residual == nullptr ? nullptr : residual + image * out_size;
      const std::int64_t units = parts.by_panel ? panels : tiles;
      const std::int64_t begin = units * part / parts.parts;
      const std::int64_t end = units * (part + 1) / parts.parts;
      table.conv(call, parts.by_panel ? begin : 0, parts.by_panel ? end : panels,
                 parts.by_panel ? 0 : begin, parts.by_panel ? tiles : end,
                 scratch + worker * scratch_floats);
    };
    if (images * parts.parts == 1 || positions * group_size * images < kLeastWork) {
      for (std::int64_t task = 0; task < images * parts.parts; ++task) run_part(task, 0);
    } else {
      args.threads.parallel_for(images * parts.parts, run_part);
    }
  };
  return std::optional(std::move(kernel));
}

Result<std::optional<Kernel>> select_conv(const SelectContext& context) {
  const auto x = context.float_input(0);
  const auto y = context.float_output(0);
  const Tensor* weight = context.float_constant(1);
  if (!x || !y || weight == nullptr || (context.has_input(2) && !context.float_input(2)))
    return std::optional<Kernel>();
  if (context.has_input(3) && context.float_input(3) != y) return std::optional<Kernel>();
  TRIVET_ASSIGN(
      const ops::ConvPlan plan,
      ops::plan_convolution(context.node.attributes, *x, weight->shape(), ops::Pointwise::kKeep));
  if (plan.output_shape != *y || element_count(*y) == 0 || plan.in_channels == 0)
    return std::optional<Kernel>();
  if (context.has_input(2) && context.float_input(2) != Shape{plan.groups * plan.out_channels}) {
    return std::optional<Kernel>();
  }
  const auto window = window_of(plan);
  const Node fused = ops::fused_activation(context.node);
  const auto activation = fused.op_type.empty() ? Activation{} : activation_of(fused);
  if (!window || !activation) return std::optional<Kernel>();
  if (plan.in_channels == 1 && plan.groups > 1 && !context.has_input(3)) {
    return std::optional(depthwise_kernel(context, plan, *window, *activation));
  }
  return gemm_kernel(context, plan, *window, *activation);
}

constexpr std::array<SelectorEntry, 2> kEntries = {
    {{"Conv", select_conv}, {"trivet.FusedConv", select_conv}}};

}  // namespace

std::span<const SelectorEntry> conv_selectors() { return kEntries; }

}  // namespace trivet::cpu

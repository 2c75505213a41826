// Conv and FusedConv on planes in blocks of channels: directly, by Winograd's algorithm, or one
// filter per channel; as a matrix product where there is one position only.
#include <algorithm>
#include <array>

#include "base/math.h"
#include "ops/support/convolution.h"
#include "ops/support/fused.h"
#include "providers/cpu/activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/tuner.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::BlockedConvArgs;
using kernels::BlockedDepthwiseArgs;
using kernels::Window;

/// Planes below this many multiply-accumulates are not worth another thread.
constexpr std::int64_t kLeastWork = 1 << 15;

/// A window over one plane; a convolution over one axis is one over rows of height 1.
std::optional<Window> window_of(const ops::ConvPlan& plan) {
  const std::size_t rank = plan.in.size();
  if (rank < 1 || rank > 2) return std::nullopt;
  const bool flat = rank == 1;
  const auto at = [&](const Shape& values, std::size_t axis, std::int64_t missing) {
    if (!flat) return values[axis];
    return axis == 0 ? missing : values[0];
  };
  const ops::Window& w = plan.window;
  return Window{.in_height = at(plan.in, 0, 1),
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

std::int64_t positions_of(const Window& w) { return w.out_height * w.out_width; }

/// What is known of a Conv or FusedConv when its kernel is chosen.
struct Problem {
  const SelectContext& context;
  const KernelTable& table;
  const ops::ConvPlan& plan;
  Window window;
  Activation activation;

  [[nodiscard]] std::int64_t channels_in() const { return plan.groups * plan.in_channels; }
  [[nodiscard]] std::int64_t channels_out() const { return plan.groups * plan.out_channels; }
  /// Floats of one image in blocks.
  [[nodiscard]] std::int64_t blocked_in() const {
    return table.blocks(channels_in()) * table.lanes * window.in_height * window.in_width;
  }
  [[nodiscard]] std::int64_t blocked_out() const {
    return table.blocks(channels_out()) * table.lanes * positions_of(window);
  }
};

Result<Kernel> depthwise_kernel(const Problem& p) {
  const KernelTable& table = p.table;
  const Window& w = p.window;
  const Tensor& weight = *p.context.float_constant(1);
  const std::int64_t taps = w.kernel_height * w.kernel_width;
  const std::int64_t channels = p.channels_out();
  const std::int64_t blocks = table.blocks(channels);
  TRIVET_ASSIGN(const Tensor packed,
                p.context.weights.get(weight, "depthwise", blocks * table.lanes * taps,
                                      [&](float* to) -> Result<void> {
                                        table.pack_depthwise_weights(weight.data<float>().data(),
                                                                     channels, taps, to);
                                        return {};
                                      }));
  const BlockedDepthwiseArgs base{.channels = channels, .window = w, .activation = p.activation};
  const std::int64_t row_work = w.out_width * taps * table.lanes;
  Kernel kernel;
  kernel.name = "depthwise";
  kernel.blocked_inputs = 1;
  kernel.blocked_output = true;
  kernel.run = [=, &table, batch = p.plan.batch, in_size = p.blocked_in(),
                out_size = p.blocked_out()](const KernelArgs& args) {
    const std::int64_t rows = blocks * w.out_height;
    split(args.threads, batch * rows, kLeastWork / row_work + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t row = begin; row < end;) {
              const std::int64_t image = row / rows;
              const std::int64_t first = row - image * rows;
              const std::int64_t count = std::min(rows - first, end - row);
              BlockedDepthwiseArgs call = base;
              call.input = args.input(0) + image * in_size;
              call.weights = packed.data<float>().data();
              call.bias = args.input(2);
              call.output = args.output() + image * out_size;
              table.depthwise_blocked(call, first, first + count);
              row += count;
            }
          });
  };
  return kernel;
}

/// So many groups together that their channels fill whole blocks; the last ones may be fewer. What
/// a filter does not see of the other groups' input gets weight 0.
struct MergedGroups {
  std::int64_t merged = 1;       ///< groups in one
  std::int64_t count = 1;        ///< of such
  std::int64_t in_channels = 0;  ///< of each but the last, which has at most as many
  std::int64_t out_channels = 0;

  /// Of the groups from merged group `index` on, how many are in it.
  [[nodiscard]] std::int64_t size(const ops::ConvPlan& plan, std::int64_t index) const {
    return std::min(merged, plan.groups - index * merged);
  }
};

MergedGroups merge_groups(const ops::ConvPlan& plan, int lanes) {
  std::int64_t merged = 1;
  while (merged < plan.groups &&
         (merged * plan.in_channels % lanes != 0 || merged * plan.out_channels % lanes != 0)) {
    ++merged;
  }
  return {merged, ceil_div(plan.groups, merged), merged * plan.in_channels,
          merged * plan.out_channels};
}

/// The weights of merged group `index`, [out_channels][in_channels][kernel].
Result<Tensor> merged_weights(const Tensor& weight, const ops::ConvPlan& plan,
                              const MergedGroups& groups, std::int64_t index) {
  const std::int64_t taps = element_count(plan.window.kernel);
  const std::int64_t row = plan.in_channels * taps;
  const std::int64_t filters = groups.size(plan, index) * plan.out_channels;
  const std::int64_t wide_row = groups.size(plan, index) * row;
  TRIVET_ASSIGN(Tensor dense, Tensor::allocate(DType::kFloat32, {filters, wide_row}));
  const std::span<float> to = dense.mutable_data<float>();
  std::ranges::fill(to, 0.0F);
  const float* from = weight.data<float>().data() + index * groups.out_channels * row;
  for (std::int64_t m = 0; m < filters; ++m) {
    std::copy_n(from + m * row, row, to.data() + m * wide_row + m / plan.out_channels * row);
  }
  return dense;
}

/// How a dense convolution is computed.
struct Method {
  std::int64_t winograd = 0;  ///< size of the tiles of outputs; 0: directly
  bool planar = false;        ///< reads planes of single channels

  [[nodiscard]] std::int64_t weights_per_filter(std::int64_t taps) const {
    return winograd == 0 ? taps : (winograd + 2) * (winograd + 2);
  }
};

/// In multiply-accumulates. Reading a weight from far counts as much as using it at `weight_cost`
/// positions, or tiles: those of Winograd's algorithm are more than the filter's own. Its
/// transforms count as kTransform further channels on either side. Both numbers are estimates that
/// put the methods in the order in which ResNet-50 has them at 56², 28², 14² and 7².
std::int64_t cost(const Method& method, const Problem& p, const MergedGroups& groups) {
  const std::int64_t weight_cost = p.table.lanes * p.table.lanes / 8;
  constexpr std::int64_t kTransform = 8;
  const Window& w = p.window;
  const std::int64_t in = groups.in_channels;
  const std::int64_t out = groups.out_channels;
  if (method.winograd == 0) {
    return w.kernel_height * w.kernel_width * in * out * (positions_of(w) + weight_cost);
  }
  const std::int64_t size = method.winograd;
  const std::int64_t tiles = ceil_div(w.out_height, size) * ceil_div(w.out_width, size);
  const std::int64_t points = (size + 2) * (size + 2);
  return points * (in * out * (tiles + weight_cost) + kTransform * tiles * (in + out));
}

/// The methods that can compute it, the cheapest by the estimate first.
std::vector<Method> methods_for(const Problem& p, const MergedGroups& groups) {
  const Window& w = p.window;
  // Fewer channels than a vector holds are read from their planes, which costs no conversion.
  const bool planar =
      !p.context.is_blocked(0) && groups.count == 1 && groups.in_channels < p.table.lanes;
  const Method direct{.planar = planar};
  const bool possible = w.kernel_height == 3 && w.kernel_width == 3 && w.stride_height == 1 &&
                        w.stride_width == 1 && w.dilation_height == 1 && w.dilation_width == 1;
  if (planar || !possible || p.context.low_memory) return {direct};
  std::vector<Method> out = {direct, Method{.winograd = 2}, Method{.winograd = 4}};
  std::ranges::stable_sort(out, {}, [&](const Method& m) { return cost(m, p, groups); });
  return out;
}

/// The floats of one merged group's packed weights.
std::int64_t packed_size_of(const Problem& p, const MergedGroups& groups, const Method& method) {
  return p.table.blocks(groups.out_channels) * p.table.lanes * groups.in_channels *
         method.weights_per_filter(element_count(p.plan.window.kernel));
}

Result<void> pack(const Problem& p, const MergedGroups& groups, const Method& method,
                  float* packed) {
  const KernelTable& table = p.table;
  const Tensor& weight = *p.context.float_constant(1);
  const std::int64_t taps = element_count(p.plan.window.kernel);
  for (std::int64_t g = 0; g < groups.count; ++g) {
    const std::int64_t in = groups.size(p.plan, g) * p.plan.in_channels;
    const std::int64_t out = groups.size(p.plan, g) * p.plan.out_channels;
    Tensor dense;
    const float* from = weight.data<float>().data() + g * out * in * taps;
    if (groups.merged > 1) {
      TRIVET_ASSIGN(dense, merged_weights(weight, p.plan, groups, g));
      from = dense.data<float>().data();
    }
    float* to = packed + g * packed_size_of(p, groups, method);
    if (method.winograd != 0) {
      table.pack_winograd_weights(from, out, in, method.winograd, to);
    } else {
      table.pack_blocked_weights(from, out, in, taps, method.planar, to);
    }
  }
  return {};
}

/// What a method's work comes in.
struct Work {
  std::int64_t panels;  ///< of channels
  std::int64_t units;   ///< tiles of positions, or of Winograd's outputs
  std::int64_t images;  ///< and merged groups of them
  std::int64_t macs;

  Work(const Problem& p, const MergedGroups& groups, const Method& method)
      : panels(p.table.panel_count(groups.out_channels)),
        units(method.winograd != 0 ? ceil_div(p.window.out_height, method.winograd) *
                                         ceil_div(p.window.out_width, method.winograd)
                                   : ceil_div(positions_of(p.window), p.table.tile_m)),
        images(p.plan.batch * groups.count),
        macs(positions_of(p.window) * images * groups.in_channels * groups.out_channels *
             element_count(p.plan.window.kernel)) {}
};

/// How one image's group is divided among threads: over panels of channels, which each read all of
/// the input, or over positions (tiles of Winograd's), which each read all weights.
struct ConvSplit {
  std::int64_t parts = 1;
  bool by_panel = false;
};

/// The divisions that keep the threads busy, the best by the estimate first.
std::vector<ConvSplit> splits_for(const Work& work, int threads, bool weights_are_larger) {
  if (threads == 1 || work.macs < kLeastWork) return {{}};
  if (work.images % threads == 0) return {{}};  // whole images keep the threads equally busy
  const ConvSplit by_panel{std::min<std::int64_t>(threads, work.panels), true};
  const ConvSplit by_unit{std::min<std::int64_t>(threads, work.units), false};
  const bool many_panels = work.panels >= 4 * threads || work.panels % threads == 0;
  const bool panels_first =
      many_panels ? weights_are_larger || work.units < 4 * threads || work.units < work.panels
                  : work.units < work.panels;
  if (panels_first) return {by_panel, by_unit};
  return {by_unit, by_panel};
}

/// The names of kernels live as long as the program.
std::string_view method_name(const Method& method) {
  if (method.winograd == 4) return "winograd4";
  if (method.winograd == 2) return "winograd2";
  return method.planar ? "conv-planar" : "conv";
}

/// A method, and how its work is divided.
struct Way {
  Method method;
  ConvSplit split;

  [[nodiscard]] std::string name() const {
    if (split.parts == 1) return std::string(method_name(method));
    return cat(method_name(method), split.by_panel ? "/panels" : "/positions");
  }
};

Result<Kernel> dense_kernel(const Problem& p, const MergedGroups& groups, const Way& way) {
  const KernelTable& table = p.table;
  const Window& w = p.window;
  const Method method = way.method;
  const ConvSplit parts = way.split;
  const Tensor& weight = *p.context.float_constant(1);
  TRIVET_ASSIGN(const Tensor packed,
                p.context.weights.get(weight, cat(method_name(method), "/", p.plan.groups),
                                      groups.count * packed_size_of(p, groups, method),
                                      [&](float* to) { return pack(p, groups, method, to); }));
  BlockedConvArgs base{.in_channels = groups.in_channels,
                       .out_channels = groups.out_channels,
                       .window = w,
                       .planar = method.planar,
                       .activation = p.activation};
  const std::int64_t last_size = groups.size(p.plan, groups.count - 1);
  const std::int64_t last_in = last_size * p.plan.in_channels;
  const std::int64_t last_out = last_size * p.plan.out_channels;
  const auto scratch_of = [&](std::int64_t in_channels, std::int64_t out_channels) {
    BlockedConvArgs args = base;
    args.in_channels = in_channels;
    args.out_channels = out_channels;
    return method.winograd != 0 ? table.winograd_scratch(args, method.winograd)
                                : table.conv_blocked_scratch(args);
  };
  // With fewer channels, Winograd's algorithm takes more tiles at a time.
  const std::int64_t scratch_floats = round_up(
      std::max(scratch_of(groups.in_channels, groups.out_channels), scratch_of(last_in, last_out)),
      16);
  const std::int64_t positions = positions_of(w);
  const std::int64_t size = method.winograd;
  const Work work(p, groups, method);
  const std::int64_t packed_size = packed.size() / groups.count;
  const std::int64_t in_size = groups.in_channels * w.in_height * w.in_width;
  Kernel kernel;
  kernel.name = method_name(method);
  kernel.scratch_bytes =
      static_cast<std::size_t>(scratch_floats * p.context.threads) * sizeof(float);
  kernel.blocked_inputs = (method.planar ? 0U : 1U) | 8U;
  kernel.blocked_output = true;
  // One image may be larger than its groups, whose last block of channels is padded.
  const std::int64_t image_in = method.planar ? in_size : p.blocked_in();
  const std::int64_t image_out = p.blocked_out();
  kernel.run = [=, &table](const KernelArgs& args) {
    const float* bias = args.input(2);
    const float* residual = args.input(3);
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const auto run_part = [&](std::int64_t task, int worker) {
      const std::int64_t image = task / parts.parts / groups.count;
      const std::int64_t group = task / parts.parts % groups.count;
      const std::int64_t part = task % parts.parts;
      const std::int64_t to = image * image_out + group * groups.out_channels * positions;
      BlockedConvArgs call = base;
      if (group + 1 == groups.count) {
        call.in_channels = last_in;
        call.out_channels = last_out;
      }
      call.input = args.input(0) + image * image_in + group * in_size;
      call.weights = packed.data<float>().data() + group * packed_size;
      call.bias = bias == nullptr ? nullptr : bias + group * groups.out_channels;
      call.residual = residual == nullptr ? nullptr : residual + to;
      call.output = args.output() + to;
      const std::int64_t all = parts.by_panel ? work.panels : work.units;
      const std::int64_t begin = all * part / parts.parts;
      const std::int64_t end = all * (part + 1) / parts.parts;
      const std::int64_t panel_begin = parts.by_panel ? begin : 0;
      // The last group may have fewer.
      const std::int64_t panel_end =
          std::min(parts.by_panel ? end : work.panels, table.panel_count(call.out_channels));
      const std::int64_t unit_begin = parts.by_panel ? 0 : begin;
      const std::int64_t unit_end = parts.by_panel ? work.units : end;
      float* own = scratch + worker * scratch_floats;
      if (size != 0) {
        table.winograd(call, size, unit_begin, unit_end, panel_begin, panel_end, own);
      } else {
        table.conv_blocked(call, unit_begin * table.tile_m,
                           std::min(positions, unit_end * table.tile_m), panel_begin, panel_end,
                           own);
      }
    };
    const std::int64_t tasks = work.images * parts.parts;
    if (tasks == 1 || work.macs < kLeastWork) {
      for (std::int64_t task = 0; task < tasks; ++task) run_part(task, 0);
    } else {
      args.threads.parallel_for(tasks, run_part);
    }
  };
  return kernel;
}

/// Every way, the one that the estimates prefer first.
std::vector<Way> ways_for(const Problem& p, const MergedGroups& groups) {
  std::vector<Way> out;
  const Window& w = p.window;
  const std::int64_t in_size = groups.in_channels * w.in_height * w.in_width;
  for (const Method& method : methods_for(p, groups)) {
    const bool weights_are_larger = packed_size_of(p, groups, method) > in_size;
    const Work work(p, groups, method);
    for (const ConvSplit& split : splits_for(work, p.context.threads, weights_are_larger)) {
      const Way way{method, split};
      if (std::ranges::find(out, way.name(), &Way::name) == out.end()) out.push_back(way);
    }
  }
  return out;
}

/// What the time depends on, but for the bias and the activation: the key of the tuner's file.
std::string key_of(const Problem& p) {
  const Window& w = p.window;
  return cat("conv ", p.plan.batch, "x", p.channels_in(), "x", w.in_height, "x", w.in_width, " to ",
             p.channels_out(), " kernel ", w.kernel_height, "x", w.kernel_width, " stride ",
             w.stride_height, "x", w.stride_width, " dilation ", w.dilation_height, "x",
             w.dilation_width, " pad ", w.pad_top, "x", w.pad_left, " out ", w.out_height, "x",
             w.out_width, " groups ", p.plan.groups, p.context.has_input(3) ? " residual" : "",
             p.context.is_blocked(0) ? " blocked" : "", p.context.low_memory ? " low" : "", " on ",
             p.context.threads);
}

Result<Way> choose_way(const Problem& p, const MergedGroups& groups) {
  const std::vector<Way> ways = ways_for(p, groups);
  if (p.context.tuner == nullptr) return ways.front();
  PackedWeights trials;  // those that lose must not stay
  SelectContext context = p.context.with(trials);
  const Problem trial{context, p.table, p.plan, p.window, p.activation};
  std::vector<Candidate> candidates;
  for (const Way& way : ways)
    candidates.push_back({way.name(), [&] { return dense_kernel(trial, groups, way); }});
  const Window& w = p.window;
  const std::int64_t planes = p.plan.batch * p.channels_in() * w.in_height * w.in_width;
  const std::int64_t input = ways.front().method.planar ? planes : p.plan.batch * p.blocked_in();
  const std::int64_t output = p.plan.batch * p.blocked_out();
  const std::int64_t bias = p.context.has_input(2) ? p.channels_out() : 0;
  const std::int64_t residual = p.context.has_input(3) ? output : 0;
  TRIVET_ASSIGN(
      const std::size_t best,
      p.context.tuner->choose(key_of(p), candidates, {{input, 0, bias, residual}, output}));
  return ways[best];
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
  const Problem problem{context, context.table, plan, *window, *activation};
  const bool one_position = window->in_height * window->in_width == 1 &&
                            positions_of(*window) == 1 &&
                            window->kernel_height * window->kernel_width == 1;
  // As after a global pool: the channels of an image are a row, whose plain form is also its form
  // in blocks, and the weights a matrix.
  if (one_position && plan.groups == 1) {
    const Tensor matrix = weight->reshaped({plan.out_channels, plan.in_channels});
    return matrix_kernel(context, matrix, true, plan.batch, {.activation = *activation});
  }
  if (plan.in_channels == 1 && plan.out_channels == 1 && plan.groups > 1 && !context.has_input(3)) {
    TRIVET_ASSIGN(Kernel kernel, depthwise_kernel(problem));
    return std::optional(std::move(kernel));
  }
  const MergedGroups groups = merge_groups(plan, context.table.lanes);
  TRIVET_ASSIGN(const Way way, choose_way(problem, groups));
  TRIVET_ASSIGN(Kernel kernel, dense_kernel(problem, groups, way));
  return std::optional(std::move(kernel));
}

constexpr std::array<SelectorEntry, 2> kEntries = {
    {{"Conv", select_conv}, {"trivet.FusedConv", select_conv}}};

}  // namespace

std::span<const SelectorEntry> conv_selectors() { return kEntries; }

}  // namespace trivet::cpu

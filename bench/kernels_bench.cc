// Times every kernel of every table that this processor can run, on shapes of real networks:
//   kernels_bench [ISA [SUBSTRING OF A NAME [RUNS]]]
// Each line is the best of short windows, one thread; quote ratios within one run. With RUNS, each
// kernel runs so often and nothing is timed: for tools that count instructions.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "kernels/kernels.h"

namespace trivet::kernels {
namespace {

using Floats = std::vector<float>;

Floats values(std::int64_t count) {
  Floats out(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (float& v : out) {
    state = state * 1664525U + 1013904223U;
    v = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  return out;
}

Floats zeros(std::int64_t count) { return Floats(static_cast<std::size_t>(count)); }

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Filter {
  std::string_view isa;
  std::string_view name;
  int runs = 0;  ///< 0: time it

  [[nodiscard]] bool wants(const std::string& kernel) const {
    return kernel.find(name) != std::string::npos;
  }
};

class Bench {
 public:
  Bench(const KernelTable& table, const Filter& filter) : table_(table), filter_(filter) {}

  /// `work` per call, in the unit's billions per second.
  void line(const std::string& name, double work, const char* unit,
            const std::function<void()>& call) const {
    if (!filter_.wants(name)) return;
    for (int i = 0; i < filter_.runs; ++i) call();
    if (filter_.runs > 0) return;
    constexpr double kWindow = 0.15;
    call();
    double best = 1e9;
    for (const double end = seconds_now() + kWindow; seconds_now() < end;) {
      const double start = seconds_now();
      call();
      best = std::min(best, seconds_now() - start);
    }
    const std::string_view isa = isa_name(table_.isa);
    std::printf("%-8.*s %-34s %10.1f us %8.2f G%s/s\n", static_cast<int>(isa.size()), isa.data(),
                name.c_str(), best * 1e6, work / best * 1e-9, unit);
    std::fflush(stdout);
  }

  void gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const std::string name =
        "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    if (!filter_.wants(name)) return;
    const Floats a = values(m * k);
    const Floats b = values(k * n);
    const Floats bias = values(n);
    Floats packed = zeros(table_.packed_b_size(k, n));
    Floats c = zeros(m * n);
    table_.pack_b(b.data(), n, k, n, 0, table_.panel_count(n), packed.data());
    GemmArgs args{.m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .a_stride = k,
                  .b = packed.data(),
                  .c = c.data(),
                  .c_stride = n,
                  .epilogue = {}};
    args.epilogue.column_bias = bias.data();
    args.epilogue.activation.function = Unary::kRelu;
    line(name, 2.0 * static_cast<double>(m * n * k), "FLOP",
         [&] { table_.gemm(args, 0, m, 0, table_.panel_count(n)); });
  }

  struct Layer {
    std::int64_t in_channels, out_channels, size, kernel, stride;
  };

  static Window window_of(const Layer& layer) {
    Window w;
    w.in_height = w.in_width = layer.size;
    w.out_height = w.out_width = (layer.size + layer.stride - 1) / layer.stride;
    w.kernel_height = w.kernel_width = layer.kernel;
    w.stride_height = w.stride_width = layer.stride;
    w.pad_top = w.pad_left = layer.kernel / 2;
    return w;
  }

  static std::string name_of(const char* what, const Layer& layer) {
    const std::string k = std::to_string(layer.kernel);
    return std::string(what) + " " + k + "x" + k + " s" + std::to_string(layer.stride) + " " +
           std::to_string(layer.in_channels) + "->" + std::to_string(layer.out_channels) + " " +
           std::to_string(layer.size) + "^2";
  }

  [[nodiscard]] Floats blocks_of(std::int64_t channels, std::int64_t positions) const {
    return values(table_.blocks(channels) * table_.lanes * positions);
  }

  /// Directly, and by Winograd's algorithm where that can be; GFLOP/s are those of the definition.
  void conv(const Layer& layer) const {
    const bool winograd = layer.kernel == 3 && layer.stride == 1;
    const bool wanted = filter_.wants(name_of("conv", layer)) ||
                        (winograd && (filter_.wants(name_of("winograd2", layer)) ||
                                      filter_.wants(name_of("winograd4", layer))));
    if (!wanted) return;
    const bool planar = layer.in_channels < table_.lanes;
    BlockedConvArgs args{.in_channels = layer.in_channels,
                         .out_channels = layer.out_channels,
                         .window = window_of(layer),
                         .planar = planar};
    const Window& w = args.window;
    const std::int64_t taps = layer.kernel * layer.kernel;
    const std::int64_t filters = layer.in_channels * layer.out_channels * taps;
    const std::int64_t positions = w.out_height * w.out_width;
    const std::int64_t panels = table_.panel_count(layer.out_channels);
    const Floats input = planar ? values(layer.in_channels * w.in_height * w.in_width)
                                : blocks_of(layer.in_channels, w.in_height * w.in_width);
    const Floats weights = values(filters);
    const Floats bias = values(layer.out_channels);
    Floats output = blocks_of(layer.out_channels, positions);
    args.input = input.data();
    args.bias = bias.data();
    args.output = output.data();
    args.activation.function = Unary::kRelu;
    const std::int64_t pairs = table_.blocks(layer.out_channels) * table_.lanes * layer.in_channels;
    const double flops = 2.0 * static_cast<double>(filters * positions);

    Floats packed = zeros(pairs * taps);
    Floats scratch = zeros(table_.conv_blocked_scratch(args));
    table_.pack_blocked_weights(weights.data(), layer.out_channels, layer.in_channels, taps, planar,
                                packed.data());
    args.weights = packed.data();
    line(name_of("conv", layer), flops, "FLOP",
         [&] { table_.conv_blocked(args, 0, positions, 0, panels, scratch.data()); });
    if (planar || !winograd) return;
    for (const std::int64_t out : {2, 4}) {
      const std::int64_t edge = (w.out_height + out - 1) / out;
      packed = zeros(pairs * (out + 2) * (out + 2));
      scratch = zeros(table_.winograd_scratch(args, out));
      table_.pack_winograd_weights(weights.data(), layer.out_channels, layer.in_channels, out,
                                   packed.data());
      args.weights = packed.data();
      line(name_of(out == 2 ? "winograd2" : "winograd4", layer), flops, "FLOP",
           [&] { table_.winograd(args, out, 0, edge * edge, 0, panels, scratch.data()); });
    }
  }

  void depthwise(const Layer& layer) const {
    if (!filter_.wants(name_of("depthwise", layer))) return;
    BlockedDepthwiseArgs args{.channels = layer.out_channels, .window = window_of(layer)};
    const Window& w = args.window;
    const std::int64_t taps = layer.kernel * layer.kernel;
    const std::int64_t rows = table_.blocks(layer.out_channels) * w.out_height;
    const Floats input = blocks_of(layer.in_channels, w.in_height * w.in_width);
    const Floats weights = blocks_of(layer.out_channels, taps);
    Floats output = blocks_of(layer.out_channels, w.out_height * w.out_width);
    args.input = input.data();
    args.weights = weights.data();
    args.output = output.data();
    args.activation.function = Unary::kRelu;
    line(name_of("depthwise", layer),
         2.0 * static_cast<double>(layer.out_channels * w.out_height * w.out_width * taps), "FLOP",
         [&] { table_.depthwise_blocked(args, 0, rows); });
  }

  void pool(const Layer& layer, Pool kind, const char* name) const {
    if (!filter_.wants(name_of(name, layer))) return;
    PoolArgs args{.kind = kind, .window = window_of(layer)};
    const Window& w = args.window;
    const Floats input = blocks_of(layer.in_channels, w.in_height * w.in_width);
    Floats output = blocks_of(layer.out_channels, w.out_height * w.out_width);
    args.input = input.data();
    args.output = output.data();
    const std::int64_t rows = table_.blocks(layer.out_channels) * w.out_height;
    line(name_of(name, layer), static_cast<double>(output.size()), "element",
         [&] { table_.pool_blocked(args, 0, rows); });
  }

  void elements(std::int64_t count) const {
    const Floats x = values(count);
    Floats y = zeros(count);
    const auto unary = [&](const char* name, Unary function) {
      const Activation f{function, 0.0F, 6.0F};
      line(name, static_cast<double>(count), "element",
           [&] { table_.unary(f, x.data(), y.data(), count); });
    };
    unary("relu", Unary::kRelu);
    unary("hard-swish", Unary::kHardSwish);
    unary("sigmoid", Unary::kSigmoid);
    unary("silu", Unary::kSilu);
    unary("gelu", Unary::kGelu);
    unary("tanh", Unary::kTanh);
    unary("exp", Unary::kExp);
    line("add", static_cast<double>(count), "element",
         [&] { table_.binary(Binary::kAdd, Scalar::kNone, x.data(), x.data(), y.data(), count); });
  }

  void rows(std::int64_t count, std::int64_t columns) const {
    const Floats x = values(count * columns);
    Floats y = zeros(count * columns);
    const std::string shape = " " + std::to_string(count) + "x" + std::to_string(columns);
    const auto work = static_cast<double>(count * columns);
    line("softmax" + shape, work, "element",
         [&] { table_.softmax(x.data(), y.data(), count, columns); });
    const LayerNormArgs norm{
        .columns = columns, .x = x.data(), .scale = x.data(), .bias = x.data(), .y = y.data()};
    line("layer-norm" + shape, work, "element", [&] { table_.layer_norm(norm, 0, count); });
    const ReduceArgs mean{
        .kind = Reduce::kMean, .reduce = columns, .inner = 1, .x = x.data(), .y = y.data()};
    line("mean" + shape, work, "element", [&] { table_.reduce(mean, 0, count); });
    line("transpose" + shape, work, "element",
         [&] { table_.transpose(x.data(), columns, y.data(), count, count, columns); });
  }

  void all() const {
    for (const std::int64_t m : {3136, 196, 49, 1}) {
      gemm(m, m == 3136 ? 64 : (m == 196 ? 256 : 512), m == 3136 ? 576 : (m == 196 ? 2304 : 4608));
    }
    gemm(196, 1024, 256);
    gemm(3136, 384, 96);
    gemm(1, 1000, 1280);
    for (const Layer& layer :
         {Layer{64, 64, 56, 3, 1}, Layer{128, 128, 28, 3, 1}, Layer{256, 256, 14, 3, 1},
          Layer{512, 512, 7, 3, 1}, Layer{128, 128, 56, 3, 2}, Layer{3, 64, 224, 7, 2},
          Layer{3, 16, 224, 3, 2}, Layer{64, 256, 56, 1, 1}, Layer{16, 64, 112, 1, 1},
          Layer{72, 24, 56, 1, 1}, Layer{1024, 256, 14, 1, 1}, Layer{160, 960, 7, 1, 1}}) {
      conv(layer);
    }
    for (const Layer& layer :
         {Layer{64, 64, 112, 3, 1}, Layer{64, 64, 112, 3, 2}, Layer{480, 480, 14, 3, 1},
          Layer{240, 240, 28, 5, 1}, Layer{72, 72, 56, 5, 2}, Layer{960, 960, 7, 5, 1},
          Layer{96, 96, 56, 7, 1}}) {
      depthwise(layer);
    }
    pool({64, 64, 112, 3, 2}, Pool::kMax, "max-pool");
    pool({192, 192, 28, 3, 1}, Pool::kAverage, "average-pool");
    elements(1 << 16);
    rows(3136, 96);
    rows(196, 384);
    rows(512, 64);
  }

 private:
  const KernelTable& table_;
  Filter filter_;
};

}  // namespace
}  // namespace trivet::kernels

int main(int argc, char** argv) {
  trivet::kernels::Filter filter;
  if (argc > 1) filter.isa = argv[1];
  if (argc > 2) filter.name = argv[2];
  if (argc > 3) filter.runs = std::atoi(argv[3]);
  for (const trivet::kernels::KernelTable* table : trivet::kernels::runnable_tables()) {
    if (!filter.isa.empty() && trivet::isa_name(table->isa) != filter.isa) continue;
    trivet::kernels::Bench(*table, filter).all();
  }
  return 0;
}

// Convolution, depthwise convolution and pooling against plain loops.
#include "kernels/kernels_for_test.h"

namespace trivet::kernels {
namespace {

class WindowTest : public KernelTest {
 protected:
  /// A random geometry; the output may reach beyond the declared padding, as with ceil_mode.
  Window random_window(std::int64_t most_width) {
    Window w;
    w.in_height = integer(1, 9);
    w.in_width = integer(1, most_width);
    if (coin()) {  // the kernels that have code of their own
      w.kernel_height = w.kernel_width = 2 * integer(0, 3) + 1;
      w.stride_height = w.stride_width = integer(1, 2);
    } else {
      w.kernel_height = integer(1, 4);
      w.kernel_width = integer(1, 4);
      w.stride_height = integer(1, 3);
      w.stride_width = integer(1, 3);
      w.dilation_height = integer(1, 3);
      w.dilation_width = integer(1, 3);
    }
    w.pad_top = integer(0, w.kernel_height - 1);
    w.pad_left = integer(0, w.kernel_width - 1);
    w.out_height =
        output_size(w.in_height, w.kernel_height, w.stride_height, w.dilation_height, w.pad_top);
    w.out_width =
        output_size(w.in_width, w.kernel_width, w.stride_width, w.dilation_width, w.pad_left);
    return w;
  }

 private:
  /// With as much padding at the end as at the beginning, and now and then one output more.
  std::int64_t output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                           std::int64_t dilation, std::int64_t pad) {
    const std::int64_t span = in + 2 * pad - ((kernel - 1) * dilation + 1);
    const std::int64_t size = span < 0 ? 1 : span / stride + 1;
    return size + (integer(0, 3) == 0 ? 1 : 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Tables, WindowTest, all_tables(), table_name);

std::int64_t in_size(const Window& w) { return w.in_height * w.in_width; }
std::int64_t out_size(const Window& w) { return w.out_height * w.out_width; }
std::int64_t kernel_size(const Window& w) { return w.kernel_height * w.kernel_width; }

/// Calls use(kernel element, row, column) for the window of one output, padding included.
template <class Use>
void for_each_tap(const Window& w, std::int64_t position, Use use) {
  for (std::int64_t e = 0; e < kernel_size(w); ++e) {
    use(e,
        position / w.out_width * w.stride_height - w.pad_top +
            e / w.kernel_width * w.dilation_height,
        position % w.out_width * w.stride_width - w.pad_left +
            e % w.kernel_width * w.dilation_width);
  }
}

bool inside(const Window& w, std::int64_t y, std::int64_t x) {
  return y >= 0 && y < w.in_height && x >= 0 && x < w.in_width;
}

/// The sum of filter · window of one plane, and the sum of the products' sizes.
std::pair<double, double> correlate(const Window& w, const float* plane, const float* filter,
                                    std::int64_t position) {
  double sum = 0;
  double size = 0;
  for_each_tap(w, position, [&](std::int64_t e, std::int64_t y, std::int64_t x) {
    if (!inside(w, y, x)) return;
    const double product = static_cast<double>(plane[y * w.in_width + x]) * filter[e];
    sum += product;
    size += std::abs(product);
  });
  return {sum, size};
}

TEST_P(WindowTest, ConvMatchesPlainLoop) {
  for (int round = 0; round < 150; ++round) {
    const Window w = random_window(coin() ? 80 : 9);
    const std::int64_t in_channels = round % 10 == 0 ? table().tile_k + 3 : integer(1, 9);
    const std::int64_t out_channels = size_near(table().tile_m);
    const std::int64_t filter = in_channels * kernel_size(w);
    GuardedFloats input(in_channels * in_size(w));
    GuardedFloats weights(out_channels * filter);
    GuardedFloats bias(out_channels);
    GuardedFloats residual(out_channels * out_size(w));
    for (GuardedFloats* x : {&input, &weights, &bias, &residual}) randomize(*x);
    GuardedFloats packed(weights.size());
    GuardedFloats output(residual.size());
    table().pack_conv_weights(weights.data(), out_channels, in_channels, kernel_size(w),
                              packed.data());
    ConvArgs args{.in_channels = in_channels,
                  .out_channels = out_channels,
                  .window = w,
                  .input = input.data(),
                  .weights = packed.data(),
                  .output = output.data(),
                  .epilogue = {}};
    args.epilogue.row_bias = bias.data();
    if (coin()) args.epilogue.residual = residual.data();
    args.epilogue.residual_stride = out_size(w);
    args.epilogue.activation.function = coin() ? Unary::kRelu : Unary::kHardSwish;
    GuardedFloats scratch(table().conv_scratch(args));
    const std::int64_t panels = table().panel_count(out_size(w));
    const std::int64_t tiles = table().tile_count(out_channels);
    table().conv(args, 0, panels, 0, tiles, scratch.data());

    for (std::int64_t m = 0; m < out_channels; ++m) {
      for (std::int64_t p = 0; p < out_size(w); ++p) {
        double sum = bias[m];
        double size = 1;
        for (std::int64_t c = 0; c < in_channels; ++c) {
          const auto [part, part_size] =
              correlate(w, input.data() + c * in_size(w),
                        weights.data() + m * filter + c * kernel_size(w), p);
          sum += part;
          size += part_size;
        }
        if (args.epilogue.residual != nullptr) sum += residual[m * out_size(w) + p];
        ASSERT_NEAR(output[m * out_size(w) + p], exact_unary(args.epilogue.activation, sum),
                    2e-6 * size);
      }
    }
    ASSERT_TRUE(output.intact() && packed.intact() && scratch.intact());

    GuardedFloats split(output.size());
    args.output = split.data();
    const std::int64_t panel = integer(0, panels);
    const std::int64_t tile = integer(0, tiles);
    table().conv(args, 0, panel, 0, tile, scratch.data());
    table().conv(args, panel, panels, 0, tile, scratch.data());
    table().conv(args, 0, panels, tile, tiles, scratch.data());
    ASSERT_TRUE(split.same_bits(output));
  }
}

TEST_P(WindowTest, DepthwiseMatchesPlainLoop) {
  for (int round = 0; round < 200; ++round) {
    const Window w = random_window(coin() ? 50 : 9);
    const std::int64_t batch = integer(1, 2);
    const std::int64_t multiplier = integer(1, 2);
    const std::int64_t channels = multiplier * integer(1, 3);
    GuardedFloats input(batch * channels / multiplier * in_size(w));
    GuardedFloats weights(channels * kernel_size(w));
    GuardedFloats bias(channels);
    GuardedFloats output(batch * channels * out_size(w));
    for (GuardedFloats* x : {&input, &weights, &bias}) randomize(*x);
    DepthwiseArgs args{.channels = channels,
                       .multiplier = multiplier,
                       .window = w,
                       .input = input.data(),
                       .weights = weights.data(),
                       .bias = coin() ? bias.data() : nullptr,
                       .output = output.data(),
                       .activation = {}};
    if (coin()) args.activation = {Unary::kClip, 0, 1};
    if (coin()) args.activation = {Unary::kSilu};
    GuardedFloats scratch(table().depthwise_scratch(w));
    const std::int64_t middle = integer(0, batch * channels);
    table().depthwise(args, 0, middle, scratch.data());
    table().depthwise(args, middle, batch * channels, scratch.data());
    for (std::int64_t plane = 0; plane < batch * channels; ++plane) {
      const std::int64_t c = plane % channels;
      for (std::int64_t p = 0; p < out_size(w); ++p) {
        const auto [sum, size] = correlate(w, input.data() + plane / multiplier * in_size(w),
                                           weights.data() + c * kernel_size(w), p);
        const double biased = sum + (args.bias != nullptr ? bias[c] : 0);
        ASSERT_NEAR(output[plane * out_size(w) + p], exact_unary(args.activation, biased),
                    1e-6 * (size + 1))
            << "kernel " << w.kernel_height << "x" << w.kernel_width << " position " << p;
      }
    }
    ASSERT_TRUE(output.intact() && scratch.intact());
  }
}

TEST_P(WindowTest, PoolsMatchPlainLoop) {
  for (int round = 0; round < 200; ++round) {
    PoolArgs args;
    args.window = random_window(coin() ? 50 : 9);
    const Window& w = args.window;
    args.kind = coin() ? Pool::kMax : Pool::kAverage;
    args.count_include_pad = coin();
    args.pad_bottom = w.pad_top;
    args.pad_right = w.pad_left;
    const std::int64_t planes = integer(1, 3);
    GuardedFloats input(planes * in_size(w));
    GuardedFloats output(planes * out_size(w));
    randomize(input, -2, -1);
    if (integer(0, 3) == 0) input[integer(0, input.size() - 1)] = std::nanf("");
    args.input = input.data();
    args.output = output.data();
    GuardedFloats scratch(table().pool_scratch(w));
    const std::int64_t middle = integer(0, planes);
    table().pool(args, 0, middle, scratch.data());
    table().pool(args, middle, planes, scratch.data());
    for (std::int64_t i = 0; i < output.size(); ++i) {
      const float* plane = input.data() + i / out_size(w) * in_size(w);
      double sum = 0;
      double largest = -INFINITY;
      double count = 0;
      for_each_tap(w, i % out_size(w), [&](std::int64_t, std::int64_t y, std::int64_t x) {
        const bool padding = y >= -w.pad_top && y < w.in_height + args.pad_bottom &&
                             x >= -w.pad_left && x < w.in_width + args.pad_right;
        if (args.count_include_pad ? padding : inside(w, y, x)) count += 1;
        if (!inside(w, y, x)) return;
        const double value = plane[y * w.in_width + x];
        sum += value;
        if (!(value <= largest)) largest = std::isnan(largest) ? largest : value;
      });
      const double expected = args.kind == Pool::kMax ? largest : sum / count;
      if (std::isnan(expected) || std::isinf(expected)) {
        ASSERT_EQ(std::isnan(expected), std::isnan(output[i]));
        ASSERT_EQ(std::isinf(expected), std::isinf(output[i]));
      } else {
        ASSERT_NEAR(output[i], expected, 1e-5);
      }
    }
    ASSERT_TRUE(output.intact() && scratch.intact());
  }
}

}  // namespace
}  // namespace trivet::kernels

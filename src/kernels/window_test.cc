// Convolution, depthwise convolution and pooling on planes in blocks of channels, against plain
// loops.
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

/// Planes in blocks of `lanes` channels; what no channel fills is NaN, which shows when it is read.
GuardedFloats in_blocks(const GuardedFloats& planes, std::int64_t channels, int lanes) {
  const std::int64_t positions = planes.size() / channels;
  GuardedFloats out((channels + lanes - 1) / lanes * lanes * positions);
  std::ranges::fill(out, std::nanf(""));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t p = 0; p < positions; ++p) {
      out[(c / lanes * positions + p) * lanes + c % lanes] = planes[c * positions + p];
    }
  }
  return out;
}

/// One element of planes in blocks.
float at(const GuardedFloats& blocks, std::int64_t positions, int lanes, std::int64_t c,
         std::int64_t p) {
  return blocks[(c / lanes * positions + p) * lanes + c % lanes];
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

/// A random convolution, its operands and its exact results.
struct ConvCase {
  BlockedConvArgs args;
  GuardedFloats planes, input, weights, bias, residual_planes, residual, output;
  int lanes;

  ConvCase(const BlockedConvArgs& a, int l)
      : args(a),
        planes(a.in_channels * in_size(a.window)),
        input(a.planar ? planes.size() : round_up(a.in_channels, l) * in_size(a.window)),
        weights(a.out_channels * a.in_channels * kernel_size(a.window)),
        bias(a.out_channels),
        residual_planes(a.out_channels * out_size(a.window)),
        residual(round_up(a.out_channels, l) * out_size(a.window)),
        output(residual.size()),
        lanes(l) {}

  static std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

  /// After `planes` and `residual_planes` were filled.
  void bind(bool with_residual) {
    const GuardedFloats source = args.planar ? planes : in_blocks(planes, args.in_channels, lanes);
    std::ranges::copy(source, input.begin());
    std::ranges::copy(in_blocks(residual_planes, args.out_channels, lanes), residual.begin());
    args.input = input.data();
    args.bias = bias.data();
    args.residual = with_residual ? residual.data() : nullptr;
    args.output = output.data();
  }

  /// `error` is relative to the sum of the products' sizes; that of a Winograd tile depends on all
  /// its inputs, so the sum is then the expected one of any position.
  void check(double error, bool whole_tiles) const {
    const Window& w = args.window;
    const std::int64_t filter = args.in_channels * kernel_size(w);
    for (std::int64_t m = 0; m < args.out_channels; ++m) {
      for (std::int64_t p = 0; p < out_size(w); ++p) {
        double sum = bias[m];
        double size = whole_tiles ? 1 + static_cast<double>(filter) / 4 : 1;
        for (std::int64_t c = 0; c < args.in_channels; ++c) {
          const auto [part, part_size] =
              correlate(w, planes.data() + c * in_size(w),
                        weights.data() + m * filter + c * kernel_size(w), p);
          sum += part;
          size += whole_tiles ? 0 : part_size;
        }
        if (args.residual != nullptr) sum += residual_planes[m * out_size(w) + p];
        ASSERT_NEAR(at(output, out_size(w), lanes, m, p), exact_unary(args.activation, sum),
                    error * size)
            << "channel " << m << ", position " << p;
      }
    }
    ASSERT_TRUE(output.intact());
  }
};

TEST_P(WindowTest, ConvMatchesPlainLoop) {
  for (int round = 0; round < 150; ++round) {
    BlockedConvArgs args{.window = random_window(coin() ? 80 : 9)};
    args.in_channels = round % 10 == 0 ? table().tile_k + 3 : integer(1, 20);
    args.out_channels = size_near(table().panel_n);
    args.planar = coin();
    args.activation.function = coin() ? Unary::kRelu : Unary::kHardSwish;
    ConvCase c(args, table().lanes);
    for (GuardedFloats* x : {&c.planes, &c.weights, &c.bias, &c.residual_planes}) randomize(*x);
    c.bind(coin());
    GuardedFloats packed(table().blocks(args.out_channels) * table().lanes * args.in_channels *
                         kernel_size(args.window));
    table().pack_blocked_weights(c.weights.data(), args.out_channels, args.in_channels,
                                 kernel_size(args.window), args.planar, packed.data());
    c.args.weights = packed.data();
    GuardedFloats scratch(table().conv_blocked_scratch(c.args));
    const std::int64_t positions = out_size(args.window);
    const std::int64_t panels = table().panel_count(args.out_channels);
    table().conv_blocked(c.args, 0, positions, 0, panels, scratch.data());
    ASSERT_NO_FATAL_FAILURE(c.check(2e-6, false));
    ASSERT_TRUE(packed.intact() && scratch.intact());

    GuardedFloats split(c.output.size());
    c.args.output = split.data();
    const std::int64_t position = integer(0, positions);
    const std::int64_t panel = integer(0, panels);
    table().conv_blocked(c.args, 0, position, 0, panel, scratch.data());
    table().conv_blocked(c.args, position, positions, 0, panel, scratch.data());
    table().conv_blocked(c.args, 0, positions, panel, panels, scratch.data());
    ASSERT_TRUE(split.same_bits(c.output));
  }
}

TEST_P(WindowTest, WinogradMatchesPlainLoop) {
  for (int round = 0; round < 120; ++round) {
    BlockedConvArgs args{.window = random_window(coin() ? 40 : 9)};
    Window& w = args.window;
    w.kernel_height = w.kernel_width = 3;
    w.stride_height = w.stride_width = w.dilation_height = w.dilation_width = 1;
    w.pad_top = integer(0, 2);
    w.pad_left = integer(0, 2);
    args.in_channels = round % 10 == 0 ? table().tile_k + 3 : integer(1, 20);
    args.out_channels = size_near(table().panel_n);
    args.activation.function = coin() ? Unary::kRelu : Unary::kHardSwish;
    const std::int64_t out = coin() ? 4 : 2;
    ConvCase c(args, table().lanes);
    for (GuardedFloats* x : {&c.planes, &c.weights, &c.bias, &c.residual_planes}) randomize(*x);
    c.bind(coin());
    GuardedFloats packed(table().blocks(args.out_channels) * table().lanes * args.in_channels *
                         (out + 2) * (out + 2));
    table().pack_winograd_weights(c.weights.data(), args.out_channels, args.in_channels, out,
                                  packed.data());
    c.args.weights = packed.data();
    GuardedFloats scratch(table().winograd_scratch(c.args, out));
    const auto ceil = [&](std::int64_t size) { return (size + out - 1) / out; };
    const std::int64_t tiles = ceil(w.out_height) * ceil(w.out_width);
    const std::int64_t panels = table().panel_count(args.out_channels);
    table().winograd(c.args, out, 0, tiles, 0, panels, scratch.data());
    ASSERT_NO_FATAL_FAILURE(c.check(out == 4 ? 3e-5 : 3e-6, true));
    ASSERT_TRUE(packed.intact() && scratch.intact());

    GuardedFloats split(c.output.size());
    c.args.output = split.data();
    const std::int64_t tile = integer(0, tiles);
    const std::int64_t panel = integer(0, panels);
    table().winograd(c.args, out, 0, tile, 0, panel, scratch.data());
    table().winograd(c.args, out, tile, tiles, 0, panel, scratch.data());
    table().winograd(c.args, out, 0, tiles, panel, panels, scratch.data());
    ASSERT_TRUE(split.same_bits(c.output));
  }
}

TEST_P(WindowTest, DepthwiseMatchesPlainLoop) {
  const int lanes = table().lanes;
  for (int round = 0; round < 200; ++round) {
    const Window w = random_window(coin() ? 50 : 9);
    const std::int64_t channels = integer(1, 3 * lanes);
    const std::int64_t blocks = table().blocks(channels);
    GuardedFloats planes(channels * in_size(w));
    GuardedFloats weights(channels * kernel_size(w));
    GuardedFloats bias(channels);
    GuardedFloats output(blocks * lanes * out_size(w));
    for (GuardedFloats* x : {&planes, &weights, &bias}) randomize(*x);
    const GuardedFloats input = in_blocks(planes, channels, lanes);
    GuardedFloats packed(blocks * lanes * kernel_size(w));
    table().pack_depthwise_weights(weights.data(), channels, kernel_size(w), packed.data());
    BlockedDepthwiseArgs args{.channels = channels,
                              .window = w,
                              .input = input.data(),
                              .weights = packed.data(),
                              .bias = coin() ? bias.data() : nullptr,
                              .output = output.data(),
                              .activation = {}};
    if (coin()) args.activation = {Unary::kClip, 0, 1};
    if (coin()) args.activation = {Unary::kSilu};
    const std::int64_t middle = integer(0, blocks * w.out_height);
    table().depthwise_blocked(args, 0, middle);
    table().depthwise_blocked(args, middle, blocks * w.out_height);
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < out_size(w); ++p) {
        const auto [sum, size] =
            correlate(w, planes.data() + c * in_size(w), weights.data() + c * kernel_size(w), p);
        const double biased = sum + (args.bias != nullptr ? bias[c] : 0);
        ASSERT_NEAR(at(output, out_size(w), lanes, c, p), exact_unary(args.activation, biased),
                    1e-6 * (size + 1))
            << "kernel " << w.kernel_height << "x" << w.kernel_width << " position " << p;
      }
    }
    ASSERT_TRUE(output.intact() && packed.intact());
  }
}

/// What a pool gives for one position of one plane.
double exact_pool(const PoolArgs& args, const float* plane, std::int64_t position) {
  const Window& w = args.window;
  double sum = 0;
  double largest = -INFINITY;
  double count = 0;
  for_each_tap(w, position, [&](std::int64_t, std::int64_t y, std::int64_t x) {
    const bool padding = y >= -w.pad_top && y < w.in_height + args.pad_bottom && x >= -w.pad_left &&
                         x < w.in_width + args.pad_right;
    if (args.count_include_pad ? padding : inside(w, y, x)) count += 1;
    if (!inside(w, y, x)) return;
    const double value = plane[y * w.in_width + x];
    sum += value;
    if (!(value <= largest)) largest = std::isnan(largest) ? largest : value;
  });
  return args.kind == Pool::kMax ? largest : sum / count;
}

TEST_P(WindowTest, PoolsMatchPlainLoop) {
  const int lanes = table().lanes;
  for (int round = 0; round < 200; ++round) {
    PoolArgs args;
    args.window = random_window(coin() ? 50 : 9);
    const Window& w = args.window;
    args.kind = coin() ? Pool::kMax : Pool::kAverage;
    args.count_include_pad = coin();
    args.pad_bottom = w.pad_top;
    args.pad_right = w.pad_left;
    const std::int64_t channels = integer(1, 2 * lanes);
    const std::int64_t rows = table().blocks(channels) * w.out_height;
    GuardedFloats planes(channels * in_size(w));
    GuardedFloats output(table().blocks(channels) * lanes * out_size(w));
    randomize(planes, -2, -1);
    if (integer(0, 3) == 0) planes[integer(0, planes.size() - 1)] = std::nanf("");
    const GuardedFloats input = in_blocks(planes, channels, lanes);
    args.input = input.data();
    args.output = output.data();
    const std::int64_t middle = integer(0, rows);
    table().pool_blocked(args, 0, middle);
    table().pool_blocked(args, middle, rows);
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < out_size(w); ++p) {
        const double expected = exact_pool(args, planes.data() + c * in_size(w), p);
        const float found = at(output, out_size(w), lanes, c, p);
        if (std::isnan(expected) || std::isinf(expected)) {
          ASSERT_EQ(std::isnan(expected), std::isnan(found));
          ASSERT_EQ(std::isinf(expected), std::isinf(found));
        } else {
          ASSERT_NEAR(found, expected, 1e-5);
        }
      }
    }
    ASSERT_TRUE(output.intact());
  }
}

TEST_P(WindowTest, GlobalPoolsMatchPlainLoop) {
  for (int round = 0; round < 100; ++round) {
    const std::int64_t channels = integer(1, 3 * table().lanes);
    const std::int64_t positions = integer(1, 70);
    GuardedFloats planes(channels * positions);
    randomize(planes);
    const GuardedFloats input = in_blocks(planes, channels, table().lanes);
    const Pool kind = coin() ? Pool::kMax : Pool::kAverage;
    GuardedFloats output(channels);
    table().global_pool_blocked(kind, input.data(), channels, positions, 0,
                                table().blocks(channels), output.data());
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      double largest = -INFINITY;
      for (std::int64_t p = 0; p < positions; ++p) {
        const double value = planes[c * positions + p];
        sum += value;
        largest = std::max(largest, value);
      }
      ASSERT_NEAR(output[c], kind == Pool::kMax ? largest : sum / static_cast<double>(positions),
                  1e-6);
    }
    ASSERT_TRUE(output.intact());
  }
}

TEST_P(WindowTest, BinaryWithOneNumberPerChannel) {
  constexpr Binary kOps[] = {Binary::kAdd, Binary::kSub, Binary::kMul,
                             Binary::kDiv, Binary::kMax, Binary::kMin};
  for (int round = 0; round < 100; ++round) {
    const int lanes = table().lanes;
    const std::int64_t channels = integer(1, 3 * lanes);
    const std::int64_t positions = integer(1, 30);
    GuardedFloats planes(channels * positions);
    GuardedFloats channel(channels);
    randomize(planes);
    randomize(channel, 0.5F, 2);
    const GuardedFloats input = in_blocks(planes, channels, lanes);
    const Binary op = kOps[integer(0, kBinaryCount - 1)];
    GuardedFloats output(input.size());
    table().binary_channels(op, input.data(), channel.data(), channels, positions, 0,
                            table().blocks(channels), output.data());
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < positions; ++p) {
        float expected = 0;
        table().binary(op, Scalar::kNone, &planes[c * positions + p], &channel[c], &expected, 1);
        ASSERT_EQ(at(output, positions, lanes, c, p), expected);
      }
    }
    ASSERT_TRUE(output.intact());
  }
}

TEST_P(WindowTest, BlocksAndBack) {
  for (int round = 0; round < 100; ++round) {
    const int lanes = table().lanes;
    const std::int64_t channels = integer(1, 3 * lanes);
    const std::int64_t positions = integer(1, 40);
    const std::int64_t blocks = table().blocks(channels);
    GuardedFloats planes(channels * positions);
    randomize(planes);
    GuardedFloats rows(planes.size());
    for (std::int64_t i = 0; i < planes.size(); ++i) {
      rows[i % positions * channels + i / positions] = planes[i];
    }
    GuardedFloats from_planes(blocks * lanes * positions);
    GuardedFloats from_rows(from_planes.size());
    table().block_planes(planes.data(), channels, positions, 0, blocks, from_planes.data());
    table().block_rows(rows.data(), channels, positions, 0, blocks, from_rows.data());
    for (std::int64_t i = 0; i < planes.size(); ++i) {
      ASSERT_EQ(at(from_planes, positions, lanes, i / positions, i % positions), planes[i]);
      ASSERT_EQ(at(from_rows, positions, lanes, i / positions, i % positions), planes[i]);
    }
    GuardedFloats planes_again(planes.size());
    GuardedFloats rows_again(planes.size());
    table().unblock_planes(from_rows.data(), channels, positions, 0, blocks, planes_again.data());
    table().unblock_rows(from_planes.data(), channels, positions, 0, blocks, rows_again.data());
    ASSERT_TRUE(planes_again.same_bits(planes) && rows_again.same_bits(rows));
    ASSERT_TRUE(from_planes.intact() && from_rows.intact() && planes_again.intact() &&
                rows_again.intact());
  }
}

}  // namespace
}  // namespace trivet::kernels

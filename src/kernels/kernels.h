// The compute kernels: float32, raw pointers and sizes, one table of functions per instruction set.
//
// Rules that hold for every function of the table:
//  - It computes a part of the whole that the caller chooses, so that threads can share one
//    operation; it starts no thread and allocates nothing. Scratch memory comes from the caller.
//  - An output element's value does not depend on how the whole was split.
//  - Nothing outside the logical arrays is read or written; pointers need float alignment only.
//  - Sizes are valid: not negative, and their products fit in 63 bits. Nothing is checked here.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu_info.h"

namespace trivet::kernels {

/// y = f(x), element by element; alpha and beta are parameters of some.
enum class Unary : std::uint8_t {
  kIdentity,
  kRelu,
  kClip,         ///< min(max(x, alpha), beta)
  kLeakyRelu,    ///< x < 0 ? alpha·x : x
  kHardSigmoid,  ///< min(max(alpha·x + beta, 0), 1)
  kHardSwish,    ///< x · min(max(x/6 + 1/2, 0), 1)
  kSigmoid,
  kTanh,
  kSilu,      ///< x · sigmoid(x)
  kGelu,      ///< x/2 · (1 + erf(x/√2))
  kGeluTanh,  ///< x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
  kExp,
  kErf,
  kSqrt,
  kNeg,
  kAbs,
  kReciprocal,
};
inline constexpr int kUnaryCount = 17;

/// A function and its parameters: an operation of its own, or the end of a fused one.
struct Activation {
  Unary function = Unary::kIdentity;
  float alpha = 0;
  float beta = 0;
};

/// Max and Min return NaN when one side is NaN.
enum class Binary : std::uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };
inline constexpr int kBinaryCount = 6;

/// Which operand of a Binary is one number for the whole range, read through its pointer.
enum class Scalar : std::uint8_t { kNone, kLeft, kRight };

/// kL2 is the root of the sum of squares. Max and Min return NaN when an element is NaN. Of no
/// elements: 0, NaN, -inf, +inf, 0.
enum class Reduce : std::uint8_t { kSum, kMean, kMax, kMin, kL2 };
inline constexpr int kReduceCount = 5;

/// What happens to the elements of a product before they are stored:
/// activation(alpha·product + column_bias[j] + residual[i][j]).
struct Epilogue {
  float alpha = 1;
  const float* column_bias = nullptr;  ///< one per column, or null
  const float* residual = nullptr;   ///< as large as the output, or null; may be the output itself
  std::int64_t residual_stride = 0;  ///< elements from one row of residual to the next
  Activation activation = {};
};

/// C[m][n] = epilogue(A[m][k] · B[k][n]); A and C row-major, B packed by pack_b or
/// pack_b_transposed.
struct GemmArgs {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const float* a = nullptr;
  std::int64_t a_stride = 0;  ///< elements from one row to the next, at least k
  const float* b = nullptr;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  Epilogue epilogue = {};
};

/// The geometry of a sliding window over one plane. Padding at the bottom and right follows from
/// the output's size: what a window reaches beyond the input counts as padding.
struct Window {
  std::int64_t in_height = 0, in_width = 0;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t pad_top = 0, pad_left = 0;
};

/// One group of one image, into planes in blocks of `lanes` channels: element (c, y, x) at
/// [c / lanes][y][x][c % lanes], where lanes beyond the last channel may hold anything.
/// output = activation(weights · input + bias + residual).
struct BlockedConvArgs {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  Window window = {};
  bool planar = false;  ///< the input is [in_channels][in_height][in_width], not in blocks
  const float* input = nullptr;
  const float* weights = nullptr;   ///< from pack_blocked_weights
  const float* bias = nullptr;      ///< [out_channels], or null
  const float* residual = nullptr;  ///< as the output, or null; may be the output itself
  float* output = nullptr;
  Activation activation = {};
};

/// One filter per channel, on planes in blocks as in BlockedConvArgs.
struct BlockedDepthwiseArgs {
  std::int64_t channels = 0;
  Window window = {};
  const float* input = nullptr;
  const float* weights = nullptr;  ///< from pack_depthwise_weights
  const float* bias = nullptr;     ///< [channels], or null
  float* output = nullptr;
  Activation activation = {};
};

enum class Pool : std::uint8_t { kMax, kAverage };

/// Each plane on its own, a block of channels. Max ignores padding; average divides by the window's
/// elements that lie in the input or, with count_include_pad, in the input and its declared
/// padding. A window without any such element gives -inf and NaN.
struct PoolArgs {
  Pool kind = Pool::kMax;
  bool count_include_pad = false;
  std::int64_t pad_bottom = 0, pad_right = 0;  ///< for count_include_pad only
  Window window = {};
  const float* input = nullptr;
  float* output = nullptr;
};

/// y = (x - mean) / sqrt(variance + epsilon) · scale + bias along each row of `columns`.
struct LayerNormArgs {
  std::int64_t columns = 0;
  float epsilon = 1e-5F;
  const float* x = nullptr;
  const float* scale = nullptr;  ///< [columns], or null for 1
  const float* bias = nullptr;   ///< [columns], or null for 0
  float* y = nullptr;            ///< may be x
  float* mean = nullptr;         ///< one per row, or null when not wanted
  float* inverse_std = nullptr;  ///< one per row, or null when not wanted
};

/// x[outer][reduce][inner] to y[outer][inner].
struct ReduceArgs {
  Reduce kind = Reduce::kSum;
  std::int64_t reduce = 0;
  std::int64_t inner = 1;
  const float* x = nullptr;
  float* y = nullptr;
};

/// A loop of multiply-adds out of registers. `rounds` times, each of `vectors` independent sums
/// takes one more step: the products of a · b, one vector of each, are added into its lanes. Every
/// lane of a sum takes sizeof(Sum) / sizeof(A) products; which ones is left open, except with one
/// each.
template <class A, class B, class Sum>
struct PeakLoop {
  const char* instruction = "";  ///< what it is made of, where instruction sets differ
  int vectors = 0;
  /// `sums` holds vectors · lanes numbers, before and after. Null where the instruction set has no
  /// such instruction.
  void (*run)(std::int64_t rounds, const A* a, const B* b, Sum* sums) = nullptr;

  /// Multiplications and additions of one round with so many lanes in a vector.
  [[nodiscard]] double operations(int lanes) const {
    return 2.0 * vectors * lanes * static_cast<double>(sizeof(Sum) / sizeof(A));
  }
};
using FmaPeak = PeakLoop<float, float, float>;
using Int8Peak = PeakLoop<std::uint8_t, std::int8_t, std::int32_t>;  ///< a in 0 … 127
using Bf16Peak = PeakLoop<std::uint16_t, std::uint16_t, float>;

/// Buffers of `read` and `copy` are multiples of this.
inline constexpr std::int64_t kPeakBlockBytes = 512;

/// What measures the processor and computes nothing that anybody needs.
struct PeakKernels {
  FmaPeak fma;
  Int8Peak int8;      ///< without a dot-product instruction; sums of two products stay in 16 bits
  Int8Peak int8_dot;  ///< for processors that isa_has(kInt8Dot)
  Bf16Peak bf16_dot;  ///< for processors that isa_has(kBf16Dot)
  /// Reads the buffer `rounds` times; the sum of its 32-bit words, modulo 2^32.
  std::uint32_t (*read)(const void* data, std::int64_t bytes, std::int64_t rounds);
  /// Copies `rounds` times; the buffers do not overlap.
  void (*copy)(const void* from, void* to, std::int64_t bytes, std::int64_t rounds);
};

/// Ranges are half-open: [begin, end).
struct KernelTable {
  Isa isa;
  int lanes;    ///< floats in a vector
  int tile_m;   ///< rows or positions of the largest register tile: the unit of splits over them
  int panel_n;  ///< columns or channels of a packed panel: the unit of splits over them
  int tile_k;   ///< depth after which partial sums go to memory

  // ---- matrix product ----
  /// Packs the panels [panel_begin, panel_end) of B[k][n] (row-major, b_stride) into
  /// packed[panel][k][panel_n]; columns beyond n become 0. `packed` points to panel 0.
  void (*pack_b)(const float* b, std::int64_t b_stride, std::int64_t k, std::int64_t n,
                 std::int64_t panel_begin, std::int64_t panel_end, float* packed);
  /// The same from its transpose, B[n][k].
  void (*pack_b_transposed)(const float* b, std::int64_t b_stride, std::int64_t k, std::int64_t n,
                            std::int64_t panel_begin, std::int64_t panel_end, float* packed);
  /// Rows [row_begin, row_end) of the columns of panels [panel_begin, panel_end). One row alone
  /// takes a path of its own, bound by the bandwidth of B.
  void (*gemm)(const GemmArgs& args, std::int64_t row_begin, std::int64_t row_end,
               std::int64_t panel_begin, std::int64_t panel_end);

  // ---- planes in blocks of channels ----
  /// Packs weights[out_channels][in_channels][kernel_size] into blocks(out_channels) · lanes ·
  /// in_channels · kernel_size floats.
  void (*pack_blocked_weights)(const float* weights, std::int64_t out_channels,
                               std::int64_t in_channels, std::int64_t kernel_size, bool planar,
                               float* packed);
  /// Scratch of one call of conv_blocked, in floats.
  std::int64_t (*conv_blocked_scratch)(const BlockedConvArgs& args);
  /// Positions of the output [position_begin, position_end), rows one after the other, of the
  /// panels [panel_begin, panel_end) of panel_count(out_channels).
  void (*conv_blocked)(const BlockedConvArgs& args, std::int64_t position_begin,
                       std::int64_t position_end, std::int64_t panel_begin, std::int64_t panel_end,
                       float* scratch);

  /// The same for a 3×3 kernel without stride and dilation, by Winograd's algorithm: `out` is the
  /// size of its tiles of outputs, 4 or 2. The error grows with `out`: about 1e-6 and 1e-5 of the
  /// largest output. Packs into blocks(out_channels) · lanes · in_channels · (out + 2)² floats.
  void (*pack_winograd_weights)(const float* weights, std::int64_t out_channels,
                                std::int64_t in_channels, std::int64_t out, float* packed);
  std::int64_t (*winograd_scratch)(const BlockedConvArgs& args, std::int64_t out);
  /// Tiles [tile_begin, tile_end) of ceil(out_height / out) · ceil(out_width / out).
  void (*winograd)(const BlockedConvArgs& args, std::int64_t out, std::int64_t tile_begin,
                   std::int64_t tile_end, std::int64_t panel_begin, std::int64_t panel_end,
                   float* scratch);

  /// Packs weights[channels][kernel_size] into blocks(channels) · lanes · kernel_size floats.
  void (*pack_depthwise_weights)(const float* weights, std::int64_t channels,
                                 std::int64_t kernel_size, float* packed);
  /// Rows [row_begin, row_end) of the blocks(channels) · out_height of the output.
  void (*depthwise_blocked)(const BlockedDepthwiseArgs& args, std::int64_t row_begin,
                            std::int64_t row_end);
  /// Rows of the output as above; PoolArgs' planes are blocks.
  void (*pool_blocked)(const PoolArgs& args, std::int64_t row_begin, std::int64_t row_end);
  /// y[channels] = the mean or the largest of each channel's plane.
  void (*global_pool_blocked)(Pool kind, const float* x, std::int64_t channels,
                              std::int64_t positions, std::int64_t block_begin,
                              std::int64_t block_end, float* y);
  /// y = x op channel[c], for all positions of channel c; y may be x.
  void (*binary_channels)(Binary op, const float* x, const float* channel, std::int64_t channels,
                          std::int64_t positions, std::int64_t block_begin, std::int64_t block_end,
                          float* y);

  /// To blocks from planes [channels][positions] and from rows [positions][channels], and back.
  void (*block_planes)(const float* x, std::int64_t channels, std::int64_t positions,
                       std::int64_t block_begin, std::int64_t block_end, float* y);
  void (*unblock_planes)(const float* x, std::int64_t channels, std::int64_t positions,
                         std::int64_t block_begin, std::int64_t block_end, float* y);
  void (*block_rows)(const float* x, std::int64_t channels, std::int64_t positions,
                     std::int64_t block_begin, std::int64_t block_end, float* y);
  void (*unblock_rows)(const float* x, std::int64_t channels, std::int64_t positions,
                       std::int64_t block_begin, std::int64_t block_end, float* y);

  // ---- elements ----
  /// y[i] = f(x[i]); y may be x. exp, erf, tanh, sigmoid: relative error below 1e-6, also where the
  /// result is subnormal (but sigmoid is 0 below -87); gelu: error below 1e-6·max(|x|, 1).
  void (*unary)(const Activation& f, const float* x, float* y, std::int64_t count);
  /// y[i] = a[i] op b[i]; y may be a or b.
  void (*binary)(Binary op, Scalar scalar, const float* a, const float* b, float* y,
                 std::int64_t count);

  // ---- rows ----
  /// Each of `rows` rows of x; y may be x.
  void (*softmax)(const float* x, float* y, std::int64_t rows, std::int64_t columns);
  void (*log_softmax)(const float* x, float* y, std::int64_t rows, std::int64_t columns);
  /// Rows [row_begin, row_end).
  void (*layer_norm)(const LayerNormArgs& args, std::int64_t row_begin, std::int64_t row_end);
  /// Elements [begin, end) of y, seen as one array of outer·inner.
  void (*reduce)(const ReduceArgs& args, std::int64_t begin, std::int64_t end);

  // ---- layout ----
  /// y[j][i] = x[i][j] for 4-byte elements of any kind, i < rows, j < columns.
  void (*transpose)(const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
                    std::int64_t rows, std::int64_t columns);

  // ---- peaks of the processor ----
  PeakKernels peaks;

  /// Panels that cover n columns or positions.
  [[nodiscard]] std::int64_t panel_count(std::int64_t n) const {
    return (n + panel_n - 1) / panel_n;
  }
  /// Tiles that cover m rows or channels. Their heights differ by at most one.
  [[nodiscard]] std::int64_t tile_count(std::int64_t m) const { return (m + tile_m - 1) / tile_m; }
  /// Blocks that cover so many channels.
  [[nodiscard]] std::int64_t blocks(std::int64_t channels) const {
    return (channels + lanes - 1) / lanes;
  }
  /// Size of a packed B[k][n], in floats.
  [[nodiscard]] std::int64_t packed_b_size(std::int64_t k, std::int64_t n) const {
    return panel_count(n) * panel_n * k;
  }
};

/// The kernels for an instruction set; those of kGeneric when this build has none for it.
[[nodiscard]] const KernelTable& table(Isa isa);

/// The tables of this build that this processor can run, narrowest first.
[[nodiscard]] std::span<const KernelTable* const> runnable_tables();

}  // namespace trivet::kernels

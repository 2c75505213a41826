// DepthToSpace and SpaceToDepth: blocks of channels become blocks of pixels, and back.
#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

struct Block {
  std::int64_t size = 1;
  bool depth_first = true;  ///< mode DCR: within the channels the block is the outer index
};

Result<Block> block_of(const Attributes& attributes, std::size_t rank) {
  constexpr std::int64_t kMost = 1 << 15;
  const std::int64_t size = attributes.int_or("blocksize", 0);
  const std::string mode = attributes.string_or("mode", "DCR");
  if (size < 1 || size > kMost)
    return invalid_model("attribute 'blocksize' is ", size, "; it must be at least 1");
  if (mode != "DCR" && mode != "CRD")
    return invalid_model("attribute 'mode' is '", mode, "', not DCR or CRD");
  if (rank != 4) return invalid_argument("the input must have the 4 axes NCHW, found ", rank);
  return Block{size, mode == "DCR"};
}

/// Copies between the deep tensor [n, c·b·b, h, w] and the wide one [n, c, h·b, w·b].
void exchange(const Tensor& from, Tensor& to, bool to_space, const Block& block) {
  const Shape& deep = to_space ? from.shape() : to.shape();
  const Shape& wide = to_space ? to.shape() : from.shape();
  const std::int64_t b = block.size;
  const std::int64_t c = wide[1];
  const std::int64_t plane = deep[2] * deep[3];
  const Shape extents = {deep[0], c,       deep[2],
                         b,       deep[3], b};  // n, c, row, row in block, column, column in block
  const std::int64_t channel = block.depth_first ? plane : b * b * plane;
  const std::int64_t in_block = block.depth_first ? c * plane : plane;
  const Strided in_deep{0, {deep[1] * plane, channel, deep[3], b * in_block, 1, in_block}};
  const Strided in_wide{0, {c * wide[2] * wide[3], wide[2] * wide[3], b * wide[3], wide[3], b, 1}};
  copy_strided(from, to_space ? in_deep : in_wide, to, to_space ? in_wide : in_deep, extents);
}

template <class Dimensions>
Result<Dimensions> wide_shape(const Dimensions& deep, std::int64_t b);
template <>
Result<Shape> wide_shape(const Shape& deep, std::int64_t b) {
  if (deep[1] % (b * b) != 0) {
    return invalid_argument(deep[1], " channels do not divide into blocks of ", b, "x", b);
  }
  const auto height = checked_mul(deep[2], b);
  const auto width = checked_mul(deep[3], b);
  if (!height || !width) return invalid_argument("the output is too large to address");
  return Shape{deep[0], deep[1] / (b * b), *height, *width};
}
template <>
Result<SymbolicShape> wide_shape(const SymbolicShape& deep, std::int64_t b) {
  return SymbolicShape{deep[0], floor_div(deep[1], Dim(b * b)), deep[2] * Dim(b), deep[3] * Dim(b)};
}

Result<void> eval_depth_to_space(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Block block, block_of(context.attributes(), data.shape().size()));
  TRIVET_ASSIGN(const Shape shape, wide_shape(data.shape(), block.size));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  exchange(data, out, true, block);
  return {};
}

Result<void> eval_space_to_depth(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Block block, block_of(context.attributes(), data.shape().size()));
  const Shape& s = data.shape();
  const std::int64_t b = block.size;
  const auto channels = checked_mul(s[1], b * b);
  if (s[2] % b != 0 || s[3] % b != 0 || !channels) {
    return invalid_argument("an image of ", s[2], "x", s[3], " does not divide into blocks of ", b,
                            "x", b);
  }
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, data.dtype(), {s[0], *channels, s[2] / b, s[3] / b}));
  exchange(data, out, false, block);
  return {};
}

template <bool kToSpace>
Result<void> infer_depth_space(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  TRIVET_ASSIGN(const Block block,
                block_of(context.attributes(), shape == nullptr ? 4 : shape->size()));
  if (shape == nullptr) {
    context.set_output_rank(0, context.dtype(0), 4);
    return {};
  }
  const Dim b(block.size);
  SymbolicShape out = {(*shape)[0], (*shape)[1] * b * b, floor_div((*shape)[2], b),
                       floor_div((*shape)[3], b)};
  if constexpr (kToSpace) {
    TRIVET_ASSIGN(out, wide_shape(*shape, block.size));
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs depth_space_ops() {
  return {{.name = "DepthToSpace", .infer = infer_depth_space<true>, .eval = eval_depth_to_space},
          {.name = "SpaceToDepth", .infer = infer_depth_space<false>, .eval = eval_space_to_depth}};
}

}  // namespace trivet::ops

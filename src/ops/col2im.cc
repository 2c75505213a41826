// Col2Im: columns of blocks added up into the image that they were cut from.
#include <algorithm>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

struct Blocks {
  Shape image;
  Shape block;
  Shape counts;  ///< how many blocks lie along each axis
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads;
  std::vector<std::int64_t> strides;
};

Result<Blocks> blocks_of(const EvalContext& context) {
  Blocks out;
  TRIVET_ASSIGN(out.image, ints_input(context, 1, "image_shape"));
  TRIVET_ASSIGN(out.block, ints_input(context, 2, "block_shape"));
  const std::size_t rank = out.image.size();
  const auto ints_or = [&context](std::string_view name, std::size_t count, std::int64_t value) {
    return context.attributes().has(name) ? context.attributes().ints(name)
                                          : std::vector<std::int64_t>(count, value);
  };
  out.dilations = ints_or("dilations", rank, 1);
  out.pads = ints_or("pads", 2 * rank, 0);
  out.strides = ints_or("strides", rank, 1);
  if (rank == 0 || out.block.size() != rank || out.dilations.size() != rank ||
      out.strides.size() != rank || out.pads.size() != 2 * rank) {
    return invalid_argument(
        "image_shape, block_shape, dilations, pads and strides must have one entry per axis "
        "(pads two)");
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto inside = [](std::int64_t v, std::int64_t least) { return v >= least && v <= kMost; };
    if (!inside(out.image[i], 0) || !inside(out.block[i], 1) || !inside(out.dilations[i], 1) ||
        !inside(out.strides[i], 1) || !inside(out.pads[i], 0) || !inside(out.pads[i + rank], 0)) {
      return invalid_argument("a size, dilation, stride or pad of axis ", i, " is out of range");
    }
    const std::int64_t room =
        out.image[i] + out.pads[i] + out.pads[i + rank] - out.dilations[i] * (out.block[i] - 1) - 1;
    out.counts.push_back(std::max<std::int64_t>(0, floor_div(room, out.strides[i]) + 1));
  }
  return out;
}

/// Adds the blocks of one channel, [positions in a block, blocks], into its image.
void add_blocks(const double* columns, const Blocks& blocks, double* image) {
  const std::size_t rank = blocks.image.size();
  const auto image_strides = strides_of(blocks.image);
  StridedWalk in_block(blocks.block, {});
  const std::int64_t positions = element_count(blocks.block);
  const std::int64_t count = element_count(blocks.counts);
  for (std::int64_t p = 0; p < positions; ++p, in_block.next()) {
    StridedWalk which(blocks.counts, {});
    for (std::int64_t b = 0; b < count; ++b, which.next()) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t place = which.index()[i] * blocks.strides[i] - blocks.pads[i] +
                                   in_block.index()[i] * blocks.dilations[i];
        inside = inside && place >= 0 && place < blocks.image[i];
        offset += place * image_strides[i];
      }
      if (inside) image[offset] += columns[p * count + b];
    }
  }
}

Result<void> eval_col2im(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Blocks blocks, blocks_of(context));
  const auto positions = checked_product(blocks.block);
  const auto count = checked_product(blocks.counts);
  if (data.rank() != 3 || !positions || !count || data.dim(1) % *positions != 0 ||
      data.dim(2) != *count) {
    return invalid_argument("columns of shape ", shape_to_string(data.shape()),
                            " are not blocks of ", shape_to_string(blocks.block), " at ",
                            shape_to_string(blocks.counts), " places");
  }
  if (compute_type(data.dtype()) == DType::kUndefined)
    return unsupported("elements of ", dtype_name(data.dtype()));
  const std::int64_t channels = data.dim(1) / *positions;
  Shape shape = {data.dim(0), channels};
  shape.insert(shape.end(), blocks.image.begin(), blocks.image.end());
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  std::vector<double> columns(static_cast<std::size_t>(data.size()));
  std::vector<double> image(static_cast<std::size_t>(out.size()), 0.0);
  load_elements(data, 0, data.size(), columns.data());
  const std::int64_t pixels = element_count(blocks.image);
  for (std::int64_t c = 0; c < data.dim(0) * channels; ++c) {
    add_blocks(columns.data() + c * *positions * *count, blocks, image.data() + c * pixels);
  }
  store_elements(out, 0, out.size(), image.data());
  return {};
}

Result<void> infer_col2im(InferContext& context) {
  const SymbolicShape* data = context.shape(0);
  const auto image = context.elements(1);
  const auto block = context.elements(2);
  if (!image) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const bool known = data != nullptr && data->size() == 3;
  SymbolicShape out = {
      known ? (*data)[0] : Dim::unknown(),
      known && block ? floor_div((*data)[1], element_count(*block)) : Dim::unknown()};
  out.insert(out.end(), image->begin(), image->end());
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs col2im_ops() {
  return {{.name = "Col2Im",
           .since = 18,
           .inputs = {3, 3},
           .infer = infer_col2im,
           .eval = eval_col2im}};
}

}  // namespace trivet::ops

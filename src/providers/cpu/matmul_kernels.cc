// MatMul and Gemm.
#include <array>

#include "base/math.h"
#include "ops/support/broadcast.h"
#include "ops/support/fused.h"
#include "providers/cpu/activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/tuner.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::GemmArgs;

/// Products below this many multiply-accumulates stay on one thread.
constexpr std::int64_t kLeastWork = 1 << 15;

/// Whether rows are divided among threads, and not panels of columns: whichever there are more of.
bool prefers_rows(const KernelTable& table, const GemmArgs& args, int threads) {
  const std::int64_t tiles = table.tile_count(args.m);
  return tiles >= 2 * threads && tiles >= table.panel_count(args.n);
}

/// Runs one product on all threads.
void run_gemm(const KernelTable& table, const GemmArgs& args, bool by_rows, ThreadPool& threads) {
  const std::int64_t panels = table.panel_count(args.n);
  const std::int64_t tiles = table.tile_count(args.m);
  const std::int64_t work_per_tile = args.n * args.k * table.tile_m;
  const std::int64_t work_per_panel = args.m * args.k * table.panel_n;
  if (by_rows) {
    split(threads, tiles, kLeastWork / std::max<std::int64_t>(work_per_tile, 1) + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            table.gemm(args, begin * table.tile_m, std::min(end * table.tile_m, args.m), 0, panels);
          });
  } else {
    split(threads, panels, kLeastWork / std::max<std::int64_t>(work_per_panel, 1) + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            table.gemm(args, 0, args.m, begin, end);
          });
  }
}

Result<Tensor> packed_constant(const SelectContext& context, const Tensor& b, bool transposed) {
  const KernelTable& table = context.table;
  const std::int64_t k = b.dim(transposed ? 1 : 0);
  const std::int64_t n = b.dim(transposed ? 0 : 1);
  return context.weights.get(
      b, transposed ? "gemm/transposed" : "gemm", table.packed_b_size(k, n),
      [&](float* to) -> Result<void> {
        const auto pack = transposed ? table.pack_b_transposed : table.pack_b;
        pack(b.data<float>().data(), b.dim(1), k, n, 0, table.panel_count(n), to);
        return {};
      });
}

/// The leading axes of A[..., m, k] as one.
std::int64_t rows_of(const Shape& a) { return element_count(a) / a.back(); }

/// A matrix for each index of the leading axes, seen through a permutation of the axes in memory.
struct Matrices {
  Shape shape;                        ///< leading axes, rows, columns
  std::vector<std::int64_t> strides;  ///< elements from one to the next

  [[nodiscard]] std::int64_t rows() const { return shape[shape.size() - 2]; }
  [[nodiscard]] std::int64_t columns() const { return shape.back(); }
  /// From a row to the next; of one row alone, any.
  [[nodiscard]] std::int64_t row_stride() const { return strides[strides.size() - 2]; }
  [[nodiscard]] bool rows_lie_together() const { return columns() == 1 || strides.back() == 1; }
  [[nodiscard]] bool columns_lie_together() const { return rows() == 1 || row_stride() == 1; }
  [[nodiscard]] Shape leading() const { return {shape.begin(), shape.end() - 2}; }

  /// The offset of the index-th matrix.
  [[nodiscard]] std::int64_t offset(std::int64_t index) const {
    std::int64_t out = 0;
    for (std::size_t axis = shape.size() - 2; axis-- > 0; index /= shape[axis]) {
      out += index % shape[axis] * strides[axis];
    }
    return out;
  }
};

using Permutation = std::vector<std::size_t>;

/// Axis i of what is seen is axis perm[i] of the tensor.
Matrices seen_through(const Shape& shape, const Permutation& perm) {
  const std::vector<std::int64_t> strides = ops::strides_of(shape);
  Matrices out{shape, strides};
  for (std::size_t i = 0; i < perm.size(); ++i) {
    out.shape[i] = shape[perm[i]];
    out.strides[i] = strides[perm[i]];
  }
  return out;
}

Permutation inverse(const Permutation& perm) {
  Permutation out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) out[perm[i]] = i;
  return out;
}

/// Y = alpha · A · B for all matrices, each B packed when it is needed.
Kernel batched(const SelectContext& context, const Matrices& a, const Matrices& b,
               const Matrices& y, float alpha) {
  const KernelTable& table = context.table;
  const GemmArgs base{.m = a.rows(),
                      .n = b.columns(),
                      .k = a.columns(),
                      .a_stride = a.row_stride(),
                      .c_stride = y.row_stride(),
                      .epilogue = {.alpha = alpha}};
  const std::int64_t batch = element_count(a.leading());
  const std::int64_t packed_floats = round_up(table.packed_b_size(base.k, base.n), 16);
  Kernel kernel;
  kernel.name = "gemm-batched";
  kernel.scratch_bytes = static_cast<std::size_t>(packed_floats * context.threads) * sizeof(float);
  kernel.run = [=, &table](const KernelArgs& args) {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const std::int64_t panels = table.panel_count(base.n);
    const auto pack = b.rows_lie_together() ? table.pack_b : table.pack_b_transposed;
    const std::int64_t b_stride = b.rows_lie_together() ? b.row_stride() : b.strides.back();
    split(args.threads, batch, kLeastWork / (base.m * base.n * base.k) + 1,
          [&](std::int64_t begin, std::int64_t end, int worker) {
            float* packed = scratch + worker * packed_floats;
            for (std::int64_t i = begin; i < end; ++i) {
              GemmArgs call = base;
              call.a = args.input(0) + a.offset(i);
              call.b = packed;
              call.c = args.output() + y.offset(i);
              pack(args.input(1) + b.offset(i), b_stride, base.k, base.n, 0, panels, packed);
              table.gemm(call, 0, base.m, 0, panels);
            }
          });
  };
  return kernel;
}

/// MatMul of computed matrices, with the permutations of PermutedMatMul.
Result<std::optional<Kernel>> select_permuted_matmul(const SelectContext& context) {
  const auto a = context.float_input(0);
  const auto b = context.float_input(1);
  const auto y = context.float_output(0);
  const bool usable = a && b && y && a->size() >= 2 && b->size() == a->size() &&
                      y->size() == a->size() && element_count(*a) > 0 && element_count(*b) > 0;
  if (!usable) return std::optional<Kernel>();
  const Attributes& attributes = context.node.attributes;
  const std::size_t rank = a->size();
  TRIVET_ASSIGN(const auto perm_a, ops::fused_permutation(attributes, "perm_a", rank));
  TRIVET_ASSIGN(const auto perm_b, ops::fused_permutation(attributes, "perm_b", rank));
  TRIVET_ASSIGN(const auto perm_y, ops::fused_permutation(attributes, "perm_y", rank));
  const Matrices left = seen_through(*a, perm_a);
  const Matrices right = seen_through(*b, perm_b);
  const Matrices out = seen_through(*y, inverse(perm_y));
  const bool in_place = left.rows_lie_together() && out.rows_lie_together() &&
                        (right.rows_lie_together() || right.columns_lie_together());
  if (!in_place || left.leading() != right.leading() || left.columns() != right.rows()) {
    return std::optional<Kernel>();
  }
  return std::optional(batched(context, left, right, out, attributes.float_or("alpha", 1.0F)));
}

Result<std::optional<Kernel>> select_matmul(const SelectContext& context) {
  const auto a = context.float_input(0);
  const auto b = context.float_input(1);
  const auto y = context.float_output(0);
  const bool usable = a && b && y && a->size() >= 2 && b->size() >= 2 && element_count(*a) > 0 &&
                      element_count(*b) > 0 && a->back() == (*b)[b->size() - 2];
  if (!usable) return std::optional<Kernel>();
  const Tensor* constant = context.float_constant(1);
  if (constant != nullptr && b->size() == 2)
    return matrix_kernel(context, *constant, false, rows_of(*a), {});
  return select_permuted_matmul(context);
}

Result<std::optional<Kernel>> select_fused_matmul(const SelectContext& context) {
  const auto a = context.float_input(0);
  const auto y = context.float_output(0);
  const Tensor* b = context.float_constant(1);
  const bool usable = a && y && b != nullptr && b->rank() == 2 && a->size() >= 2 &&
                      element_count(*a) > 0 && b->size() > 0 && a->back() == b->dim(0);
  if (!usable) return std::optional<Kernel>();
  const bool biased = context.has_input(2);
  if (biased && (!context.float_input(2) || element_count(*context.float_input(2)) != b->dim(1)))
    return std::optional<Kernel>();
  if (context.has_input(3) && context.float_input(3) != y) return std::optional<Kernel>();
  const Node fused = ops::fused_activation(context.node);
  const auto activation = fused.op_type.empty() ? Activation{} : activation_of(fused);
  if (!activation) return std::optional<Kernel>();
  return matrix_kernel(context, *b, false, rows_of(*a), {.activation = *activation});
}

/// Gemm with constant B. C is added as a bias where it is one number per column.
Result<std::optional<Kernel>> select_gemm(const SelectContext& context) {
  const auto a = context.float_input(0);
  const Tensor* b = context.float_constant(1);
  const Attributes& attributes = context.node.attributes;
  if (!a || a->size() != 2 || b == nullptr || b->rank() != 2 || attributes.int_or("transA", 0) != 0)
    return std::optional<Kernel>();
  const bool transposed = attributes.int_or("transB", 0) != 0;
  const std::int64_t k = b->dim(transposed ? 1 : 0);
  const std::int64_t n = b->dim(transposed ? 0 : 1);
  if ((*a)[1] != k || (*a)[0] == 0 || n == 0 || k == 0) return std::optional<Kernel>();
  if (context.has_input(2)) {
    const auto c = context.float_input(2);
    const bool per_column = c && (*c == Shape{n} || *c == Shape{1, n});
    if (!per_column || attributes.float_or("beta", 1.0F) != 1.0F) return std::optional<Kernel>();
  }
  return matrix_kernel(context, *b, transposed, (*a)[0],
                       {.alpha = attributes.float_or("alpha", 1.0F)});
}

Kernel gemm_kernel(const KernelTable& table, const GemmArgs& base, const Tensor& packed,
                   bool by_rows) {
  Kernel kernel;
  kernel.name = "gemm";
  kernel.run = [base, packed, by_rows, &table](const KernelArgs& args) {
    GemmArgs call = base;
    call.a = args.input(0);
    call.c = args.output();
    call.epilogue.column_bias = args.input(2);
    call.epilogue.residual = args.input(3);
    run_gemm(table, call, by_rows, args.threads);
  };
  return kernel;
}

/// Whether threads share rows: as estimated, or as measured.
Result<bool> choose_rows(const SelectContext& context, const GemmArgs& base, const Tensor& packed) {
  const KernelTable& table = context.table;
  const bool estimate = prefers_rows(table, base, context.threads);
  const bool one_way = context.threads == 1 || base.m * base.n * base.k < kLeastWork ||
                       table.tile_count(base.m) == 1 || table.panel_count(base.n) == 1;
  const bool only_counted = packed.raw() == nullptr;  // PackedWeights::counting()
  if (context.tuner == nullptr || one_way || only_counted) return estimate;
  const auto candidate = [&](bool by_rows) {
    return Candidate{by_rows ? "gemm/rows" : "gemm/panels", [&, by_rows] {
                       return Result<Kernel>(gemm_kernel(table, base, packed, by_rows));
                     }};
  };
  const Candidate candidates[] = {candidate(estimate), candidate(!estimate)};
  const std::int64_t bias = context.has_input(2) ? base.n : 0;
  const std::int64_t residual = context.has_input(3) ? base.m * base.n : 0;
  const std::string key = cat("gemm ", base.m, "x", base.n, "x", base.k,
                              residual > 0 ? " residual" : "", " on ", context.threads);
  TRIVET_ASSIGN(const std::size_t best,
                context.tuner->choose(key, candidates,
                                      {{base.m * base.k, 0, bias, residual}, base.m * base.n}));
  return best == 0 ? estimate : !estimate;
}

constexpr std::array<SelectorEntry, 4> kEntries = {
    {{"MatMul", select_matmul},
     {"trivet.PermutedMatMul", select_permuted_matmul},
     {"trivet.FusedMatMul", select_fused_matmul},
     {"Gemm", select_gemm}}};

}  // namespace

Result<std::optional<Kernel>> matrix_kernel(const SelectContext& context, const Tensor& b,
                                            bool transposed, std::int64_t rows,
                                            kernels::Epilogue epilogue) {
  TRIVET_ASSIGN(const Tensor packed, packed_constant(context, b, transposed));
  const std::int64_t k = b.dim(transposed ? 1 : 0);
  const std::int64_t n = b.dim(transposed ? 0 : 1);
  epilogue.residual_stride = n;
  const GemmArgs base{.m = rows,
                      .n = n,
                      .k = k,
                      .a_stride = k,
                      .b = packed.data<float>().data(),
                      .c_stride = n,
                      .epilogue = epilogue};
  TRIVET_ASSIGN(const bool by_rows, choose_rows(context, base, packed));
  return std::optional(gemm_kernel(context.table, base, packed, by_rows));
}

std::span<const SelectorEntry> matmul_selectors() { return kEntries; }

}  // namespace trivet::cpu

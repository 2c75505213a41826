// MatMul and Gemm.
#include <array>

#include "base/math.h"
#include "ops/support/fused.h"
#include "providers/cpu/activation.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::GemmArgs;

/// Products below this many multiply-accumulates stay on one thread.
constexpr std::int64_t kLeastWork = 1 << 15;

/// Runs one product on all threads: over rows or over panels, whichever there are more of.
void run_gemm(const KernelTable& table, const GemmArgs& args, ThreadPool& threads) {
  const std::int64_t panels = table.panel_count(args.n);
  const std::int64_t tiles = table.tile_count(args.m);
  const std::int64_t work_per_tile = args.n * args.k * table.tile_m;
  const std::int64_t work_per_panel = args.m * args.k * table.panel_n;
  if (tiles >= 2 * threads.thread_count() && tiles >= panels) {
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

Result<Tensor> pack_b(const Tensor& b, bool transposed, const KernelTable& table) {
  const std::int64_t k = b.dim(transposed ? 1 : 0);
  const std::int64_t n = b.dim(transposed ? 0 : 1);
  TRIVET_ASSIGN(Tensor packed, Tensor::allocate(DType::kFloat32, {table.packed_b_size(k, n)}));
  const auto pack = transposed ? table.pack_b_transposed : table.pack_b;
  pack(b.data<float>().data(), b.dim(1), k, n, 0, table.panel_count(n),
       packed.mutable_data<float>().data());
  return packed;
}

Result<Tensor> packed_constant(const SelectContext& context, const Tensor& b, bool transposed) {
  return context.weights.get(b, transposed ? "gemm/transposed" : "gemm",
                             [&] { return pack_b(b, transposed, context.table); });
}

/// The leading axes of A[..., m, k] as one.
std::int64_t rows_of(const Shape& a) { return element_count(a) / a.back(); }

/// A[..., m, k] times B[..., k, n] with equal leading axes: each B is packed when it is needed.
Kernel batched(const SelectContext& context, const Shape& a, const Shape& b) {
  const KernelTable& table = context.table;
  const GemmArgs base{.m = a[a.size() - 2],
                      .n = b.back(),
                      .k = a.back(),
                      .a_stride = a.back(),
                      .c_stride = b.back()};
  const std::int64_t batch = element_count(a) / (base.m * base.k);
  const std::int64_t packed_floats = round_up(table.packed_b_size(base.k, base.n), 16);
  Kernel kernel;
  kernel.name = "gemm-batched";
  kernel.scratch_bytes = static_cast<std::size_t>(packed_floats * context.threads) * sizeof(float);
  kernel.run = [base, batch, packed_floats, &table](const KernelArgs& args) {
    const float* a_data = args.input(0);
    const float* b_data = args.input(1);
    float* c_data = args.output();
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const std::int64_t panels = table.panel_count(base.n);
    split(args.threads, batch, kLeastWork / (base.m * base.n * base.k) + 1,
          [&](std::int64_t begin, std::int64_t end, int worker) {
            float* packed = scratch + worker * packed_floats;
            for (std::int64_t i = begin; i < end; ++i) {
              GemmArgs call = base;
              call.a = a_data + i * base.m * base.k;
              call.b = packed;
              call.c = c_data + i * base.m * base.n;
              table.pack_b(b_data + i * base.k * base.n, base.n, base.k, base.n, 0, panels, packed);
              table.gemm(call, 0, base.m, 0, panels);
            }
          });
  };
  return kernel;
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
  const bool same_batch = std::equal(a->begin(), a->end() - 2, b->begin(), b->end() - 2);
  return same_batch ? std::optional(batched(context, *a, *b)) : std::nullopt;
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

constexpr std::array<SelectorEntry, 3> kEntries = {{{"MatMul", select_matmul},
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
  Kernel kernel;
  kernel.name = "gemm";
  kernel.run = [base, packed, &table = context.table](const KernelArgs& args) {
    GemmArgs call = base;
    call.a = args.input(0);
    call.c = args.output();
    call.epilogue.column_bias = args.input(2);
    call.epilogue.residual = args.input(3);
    run_gemm(table, call, args.threads);
  };
  return std::optional(std::move(kernel));
}

std::span<const SelectorEntry> matmul_selectors() { return kEntries; }

}  // namespace trivet::cpu

// How the cpu provider's fast kernels are chosen and called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "ops/infer_context.h"
#include "tensor/tensor.h"

namespace trivet::cpu {

using kernels::KernelTable;

/// One call of a kernel. Pointers of omitted inputs and outputs are null; outputs have the shapes
/// that were inferred when the kernel was chosen.
struct KernelArgs {
  std::span<const Tensor* const> inputs;
  std::span<Tensor* const> outputs;
  ThreadPool& threads;
  std::byte* scratch;  ///< aligned to 64 bytes; as many as the kernel asked for

  /// The floats of an input; null where it is omitted.
  [[nodiscard]] const float* input(std::size_t i) const {
    return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->data<float>().data() : nullptr;
  }
  [[nodiscard]] float* output() const { return outputs[0]->mutable_data<float>().data(); }
};

/// A kernel made ready for one node and its shapes. A value may lie in memory as its shape says, or
/// in blocks of channels (BlockedConvArgs); the plan converts where a kernel wants the other form.
struct Kernel {
  std::string_view name;             ///< for reports: "conv", "depthwise"
  std::size_t scratch_bytes = 0;     ///< for all threads together
  std::uint32_t blocked_inputs = 0;  ///< bit i: input i is read in blocks of channels
  bool blocked_output = false;       ///< output 0 is written in blocks of channels
  std::function<void(const KernelArgs&)> run;
};

/// Weights in the order in which kernels read them. Packed once, and shared by all plans.
class PackedWeights {
 public:
  /// `floats` that `pack` writes for (weight, layout), from the cache when they were packed before.
  /// `layout` names everything that the packing depends on.
  Result<Tensor> get(const Tensor& weight, const std::string& layout, std::int64_t floats,
                     const std::function<Result<void>(float* to)>& pack);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Whether some packing of the constant is here and the constant itself has left memory: it lies
  /// in a file, and runs do not read it.
  [[nodiscard]] bool replaces(const Tensor& weight) const;
  /// A copy that packs nothing more and only counts: its tensors must not be read.
  [[nodiscard]] PackedWeights counting() const;
  /// Of those that a counting copy counted, the bytes of the largest as it is: while it is packed,
  /// it is in memory too.
  [[nodiscard]] std::size_t largest_source() const { return largest_source_; }

 private:
  struct Entry {
    Tensor source;  ///< keeps the address that the key holds from being used again
    Tensor packed;
    bool released = false;  ///< the source's pages, which come from a file
  };
  std::map<std::pair<const void*, std::string>, Entry> packed_;
  std::size_t bytes_ = 0;
  std::size_t largest_source_ = 0;
  bool counts_only_ = false;
};

class Tuner;

/// What a selector sees: the node, and what is known of its inputs (numbers throughout, where their
/// shape is known at all) and outputs.
struct SelectContext {
  const Node& node;
  std::span<const InferredValue* const> inputs;
  std::span<const InferredValue* const> outputs;
  const KernelTable& table;
  int threads;
  PackedWeights& weights;
  Tuner* tuner = nullptr;     ///< null: an estimate chooses
  bool low_memory = false;    ///< packed weights shall take no more room than the weights
  std::uint32_t blocked = 0;  ///< bit i: input i was computed in blocks of channels

  [[nodiscard]] bool is_blocked(std::size_t i) const { return (blocked >> i & 1U) != 0; }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i] != nullptr;
  }
  /// The same, with another place for packed weights.
  [[nodiscard]] SelectContext with(PackedWeights& other) const {
    return {node, inputs, outputs, table, threads, other, tuner, low_memory, blocked};
  }
  /// The value of a constant float32 input; null otherwise.
  [[nodiscard]] const Tensor* float_constant(std::size_t i) const;
  /// The shape of a float32 input or output; nothing where it is not float32 or not known.
  [[nodiscard]] std::optional<Shape> float_input(std::size_t i) const;
  [[nodiscard]] std::optional<Shape> float_output(std::size_t i) const;
};

/// A fast kernel for the node, or nothing, in which case the operator's plain evaluation runs.
using Selector = Result<std::optional<Kernel>> (*)(const SelectContext& context);

/// The shape of [batch, channels, ...] in blocks: [batch, blocks, ..., lanes].
[[nodiscard]] Shape blocked_shape(const Shape& shape, const KernelTable& table);

/// Between a tensor of this shape and its form in blocks of channels.
[[nodiscard]] Kernel blocking_kernel(const Shape& shape, const KernelTable& table);
[[nodiscard]] Kernel unblocking_kernel(const Shape& shape, const KernelTable& table);

/// `rows` rows of input 0 times a constant matrix: B[k][n], or its transpose. The epilogue's bias
/// and residual are inputs 2 and 3.
[[nodiscard]] Result<std::optional<Kernel>> matrix_kernel(const SelectContext& context,
                                                          const Tensor& b, bool transposed,
                                                          std::int64_t rows,
                                                          kernels::Epilogue epilogue);

/// The mean or the largest of each plane of input 0, which lies in blocks; the output does not.
[[nodiscard]] Kernel global_pool_kernel(const SelectContext& context, kernels::Pool kind,
                                        std::int64_t batch, std::int64_t channels,
                                        std::int64_t positions);

/// Asks the selector of the node's operator.
[[nodiscard]] Result<std::optional<Kernel>> select_kernel(const SelectContext& context);

/// Which operators (`domain.name`, the domain left out for ai.onnx) a selector serves.
struct SelectorEntry {
  std::string_view op;
  Selector select;
};
/// One list per file of kernels.
[[nodiscard]] std::span<const SelectorEntry> conv_selectors();
[[nodiscard]] std::span<const SelectorEntry> matmul_selectors();
[[nodiscard]] std::span<const SelectorEntry> pool_selectors();
[[nodiscard]] std::span<const SelectorEntry> elementwise_selectors();
[[nodiscard]] std::span<const SelectorEntry> row_selectors();
[[nodiscard]] std::span<const SelectorEntry> layout_selectors();
[[nodiscard]] std::span<const SelectorEntry> cast_selectors();

/// Splits [0, units) into one contiguous range per thread and calls fn(begin, end, worker); on the
/// calling thread alone where there is less than `least` for each.
template <class Function>
void split(ThreadPool& threads, std::int64_t units, std::int64_t least, const Function& fn) {
  const std::int64_t wanted =
      std::min<std::int64_t>(threads.thread_count(), units / std::max<std::int64_t>(least, 1));
  const std::int64_t parts = std::max<std::int64_t>(wanted, 1);
  if (parts == 1) return fn(std::int64_t{0}, units, 0);
  threads.parallel_for(parts, [&](std::int64_t part, int worker) {
    fn(units * part / parts, units * (part + 1) / parts, worker);
  });
}

}  // namespace trivet::cpu

#include "ops/support/moved_elements.h"

#include <algorithm>
#include <vector>

#include "base/math.h"

namespace trivet::ops {
namespace {

/// Refuses outputs that are too long to be shape arithmetic.
class SmallOutputs : public EvalHost {
 public:
  Result<Tensor> allocate_output(std::size_t, DType dtype, const Shape& shape) override {
    constexpr std::int64_t kMostElements = 1024;
    const auto count = checked_product(shape);
    too_large_ = !count || *count > kMostElements;
    if (too_large_) return fail(ErrorCode::kOutOfMemory, "too large for shape arithmetic");
    return Tensor::allocate(dtype, shape);
  }
  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  bool too_large_ = false;
};

/// Numbers from `first` on, one for each element of input i, in its shape.
Tensor positions(const InferContext& context, std::size_t i, std::size_t first, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t k = 0; k < count; ++k) numbers[k] = static_cast<std::int64_t>(first + k);
  const Tensor vector = Tensor::from_vector(numbers);
  return context.shape(i)->empty() ? vector.reshaped({}) : vector;
}

}  // namespace

Result<void> propagate_elements(InferContext& context, Result<void> (*eval)(EvalContext&),
                                std::initializer_list<std::size_t> moved) {
  SymbolicShape known;
  std::vector<Tensor> tensors(context.input_count());
  std::vector<const Tensor*> inputs(context.input_count(), nullptr);
  bool symbolic = false;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    symbolic = symbolic || context.constant(i) == nullptr;
    if (moved.size() > 0 && std::ranges::find(moved, i) == moved.end()) {
      inputs[i] = context.constant(i);
      if (inputs[i] == nullptr) return {};
      continue;
    }
    const auto elements = context.elements(i);
    const SymbolicShape* shape = context.shape(i);
    if (!elements || shape == nullptr || shape->size() > 1) return {};
    if (shape->empty() && elements->size() != 1) return {};
    tensors[i] = positions(context, i, known.size(), elements->size());
    inputs[i] = &tensors[i];
    known.insert(known.end(), elements->begin(), elements->end());
  }
  if (!symbolic) return {};  // the node will be computed
  SmallOutputs host;
  EvalContext evaluation(context.node(), inputs, host);
  auto done = eval(evaluation);
  if (!done) return host.too_large() ? Result<void>{} : done;
  for (std::size_t o = 0; o < context.output_count(); ++o) {
    const Tensor& out = evaluation.outputs()[o];
    if (!out.defined() || out.dtype() != DType::kInt64) continue;
    context.set_output(o, context.dtype(0), SymbolicShape(out.shape().begin(), out.shape().end()));
    if (out.rank() > 1) continue;
    SymbolicShape elements;
    for (const std::int64_t p : out.data<std::int64_t>())
      elements.push_back(known[static_cast<std::size_t>(p)]);
    context.set_output_elements(o, std::move(elements));
  }
  return {};
}

}  // namespace trivet::ops

#include "providers/cpu/tuner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "base/cpu_info.h"

namespace trivet::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// How much faster than the estimate's choice another one has to be.
constexpr double kMargin = 0.97;
constexpr int kQuickRounds = 3;
constexpr int kFullRounds = 15;

/// Operands of a kernel with memory of their own.
class Operands {
 public:
  static Result<Operands> create(const Workload& workload, std::size_t scratch) {
    Operands out;
    for (const std::int64_t floats : workload.inputs) {
      TRIVET_ASSIGN(Tensor tensor, filled(floats));
      out.tensors_.push_back(std::move(tensor));
    }
    TRIVET_ASSIGN(out.output_, filled(workload.output));
    TRIVET_ASSIGN(out.scratch_,
                  Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(scratch)}));
    for (const Tensor& tensor : out.tensors_)
      out.inputs_.push_back(tensor.size() == 0 ? nullptr : &tensor);
    return out;
  }

  /// In the caches, as the step before leaves them.
  void warm() const {
    for (const Tensor& tensor : tensors_) {
      const auto values = tensor.data<float>();
      volatile float sum = std::accumulate(values.begin(), values.end(), 0.0F);
      (void)sum;
    }
  }

  void run(const Kernel& kernel, ThreadPool& threads) {
    Tensor* outputs[] = {&output_};
    kernel.run({inputs_, outputs, threads, static_cast<std::byte*>(scratch_.mutable_raw())});
  }

 private:
  static Result<Tensor> filled(std::int64_t floats) {
    TRIVET_ASSIGN(Tensor tensor, Tensor::allocate(DType::kFloat32, {floats}));
    std::ranges::fill(tensor.mutable_data<float>(), 0.5F);
    return tensor;
  }

  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> inputs_;
  Tensor output_;
  Tensor scratch_;
};

}  // namespace

Result<std::size_t> Tuner::choose(const std::string& key, std::span<const Candidate> candidates,
                                  const Workload& workload) {
  if (candidates.size() < 2) return std::size_t{0};
  if (const auto* known = cache_.find(key)) {
    const auto it = std::ranges::find(candidates, known->choice, &Candidate::name);
    const bool enough = level_ == Tuning::kQuick || known->thorough;
    if (it != candidates.end() && enough) return static_cast<std::size_t>(it - candidates.begin());
  }
  TRIVET_ASSIGN(const std::size_t best, measure(candidates, workload));
  cache_.set(key, {candidates[best].name, level_ == Tuning::kFull});
  return best;
}

void Tuner::flush_caches() {
  constexpr std::size_t kLine = 64;
  if (flushed_.empty()) flushed_.resize(static_cast<std::size_t>(cache_sizes().last_level_bytes));
  volatile char* bytes = flushed_.data();
  for (std::size_t i = 0; i < flushed_.size(); i += kLine) bytes[i] = static_cast<char>(i);
}

/// The least time of several rounds, in which the candidates take turns, with cold weights.
Result<std::size_t> Tuner::measure(std::span<const Candidate> candidates,
                                   const Workload& workload) {
  std::vector<Kernel> kernels;
  std::size_t scratch = 0;
  for (const Candidate& candidate : candidates) {
    TRIVET_ASSIGN(Kernel kernel, candidate.make());
    scratch = std::max(scratch, kernel.scratch_bytes);
    kernels.push_back(std::move(kernel));
  }
  TRIVET_ASSIGN(Operands operands, Operands::create(workload, scratch));
  std::vector<double> least(kernels.size(), std::numeric_limits<double>::infinity());
  const int rounds = level_ == Tuning::kFull ? kFullRounds : kQuickRounds;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      flush_caches();
      operands.warm();
      const auto start = Clock::now();
      operands.run(kernels[i], threads_);
      least[i] = std::min(least[i], std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  const auto best = std::ranges::min_element(least);
  return *best < kMargin * least[0] ? static_cast<std::size_t>(best - least.begin()) : 0;
}

}  // namespace trivet::cpu

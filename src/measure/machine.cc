#include "measure/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "base/math.h"
#include "base/memory_info.h"
#include "base/thread_pool.h"
#include "base/timestamp.h"
#include "kernels/kernels.h"
#include "measure/timer.h"

namespace trivet {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::KernelTable;
using kernels::PeakLoop;

/// Long against starting and joining the threads, which takes 0.1 ms where they have to be woken.
constexpr double kWindowSeconds = 0.004;
constexpr std::int64_t kSmallestMemoryBuffer = 64 << 20;
constexpr std::int64_t kPageBytes = 4096;
constexpr int kNumbersPerCount = 8;
constexpr std::uint16_t kOneBf16 = 0x3f80;

/// Memory of its own, in large pages where the system gives them: a peak is what remains when
/// nothing else costs time.
class Buffer {
 public:
  static Result<Buffer> create(std::int64_t bytes) {
    TRIVET_TRY(check_available_memory(static_cast<double>(bytes), "measuring the memory"));
    void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return fail(ErrorCode::kOutOfMemory, "no ", bytes, " bytes to measure the memory with");
    }
    madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    Buffer buffer;
    buffer.data_ = static_cast<unsigned char*>(memory);
    buffer.bytes_ = bytes;
    return buffer;
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
  }

  /// The part of one of `threads`, whole pages.
  [[nodiscard]] std::int64_t share(int threads) const {
    return bytes_ / threads / kPageBytes * kPageBytes;
  }
  [[nodiscard]] unsigned char* part(std::int64_t thread, int threads) const {
    return data_ + thread * share(threads);
  }

 private:
  Buffer() = default;
  unsigned char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// What a loop of arithmetic works on; no vector has more lanes and no loop more sums.
template <class A, class B, class Sum>
struct alignas(64) Registers {
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kSums = 24;
  static constexpr std::size_t kElements = kLanes * (sizeof(Sum) / sizeof(A));
  std::array<A, kElements> a;
  std::array<B, kElements> b;
  std::array<Sum, kLanes * kSums> sums;
};

/// The numbers of one thread count.
class CountMeter {
 public:
  CountMeter(const KernelTable& table, int threads, double seconds_each, const Buffer& memory,
             std::function<void()> tick)
      : table_(table),
        pool_(threads),
        threads_(threads),
        seconds_each_(seconds_each),
        memory_(memory),
        tick_(std::move(tick)) {}

  /// What each thread will read is first written by it, so that it lies in its part of the memory.
  Result<void> touch() {
    if (pool_.thread_count() < threads_) {
      return fail(ErrorCode::kFailed, "the system gives ", pool_.thread_count(), " threads of ",
                  threads_, "; use --threads ", pool_.thread_count());
    }
    pool_.parallel_for(threads_, [this](std::int64_t task, int) {
      std::memset(memory_.part(task, threads_), 1, static_cast<std::size_t>(share()));
    });
    return {};
  }

  /// In 10^9 operations per second, on operands of ones: nothing overflows or underflows.
  template <class A, class B, class Sum>
  double arithmetic(const PeakLoop<A, B, Sum>& loop, A one_a, B one_b) {
    return best_rate(loop.operations(table_.lanes), [&](std::int64_t, std::int64_t rounds) {
      Registers<A, B, Sum> r;
      std::ranges::fill(r.a, one_a);
      std::ranges::fill(r.b, one_b);
      std::ranges::fill(r.sums, Sum{0});
      loop.run(rounds, r.a.data(), r.b.data(), r.sums.data());
    });
  }

  /// Each thread reads the same part of its own again and again; in 10^9 bytes per second.
  double read(std::int64_t bytes_each) {
    const std::int64_t bytes = round_down(std::min(bytes_each, share()));
    return best_rate(static_cast<double>(bytes),
                     [this, bytes](std::int64_t task, std::int64_t rounds) {
                       table_.peaks.read(memory_.part(task, threads_), bytes, rounds);
                     });
  }

  /// Each thread copies the first half of its part to the second.
  double copy() {
    const std::int64_t half = round_down(share() / 2);
    return best_rate(2.0 * static_cast<double>(half),
                     [this, half](std::int64_t task, std::int64_t rounds) {
                       unsigned char* const from = memory_.part(task, threads_);
                       table_.peaks.copy(from, from + half, half, rounds);
                     });
  }

  [[nodiscard]] std::int64_t share() const { return memory_.share(threads_); }

 private:
  static std::int64_t round_down(std::int64_t bytes) {
    return bytes / kernels::kPeakBlockBytes * kernels::kPeakBlockBytes;
  }

  /// `work(task, rounds)` on every thread at once; `units` are those of one round of one thread.
  /// The rounds of a window are doubled until it is long enough; the best window counts.
  template <class Work>
  double best_rate(double units, const Work& work) {
    const Clock::time_point begin = Clock::now();
    double best = 0;
    std::int64_t rounds = 1;
    do {
      const Clock::time_point start = Clock::now();
      pool_.parallel_for(threads_, [&](std::int64_t task, int) { work(task, rounds); });
      const double seconds = seconds_since(start);
      if (seconds < kWindowSeconds) {
        rounds *= 2;
        continue;
      }
      best = std::max(best, units * threads_ * static_cast<double>(rounds) / seconds);
    } while (best == 0 || seconds_since(begin) < seconds_each_);
    tick_();
    return best * 1e-9;
  }

  const KernelTable& table_;
  ThreadPool pool_;
  int threads_;
  double seconds_each_;
  const Buffer& memory_;
  std::function<void()> tick_;
};

/// How much one of `threads` reads of each level; 0 where that would not show the level.
struct Sizes {
  std::int64_t l1;
  std::int64_t l2;
  std::int64_t l3;

  Sizes(const CacheSizes& caches, int threads)
      // Some of a cache is taken by the stack and what else the system does.
      : l1(caches.l1.bytes / 4 * 3 / std::min(threads, caches.l1.sharers)),
        l2(half_share(caches.l2, caches.l1, threads)),
        l3(half_share(caches.l3, caches.l2, threads)) {}

 private:
  /// What one thread gets when all share half of a level, unless the level before holds much of it.
  static std::int64_t half_share(const Cache& level, const Cache& before, int threads) {
    const std::int64_t share = level.bytes / 2 / std::min(threads, level.sharers);
    return share >= 2 * before.bytes ? share : 0;
  }
};

std::int64_t memory_buffer_bytes(const CacheSizes& caches) {
  return std::max(4 * caches.last_level_bytes, kSmallestMemoryBuffer);
}

/// The dot product in bytes that this processor is best at.
const kernels::Int8Peak& int8_loop(const KernelTable& table) {
  const bool has_dot = isa_has(table.isa, IsaExtension::kInt8Dot);
  return has_dot ? table.peaks.int8_dot : table.peaks.int8;
}

Result<ThreadPeaks> measure_count(CountMeter& meter, const KernelTable& table, const Sizes& sizes,
                                  int threads) {
  TRIVET_TRY(meter.touch());
  ThreadPeaks out;
  out.threads = threads;
  out.fma_gflops = meter.arithmetic(table.peaks.fma, 1.0F, 1.0F);
  out.int8_gops = meter.arithmetic(int8_loop(table), std::uint8_t{1}, std::int8_t{1});
  if (isa_has(table.isa, IsaExtension::kBf16Dot)) {
    out.bf16_gflops = meter.arithmetic(table.peaks.bf16_dot, kOneBf16, kOneBf16);
  }
  out.l1_gb_s = meter.read(sizes.l1);
  if (sizes.l2 > 0) out.l2_gb_s = meter.read(sizes.l2);
  if (sizes.l3 > 0) out.l3_gb_s = meter.read(sizes.l3);
  out.dram_gb_s = meter.read(meter.share());
  out.dram_copy_gb_s = meter.copy();
  return out;
}

}  // namespace

std::vector<int> measured_thread_counts(int max_threads) {
  constexpr int kEach = 8;
  std::vector<int> counts;
  for (int count = 1; count < max_threads; count += count < kEach ? 1 : count) {
    counts.push_back(count);
  }
  counts.push_back(std::max(1, max_threads));
  return counts;
}

Result<MachinePeaks> measure_machine(Isa isa, const PeakOptions& options,
                                     const MachineProgress& progress) {
  const KernelTable& table = kernels::table(isa);
  MachinePeaks out;
  out.cpu = cpu_model_name();
  out.isa = isa_name(table.isa);
  out.date = utc_timestamp();
  out.int8_instruction = int8_loop(table).instruction;
  if (isa_has(table.isa, IsaExtension::kBf16Dot)) {
    out.bf16_instruction = table.peaks.bf16_dot.instruction;
  }
  out.caches = cache_sizes(options.root);
  const std::vector<int> counts =
      measured_thread_counts(options.max_threads > 0 ? options.max_threads : usable_thread_count());
  const int total = static_cast<int>(counts.size()) * kNumbersPerCount;
  const double seconds_each = options.seconds / total;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    TRIVET_ASSIGN(const Buffer memory, Buffer::create(memory_buffer_bytes(out.caches)));
    int done = static_cast<int>(i) * kNumbersPerCount;
    const auto tick = [&] {
      if (progress) progress(++done, total);
    };
    CountMeter meter(table, counts[i], seconds_each, memory, tick);
    TRIVET_ASSIGN(ThreadPeaks peaks,
                  measure_count(meter, table, Sizes(out.caches, counts[i]), counts[i]));
    out.threads.push_back(peaks);
  }
  if (progress) progress(total, total);
  return out;
}

Roofline roofline(const MachinePeaks& peaks, int threads) {
  const ThreadPeaks* best = &peaks.threads.front();
  for (const ThreadPeaks& measured : peaks.threads) {
    if (measured.threads <= threads) best = &measured;
  }
  return {.flops_per_s = best->fma_gflops * 1e9, .bytes_per_s = best->dram_gb_s * 1e9};
}

}  // namespace trivet

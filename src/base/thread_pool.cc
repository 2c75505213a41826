#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpu_info.h"
#include "base/flush_subnormals.h"

namespace trivet {
namespace {

using Clock = std::chrono::steady_clock;

void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Waits until `value` is no longer `old`: first by watching it for `spin`, then asleep. Returns
/// the new value; what was written before it was stored is visible.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old, std::chrono::microseconds spin) {
  constexpr int kLooksPerClock = 32;  // reading the clock costs about as much as this many looks
  T now = value.load(std::memory_order_acquire);
  if (now != old) return now;
  if (spin.count() > 0) {
    const Clock::time_point end = Clock::now() + spin;
    do {
      for (int look = 0; look < kLooksPerClock; ++look) {
        cpu_relax();
        now = value.load(std::memory_order_acquire);
        if (now != old) return now;
      }
    } while (Clock::now() < end);
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

/// A hint: where the system refuses, the thread runs as it would have.
void pin_to(std::thread& thread, int processor) {
  cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(processor) + 1);
  if (set == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(processor) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
  pthread_setaffinity_np(thread.native_handle(), bytes, set);
  CPU_FREE(set);
}

}  // namespace

/// On cache lines of its own, so that signalling one worker does not disturb the next.
struct alignas(64) ThreadPool::Worker {
  std::atomic<std::int32_t> signal =
      0;              ///< changes once for each loop it takes part in, and to stop
  bool stop = false;  ///< read after `signal` has changed
  std::thread thread;
};

/// Says, while a thread runs tasks, of which pool and as which worker; scopes nest with the calls.
struct ThreadPool::Scope {
  Scope(const ThreadPool* pool_in, int worker_in)
      : pool(pool_in), worker(worker_in), outer(innermost) {
    innermost = this;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { innermost = outer; }

  const ThreadPool* pool;
  int worker;
  const Scope* outer;
  static thread_local const Scope* innermost;
};

thread_local const ThreadPool::Scope* ThreadPool::Scope::innermost = nullptr;

ThreadPool::ThreadPool(int threads, std::chrono::microseconds spin, bool pin) : spin_(spin) {
  if (threads <= 1) return;
  const std::vector<int> processors = pin ? pinning_order() : std::vector<int>();
  workers_ = std::make_unique<Worker[]>(static_cast<std::size_t>(threads));
  for (int index = 1; index < threads; ++index) {
    try {
      workers_[static_cast<std::size_t>(index)].thread =
          std::thread([this, index] { work(index); });
    } catch (const std::system_error&) {
      return;  // out of threads: fewer workers give the same results
    }
    if (static_cast<std::size_t>(index) < processors.size()) {
      pin_to(workers_[static_cast<std::size_t>(index)].thread,
             processors[static_cast<std::size_t>(index)]);
    }
    thread_count_ = index + 1;
  }
}

ThreadPool::~ThreadPool() {
  for (int index = 1; index < thread_count_; ++index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    worker.stop = true;
    worker.signal.fetch_add(1, std::memory_order_release);
    worker.signal.notify_one();
    worker.thread.join();
  }
}

int ThreadPool::enclosing_worker() const {
  for (const Scope* scope = Scope::innermost; scope != nullptr; scope = scope->outer) {
    if (scope->pool == this) return scope->worker;
  }
  return -1;
}

void ThreadPool::run(std::int64_t tasks, Task task) {
  if (tasks <= 0) return;
  const int enclosing = thread_count_ == 1 ? 0 : enclosing_worker();
  if (tasks == 1 || enclosing >= 0) {
    const int worker = std::max(enclosing, 0);
    const Scope scope(this, worker);
    for (std::int64_t t = 0; t < tasks; ++t) task.call(task.object, t, worker);
    return;
  }

  const std::lock_guard lock(loop_mutex_);
  tasks_ = tasks;
  task_ = task;
  participants_ = static_cast<int>(std::min<std::int64_t>(tasks, thread_count_));
  unfinished_.store(participants_ - 1, std::memory_order_relaxed);
  for (int index = 1; index < participants_; ++index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    worker.signal.fetch_add(1, std::memory_order_release);
    worker.signal.notify_one();
  }
  run_block(0);
  for (std::int32_t left = unfinished_.load(std::memory_order_acquire); left != 0;) {
    left = wait_for_change(unfinished_, left, spin_);
  }
}

void ThreadPool::run_block(int worker) const {
  const std::int64_t each = tasks_ / participants_;
  const std::int64_t larger = tasks_ % participants_;  // the first blocks take one task more
  const std::int64_t begin = each * worker + std::min<std::int64_t>(worker, larger);
  const std::int64_t end = begin + each + (worker < larger ? 1 : 0);
  const Scope scope(this, worker);
  for (std::int64_t t = begin; t < end; ++t) task_.call(task_.object, t, worker);
}

void ThreadPool::work(int index) {
  const FlushSubnormals flush;
  Worker& self = workers_[static_cast<std::size_t>(index)];
  for (std::int32_t seen = 0;;) {
    seen = wait_for_change(self.signal, seen, spin_);
    if (self.stop) return;
    run_block(index);
    // The last one wakes the caller, who may be asleep over any earlier count.
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

}  // namespace trivet

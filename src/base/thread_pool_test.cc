#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "base/cpu_info.h"

namespace trivet {
namespace {

using std::chrono::microseconds;

TEST(ThreadPool, EachTaskRunsOnce) {
  for (const int threads : {-1, 1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.thread_count(), std::max(threads, 1));
    for (const std::int64_t tasks : {0, 1, 2, 3, 6, 8, 100}) {
      std::vector<int> runs(static_cast<std::size_t>(tasks), 0);
      pool.parallel_for(tasks, [&](std::int64_t task, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, pool.thread_count());
        ++runs[static_cast<std::size_t>(task)];
      });
      EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), std::int64_t{0}), tasks);
      for (const int count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, TheSplitIsInContiguousBlocksAndAlwaysTheSame) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<int> owner(8, -1);
    pool.parallel_for(
        8, [&](std::int64_t task, int worker) { owner[static_cast<std::size_t>(task)] = worker; });
    EXPECT_EQ(owner, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  }
}

TEST(ThreadPool, TheCallerIsWorkerZero) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::thread::id> ran(2);
  pool.parallel_for(2, [&](std::int64_t, int worker) {
    ran[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
  });
  EXPECT_EQ(ran[0], caller);
  EXPECT_NE(ran[1], caller);
}

TEST(ThreadPool, ConstCallablesAndLvaluesWork) {
  ThreadPool pool(2);
  std::atomic<int> sum = 0;
  const auto add = [&sum](std::int64_t task, int) { sum += static_cast<int>(task); };
  pool.parallel_for(5, add);
  EXPECT_EQ(sum, 10);
}

TEST(ThreadPool, NestedCallsRunInlineOnTheirWorker) {
  ThreadPool pool(3);
  std::atomic<int> runs = 0;
  pool.parallel_for(6, [&](std::int64_t, int outer) {
    pool.parallel_for(4, [&, thread = std::this_thread::get_id()](std::int64_t, int inner) {
      EXPECT_EQ(inner, outer);
      EXPECT_EQ(std::this_thread::get_id(), thread);
      ++runs;
    });
  });
  EXPECT_EQ(runs, 24);
}

TEST(ThreadPool, APoolMayBeUsedInsideATaskOfAnother) {
  ThreadPool outer(2);
  ThreadPool inner(2);
  std::atomic<int> runs = 0;
  outer.parallel_for(
      4, [&](std::int64_t, int) { inner.parallel_for(3, [&](std::int64_t, int) { ++runs; }); });
  EXPECT_EQ(runs, 12);
}

TEST(ThreadPool, ManyCallersShareOnePool) {
  constexpr int kCallers = 4;
  constexpr int kLoops = 100;
  ThreadPool pool(3, microseconds(5));
  std::vector<std::int64_t> sums(kCallers, 0);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&pool, &sum = sums[static_cast<std::size_t>(caller)]] {
      for (int loop = 0; loop < kLoops; ++loop) {
        std::vector<std::int64_t> out(17, 0);
        pool.parallel_for(
            17, [&](std::int64_t task, int) { out[static_cast<std::size_t>(task)] = task; });
        sum += std::accumulate(out.begin(), out.end(), std::int64_t{0});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, kLoops * 136);
}

TEST(ThreadPool, StressOfShortLoopsWithAndWithoutSpinning) {
  for (const microseconds spin : {microseconds(0), microseconds(20)}) {
    ThreadPool pool(4, spin);
    std::vector<std::int64_t> counts(4 * 16, 0);  // one cache line of counters for each worker
    constexpr int kLoops = 2000;
    std::int64_t expected = 0;
    for (int loop = 0; loop < kLoops; ++loop) {
      const std::int64_t tasks = loop % 7;  // fewer tasks than workers, too
      expected += tasks;
      pool.parallel_for(tasks, [&](std::int64_t, int worker) {
        ++counts[static_cast<std::size_t>(worker) * 16];
      });
    }
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), expected);
  }
}

/// Workers stay where they were put; more of them than processors is no error.
TEST(ThreadPool, PinnedWorkersHaveAProcessorEach) {
  const std::vector<int> order = pinning_order();
  ASSERT_FALSE(order.empty());
  const int threads = static_cast<int>(order.size()) + 1;
  ThreadPool pool(threads, ThreadPool::kDefaultSpin, true);
  ASSERT_EQ(pool.thread_count(), threads);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> seen(static_cast<std::size_t>(threads), -1);
    pool.parallel_for(threads, [&](std::int64_t, int worker) {
      seen[static_cast<std::size_t>(worker)] = sched_getcpu();
    });
    for (std::size_t worker = 1; worker < order.size(); ++worker)
      EXPECT_EQ(seen[worker], order[worker]) << "worker " << worker;
  }
}

TEST(ThreadPool, StartsAndStopsManyTimes) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    ThreadPool pool(3, microseconds(repeat % 2 == 0 ? 0 : 50));
    if (repeat % 3 == 0) pool.parallel_for(3, [](std::int64_t, int) {});
  }
}

}  // namespace
}  // namespace trivet

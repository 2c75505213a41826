#include "base/flush_subnormals.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/thread_pool.h"

namespace trivet {
namespace {

#if defined(__SSE2__) || defined(__aarch64__)

/// A result, and one from an operand, that are subnormal unless they are flushed.
std::array<float, 2> subnormals() {
  const volatile float small = 2e-38F;
  const volatile float subnormal = 1e-39F;
  return {small * 0.25F, subnormal * 1e10F};
}

TEST(FlushSubnormals, OnlyWhileItLives) {
  const auto before = subnormals();
  EXPECT_GT(before[0], 0.0F);
  EXPECT_GT(before[1], 0.0F);
  {
    const FlushSubnormals flush;
    EXPECT_EQ(subnormals(), (std::array<float, 2>{0.0F, 0.0F}));
  }
  EXPECT_EQ(subnormals(), before);
}

TEST(FlushSubnormals, WorkersOfAPool) {
  ThreadPool pool(2);
  if (pool.thread_count() < 2) GTEST_SKIP() << "the system gives no second thread";
  std::array<float, 2> found = {1, 1};
  pool.parallel_for(2, [&](std::int64_t task, int worker) {
    if (task == 1 && worker == 1) found = subnormals();
  });
  EXPECT_EQ(found, (std::array<float, 2>{0.0F, 0.0F}));
}

#endif

}  // namespace
}  // namespace trivet

// What the opaque handles of the provider ABI are inside this library.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "graph/graph.h"
#include "trivet/provider.h"

struct TrvGraph {
  std::shared_ptr<const trivet::Graph> graph;
};

struct TrvThreads {
  std::shared_ptr<trivet::ThreadPool> shared;
  trivet::ThreadPool& pool;
  explicit TrvThreads(std::shared_ptr<trivet::ThreadPool> threads)
      : shared(std::move(threads)), pool(*shared) {}
};

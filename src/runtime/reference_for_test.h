// What a graph computes by the oracle, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet {

/// All outputs; a refusal fails the test and gives none.
inline std::vector<Tensor> run_in_reference(const Graph& graph, const std::vector<Tensor>& inputs) {
  Model model;
  model.graph = std::make_shared<const Graph>(graph);
  const auto session = Session::create(
      model, {.providers = {&reference_provider()}, .threads = 1, .optimize = false});
  EXPECT_TRUE(session) << session.error().message;
  if (!session) return {};
  auto out = (*session)->run(inputs);
  EXPECT_TRUE(out) << out.error().message;
  return out ? *std::move(out) : std::vector<Tensor>{};
}

}  // namespace trivet

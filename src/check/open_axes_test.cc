// Graphs that hold on to the batch, or the size, that they were exported with.
#include "check/open_axes.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/writer_for_test.h"
#include "ops/support/op_test.h"
#include "runtime/reference_for_test.h"

namespace trivet::check {
namespace {

using Numbers = std::vector<std::int64_t>;
using Form = std::function<ValueId(GraphWriter&, ValueId)>;

constexpr int kOpset = 17;

Graph graph_of(const Form& form, const Shape& shape, int opset = kOpset) {
  GraphBuilder builder("g");
  GraphWriter writer(builder, opset);
  const ValueId x = builder.add_input(
      "x", ValueType::tensor(DType::kFloat32, SymbolicShape(shape.begin(), shape.end())));
  writer.show(form(writer, x));
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

/// Different values in each element.
Tensor numbers(const Shape& shape, double start) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(start + 0.1 * static_cast<double>(i));
  }
  return Tensor::from_values(shape, values);
}

OpenedGraph opened(const Graph& graph, std::size_t axis = 0, const std::string& symbol = "n") {
  const std::vector<OpenAxis> axes = {{graph.inputs()[0], axis, symbol}};
  auto out = open_axes(graph, axes);
  EXPECT_TRUE(out) << out.error().message;
  return out ? *std::move(out) : OpenedGraph{graph, {}, {}};
}

/// With the batch open, three times the exported one gives what three runs of the graph as it was
/// give, one after the other along axis `along` of the output.
void expect_opens(const std::string& what, const Form& form, const Shape& shape,
                  std::size_t repairs = 1, std::size_t along = 0, int opset = kOpset) {
  SCOPED_TRACE(what);
  const Graph graph = graph_of(form, shape, opset);
  const OpenedGraph open = opened(graph);
  EXPECT_EQ(open.baked.size(), repairs);
  for (const BakedSize& size : open.baked) EXPECT_TRUE(size.mended) << size.what;
  EXPECT_EQ(open.exported.at("n"), shape[0]);
  EXPECT_EQ(open.graph.value(open.graph.inputs()[0]).type.shape->at(0).to_string(), "n");
  std::vector<double> input;
  Shape long_shape = shape;
  long_shape[0] = 3 * shape[0];
  std::vector<Tensor> parts;
  for (int i = 0; i < 3; ++i) {
    const Tensor x = numbers(shape, i);
    const auto out = run_in_reference(graph, {x});
    ASSERT_EQ(out.size(), 1U);
    parts.push_back(out[0]);
    const std::vector<double> values = ops::doubles(x);
    input.insert(input.end(), values.begin(), values.end());
  }
  const auto whole = run_in_reference(
      open.graph,
      {Tensor::from_values(long_shape, std::vector<float>(input.begin(), input.end()))});
  ASSERT_EQ(whole.size(), 1U);
  ops::OpTest concat("Concat", 13);
  const Tensor expected = concat.attribute("axis", static_cast<std::int64_t>(along)).run(parts);
  ASSERT_EQ(whole[0].shape(), expected.shape());
  EXPECT_EQ(ops::doubles(whole[0]), ops::doubles(expected));
}

void expect_holds(const std::string& what, const Form& form, const Shape& shape,
                  const std::string& reason, std::size_t axis = 0) {
  SCOPED_TRACE(what);
  const OpenedGraph open = opened(graph_of(form, shape), axis);
  ASSERT_FALSE(open.baked.empty());
  EXPECT_FALSE(open.all_mended());
  EXPECT_NE(open.baked.back().what.find(reason), std::string::npos) << open.baked.back().what;
}

TEST(OpenAxes, Reshapes) {
  const auto to = [](const Numbers& target) {
    return [=](GraphWriter& w, ValueId x) { return w.node("Reshape", {x, w.ints(target)}); };
  };
  expect_opens("flattened", to({2, 12}), {2, 3, 4});
  expect_opens("in heads", to({2, 3, 2, 2}), {2, 3, 4});
  expect_opens("batch into rows", to({6, 4}), {2, 3, 4});
  expect_opens("open already", to({-1, 12}), {2, 3, 4}, 0);
  expect_opens("by zero", to({0, -1}), {2, 3, 4}, 0);
  expect_opens("a one in front", to({1, 3, 4}), {1, 3, 4});
}

TEST(OpenAxes, AReshapeOfTwoOpenSizesIsComputed) {
  const Form form = [](GraphWriter& w, ValueId x) {
    const ValueId rows = w.node("Reshape", {x, w.ints({2, 4, 4})});  // n, h, 2·w
    return w.node("Reshape", {rows, w.ints({8, 4})});
  };
  const Graph graph = graph_of(form, {2, 4, 2, 2});
  const std::vector<OpenAxis> axes = {{graph.inputs()[0], 0, "n"}, {graph.inputs()[0], 1, "h"}};
  const auto open = open_axes(graph, axes);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_TRUE(open->all_mended());
  const auto out = run_in_reference(open->graph, {numbers({3, 5, 2, 2}, 0)});
  EXPECT_EQ(out[0].shape(), (Shape{15, 4}));
}

TEST(OpenAxes, OtherOperands) {
  expect_opens("Expand",
               [](GraphWriter& w, ValueId x) {
                 return w.node("Expand", {x, w.ints({2, 5, 3})});
               },
               {2, 1, 3});
  expect_opens(
      "Expand by ones",
      [](GraphWriter& w, ValueId x) {
        return w.node("Expand", {x, w.ints({1, 5, 1})});
      },
      {2, 1, 3}, 0);
  expect_opens("Slice to the end",
               [](GraphWriter& w, ValueId x) {
                 return w.node("Slice", {x, w.ints({0, 1}), w.ints({2, 3}), w.ints({0, -1})});
               },
               {2, 3});
  expect_opens(
      "Tile of another axis",
      [](GraphWriter& w, ValueId x) {
        return w.node("Tile", {x, w.ints({1, 3})});
      },
      {2, 3}, 0);
  expect_opens("Resize by sizes",
               [](GraphWriter& w, ValueId x) {
                 return w.node("Resize", {x, kNoValue, kNoValue, w.ints({2, 1, 4, 6})},
                               {{"mode", std::string("nearest")}});
               },
               {2, 1, 2, 3});
}

TEST(OpenAxes, ConstantsThatAreStoredOncePerImage) {
  const Tensor token = Tensor::from_values<float>({2, 1, 3}, {1, 2, 3, 1, 2, 3});
  expect_opens("a class token in front",
               [&](GraphWriter& w, ValueId x) {
                 return w.node("Concat", {w.constant(token), x}, {{"axis", std::int64_t{1}}});
               },
               {2, 4, 3});
  expect_opens("a position that is added",
               [&](GraphWriter& w, ValueId x) {
                 return w.node("Add", {x, w.constant(token)});
               },
               {2, 4, 3});
  const auto state = Tensor::from_values<float>({1, 2, 2}, {0, 0, 0, 0});
  expect_opens(
      "the first state of a layer",
      [&](GraphWriter& w, ValueId x) {
        const ValueId turned = w.node("Transpose", {x}, {{"perm", Numbers{1, 0, 2}}});
        const ValueId weights = w.constant(numbers({1, 2, 3}, -0.3));
        const ValueId again = w.constant(numbers({1, 2, 2}, -0.2));
        const ValueId all =
            w.node("RNN", {turned, weights, again, kNoValue, kNoValue, w.constant(state)},
                   {{"hidden_size", std::int64_t{2}}});
        return w.node("Squeeze", {all, w.ints({1})});
      },
      {2, 4, 3}, 1, 1);
}

TEST(OpenAxes, WhatCannotFollow) {
  const Tensor differs = Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_holds(
      "a constant that differs from image to image",
      [&](GraphWriter& w, ValueId x) {
        return w.node("Add", {x, w.constant(differs)});
      },
      {2, 3}, "where n belongs");
  expect_holds(
      "patches of which the number, or the size, could grow",
      [](GraphWriter& w, ValueId x) {
        return w.node("Reshape", {x, w.ints({1, 3, 14, 16})});
      },
      {1, 3, 224}, "[1, 3, 14, 16]", 2);
  expect_holds(
      "a resize by no whole number",
      [](GraphWriter& w, ValueId x) {
        return w.node("Resize", {x, kNoValue, kNoValue, w.ints({1, 1, 4, 5})},
                      {{"mode", std::string("nearest")}});
      },
      {1, 1, 4, 3}, "sizes", 3);
}

TEST(OpenAxes, ADeclaredSymbolThatAConstantContradictsIsSolved) {
  GraphBuilder builder("g");
  GraphWriter w(builder, kOpset);
  const ValueId x = builder.add_input(
      "x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim::symbol("n"), 3, 4}));
  w.show(w.node("Reshape", {x, w.ints({5, 12})}));
  const Graph graph = *builder.finish();
  const OpenedGraph open = opened(graph);
  EXPECT_EQ(open.exported.at("n"), 5);
  EXPECT_TRUE(open.all_mended());
  EXPECT_EQ(run_in_reference(open.graph, {numbers({2, 3, 4}, 0)})[0].shape(), (Shape{2, 12}));
}

TEST(OpenAxes, AnAxisThatIsNotThereIsAnError) {
  const Graph graph =
      graph_of([](GraphWriter& w, ValueId x) { return w.node("Relu", {x}); }, {2, 3});
  const std::vector<OpenAxis> axes = {{graph.inputs()[0], 2, "n"}};
  EXPECT_FALSE(open_axes(graph, axes));
}

}  // namespace
}  // namespace trivet::check

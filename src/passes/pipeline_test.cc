// Each pass on a graph made for it, and the proof by running before and after.
#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"
#include "providers/cpu/cpu.h"
#include "providers/cpu/fuse.h"
#include "runtime/session.h"

namespace trivet {
namespace {

Tensor numbers(const Shape& shape, float first, float step) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = first + step * static_cast<float>(i % 13);
  return Tensor::from_values(shape, values);
}

/// Conv 3→4 and BatchNormalization over an image of symbolic batch; tests add what follows.
class ConvGraph {
 public:
  ConvGraph() : builder_("conv") {
    const ValueType image =
        ValueType::tensor(DType::kFloat32, SymbolicShape{Dim::symbol("n"), 3, 6, 5});
    input_ = builder_.add_input("x", image);
    const ValueId w = builder_.add_constant("w", numbers({4, 3, 3, 3}, -0.3F, 0.05F));
    conv_ = node("Conv", {input_, w}, "conv");
  }

  /// Its first output; `second` names another that nobody reads.
  ValueId node(const std::string& type, std::vector<ValueId> inputs, const std::string& name,
               const std::vector<Attribute>& attributes = {}, const std::string& second = "") {
    const ValueId out = builder_.add_value(name);
    Node n{
        .name = name, .op_type = type, .opset = 15, .inputs = std::move(inputs), .outputs = {out}};
    for (const Attribute& attribute : attributes) n.attributes.set(attribute.name, attribute.value);
    if (!second.empty()) n.outputs.push_back(builder_.add_value(second));
    builder_.add_node(std::move(n));
    return out;
  }
  ValueId constant(const std::string& name, Tensor tensor) {
    return builder_.add_constant(name, std::move(tensor));
  }
  void output(ValueId id) { builder_.add_output(id); }
  ValueId input() const { return input_; }
  ValueId conv() const { return conv_; }
  /// The normalisation of the convolution; to be asked for once.
  ValueId norm() {
    const ValueId scale = builder_.add_constant("scale", numbers({4}, 0.5F, 0.2F));
    const ValueId shift = builder_.add_constant("shift", numbers({4}, -0.1F, 0.3F));
    const ValueId mean = builder_.add_constant("mean", numbers({4}, 0.2F, -0.1F));
    const ValueId variance = builder_.add_constant("variance", numbers({4}, 0.7F, 0.4F));
    return node("BatchNormalization", {conv_, scale, shift, mean, variance}, "norm");
  }
  Graph finish() {
    auto graph = builder_.finish();
    EXPECT_TRUE(graph) << graph.error().message;
    return *std::move(graph);
  }

 private:
  GraphBuilder builder_;
  ValueId input_, conv_;
};

std::vector<float> run(const Graph& graph) {
  Model model;
  model.graph = std::make_shared<const Graph>(graph);
  const auto session =
      Session::create(model, {.providers = {&cpu_provider()}, .threads = 1, .optimize = false});
  EXPECT_TRUE(session) << session.error().message;
  const auto out = (*session)->run(std::vector<Tensor>{numbers({2, 3, 6, 5}, -1.0F, 0.17F)});
  EXPECT_TRUE(out) << out.error().message;
  const auto values = (*out)[0].data<float>();
  return {values.begin(), values.end()};
}

/// One of cpu's passes, on a graph that no other has changed.
Result<int> apply(Result<int> (*pass)(Graph&, const Inference&), Graph& graph) {
  TRIVET_ASSIGN(const Inference inference, infer(graph, declared_inputs(graph)));
  return pass(graph, inference);
}

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::fabs(b[i])));
}

std::vector<std::string> types(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes()) out.push_back(node.op_type);
  return out;
}

using Types = std::vector<std::string>;

TEST(Passes, BatchNormGoesIntoTheConv) {
  ConvGraph g;
  g.output(g.norm());
  Graph graph = g.finish();
  const auto before = run(graph);
  const auto folded = fold_batch_norm(graph);
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_EQ(*folded, 1);
  EXPECT_EQ(types(graph), Types{"Conv"});
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "norm");
  expect_same(run(graph), before);
}

TEST(Passes, BatchNormStaysWhereTheConvIsReadTwice) {
  ConvGraph g;
  g.output(g.norm());
  g.output(g.conv());
  Graph graph = g.finish();
  const auto folded = fold_batch_norm(graph);
  ASSERT_TRUE(folded);
  EXPECT_EQ(*folded, 0);
}

TEST(Passes, ChainsOfNoOpsGoAndOutputsKeepTheirNames) {
  ConvGraph g;
  const ValueId a = g.node("Identity", {g.conv()}, "a");
  const ValueId b = g.node("Dropout", {a}, "b");
  g.output(g.node("Identity", {b}, "out"));
  Graph graph = g.finish();
  const auto before = run(graph);
  ASSERT_TRUE(optimize(graph));
  EXPECT_EQ(types(graph), Types{"Conv"});
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "out");
  expect_same(run(graph), before);
}

/// PyTorch writes Dropout with ratio 0 in training form, and declares a mask that nobody reads.
TEST(Passes, DropoutGoesWhereItDropsNothing) {
  for (const float ratio : {0.0F, 0.5F}) {
    for (const bool training : {false, true}) {
      ConvGraph g;
      auto flag = Tensor::allocate(DType::kBool, {});
      ASSERT_TRUE(flag);
      *static_cast<bool*>(flag->mutable_raw()) = training;
      const ValueId amount =
          g.constant("ratio", Tensor::from_values<float>({}, std::vector{ratio}));
      const ValueId mode = g.constant("training", *flag);
      g.output(g.node("Dropout", {g.conv(), amount, mode}, "out", {}, "mask"));
      Graph graph = g.finish();
      ASSERT_TRUE(optimize(graph));
      EXPECT_EQ(types(graph), training && ratio > 0 ? (Types{"Conv", "Dropout"}) : Types{"Conv"});
    }
  }
}

/// x - Expand(row): the subtraction broadcasts the row by itself, unless x is smaller than that.
TEST(Passes, ExpandGoesWhereTheReaderBroadcasts) {
  for (const bool smaller : {false, true}) {
    ConvGraph g;
    const ValueId shape = g.node("Shape", {smaller ? g.input() : g.conv()}, "shape");
    const ValueId one = g.constant("one", numbers({1, 1, 1, 1}, 0.5F, 0));
    const ValueId expanded = g.node("Expand", {one, shape}, "expanded");
    const ValueId small = g.constant("small", numbers({3, 1, 1}, 0.5F, 1));
    g.output(g.node("Sub", {smaller ? small : g.conv(), expanded}, "out"));
    Graph graph = g.finish();
    const auto before = run(graph);
    ASSERT_TRUE(optimize(graph));
    EXPECT_EQ(std::ranges::count(types(graph), "Expand"), smaller ? 1 : 0);
    expect_same(run(graph), before);
  }
}

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

/// Operators whose parameters leave their input (n x 4 x 4 x 3) as it is, each beside a near miss.
TEST(Passes, OperatorsThatChangeNothingGo) {
  struct Case {
    std::string type;
    std::vector<Tensor> parameters;
    std::vector<Attribute> attributes;
    bool goes;
  };
  const std::vector<std::int64_t> forwards = {0, 1, 2, 3};
  const std::vector<std::int64_t> swapped = {0, 2, 1, 3};
  const std::vector<Case> cases = {
      {"Pad", {ints({0, 0, 0, 0, 0, 0, 0, 0})}, {}, true},
      {"Pad", {ints({0, 1, 0, 0, 0, -1, 0, 0})}, {}, false},
      {"Slice", {ints({0, 0}), ints({99, 4}), ints({0, 1})}, {}, false},
      {"Slice",
       {ints({0, 0}), ints({std::numeric_limits<std::int64_t>::max(), 4}), ints({0, 1})},
       {},
       true},
      {"Slice", {ints({-1}), ints({-9}), ints({1}), ints({-1})}, {}, false},
      {"Slice", {ints({0}), ints({3}), ints({1}), ints({1})}, {}, false},
      {"Transpose", {}, {{"perm", forwards}}, true},
      {"Transpose", {}, {{"perm", swapped}}, false},
      {"Reshape", {ints({-1, 4, 4, 3})}, {}, true},
      {"Reshape", {ints({-1, 4, 3, 4})}, {}, false},
      {"Expand", {ints({4, 1, 1})}, {}, true},
      {"Expand", {ints({2, 1, 1, 1, 1})}, {}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type + " " + std::to_string(&c - cases.data()));
    ConvGraph g;
    std::vector<ValueId> inputs = {g.conv()};
    for (const Tensor& parameter : c.parameters)
      inputs.push_back(g.constant("p" + std::to_string(inputs.size()), parameter));
    g.output(g.node("Relu", {g.node(c.type, inputs, "changed", c.attributes)}, "out"));
    Graph graph = g.finish();
    const auto before = run(graph);
    const auto removed = remove_no_ops(graph);
    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(*removed, c.goes ? 1 : 0);
    expect_same(run(graph), before);
  }
}

/// A shape put together of what Shape says of the input, as exporters write it.
TEST(Passes, ComputedShapesBecomeConstant) {
  ConvGraph g;
  const ValueId shape = g.node("Shape", {g.conv()}, "shape");
  const auto size = [&](std::int64_t axis, const std::string& name) {
    return g.node("Gather", {shape, g.constant(name + ".axis", ints({axis}))}, name);
  };
  const ValueId twelve = g.constant("twelve", ints({12}));
  const ValueId flat =
      g.node("Concat", {size(0, "n"), size(1, "c"), twelve}, "flat", {{"axis", std::int64_t{0}}});
  const ValueId rows = g.node("Mul", {size(0, "n2"), size(2, "h")}, "rows");
  const ValueId joined = g.node("Concat", {rows, twelve}, "joined", {{"axis", std::int64_t{0}}});
  const ValueId a = g.node("Reshape", {g.conv(), flat}, "a");
  g.output(g.node("Reshape", {a, joined}, "out"));
  Graph graph = g.finish();
  const auto before = run(graph);
  const auto fixed = fix_reshapes(graph);
  ASSERT_TRUE(fixed) << fixed.error().message;
  EXPECT_EQ(*fixed, 2);
  EXPECT_EQ(elements_as_int64(graph.value(graph.nodes().back().inputs[1]).constant),
            (std::vector<std::int64_t>{-1, 12}));
  ASSERT_TRUE(remove_dead_nodes(graph));
  EXPECT_EQ(types(graph), (Types{"Conv", "Reshape", "Reshape"}));
  expect_same(run(graph), before);
}

/// Sizes that are not proved to have as many elements could hide an error of the model.
TEST(Passes, AShapeThatMayNotFitStaysComputed) {
  ConvGraph g;
  const ValueId shape = g.node("Shape", {g.conv()}, "shape");
  const ValueId n = g.node("Gather", {shape, g.constant("zero", ints({0}))}, "n");
  const ValueId less = g.node("Sub", {n, g.constant("one", ints({1}))}, "less");
  const ValueId wanted = g.node("Concat", {less, g.constant("rest", ints({48}))}, "wanted",
                                {{"axis", std::int64_t{0}}});
  g.output(g.node("Reshape", {g.conv(), wanted}, "out"));
  Graph graph = g.finish();
  const auto fixed = fix_reshapes(graph);
  ASSERT_TRUE(fixed) << fixed.error().message;
  EXPECT_EQ(*fixed, 0);
}

/// Nodes without inputs, and with a first one left out.
TEST(Passes, NodesMayHaveNoInputs) {
  ConvGraph g;
  const std::vector<std::int64_t> sizes = {2, 4, 4, 3};
  const ValueId noise = g.node("RandomUniform", {}, "noise", {{"shape", sizes}});
  g.output(g.node("Add", {g.conv(), noise}, "out"));
  Graph graph = g.finish();
  const auto done = optimize(graph);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(types(graph), (Types{"Conv", "RandomUniform", "Add"}));
}

/// Two sizes that only a run tells cannot both be open.
TEST(Passes, AShapeWithTwoOpenSizesStaysComputed) {
  GraphBuilder builder("two");
  const SymbolicShape open = {Dim::symbol("a"), Dim::symbol("b")};
  const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, open));
  const ValueId shape = builder.add_value("shape");
  builder.add_node(
      {.name = "s", .op_type = "Shape", .opset = 15, .inputs = {x}, .outputs = {shape}});
  const ValueId order = builder.add_constant("order", ints({1, 0}));
  const ValueId turned = builder.add_value("turned");
  builder.add_node({.name = "g",
                    .op_type = "Gather",
                    .opset = 15,
                    .inputs = {shape, order},
                    .outputs = {turned}});
  const ValueId out = builder.add_value("out");
  builder.add_node(
      {.name = "r", .op_type = "Reshape", .opset = 15, .inputs = {x, turned}, .outputs = {out}});
  builder.add_output(out);
  auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto fixed = fix_reshapes(*graph);
  ASSERT_TRUE(fixed) << fixed.error().message;
  EXPECT_EQ(*fixed, 0);
}

/// Two constants of the same bytes, the nodes that read them, and what follows those in turn.
TEST(Passes, EqualConstantsAndNodesBecomeOne) {
  ConvGraph g;
  const ValueId one = g.constant("one", numbers({4, 1, 1}, 0.5F, 1));
  const ValueId same = g.constant("same", numbers({4, 1, 1}, 0.5F, 1));
  const ValueId reshaped = g.constant("reshaped", numbers({4, 1}, 0.5F, 1));
  const ValueId a = g.node("Relu", {g.node("Add", {g.conv(), one}, "sum1")}, "a");
  const ValueId b = g.node("Relu", {g.node("Add", {g.conv(), same}, "sum2")}, "b");
  const ValueId c = g.node("Relu", {g.node("Add", {g.conv(), reshaped}, "sum3")}, "c");
  g.output(g.node("Sub", {g.node("Mul", {a, b}, "product"), c}, "out"));
  Graph graph = g.finish();
  const auto before = run(graph);
  const auto merged = merge_duplicates(graph);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(*merged, 3);  // the constant, the sum and the Relu
  ASSERT_TRUE(remove_dead_nodes(graph));
  EXPECT_EQ(std::ranges::count(types(graph), "Add"), 2);
  expect_same(run(graph), before);
}

/// Nodes that differ in an attribute, that draw random numbers, and that make two outputs.
TEST(Passes, NodesThatMayDifferStayApart) {
  ConvGraph g;
  const ValueId a = g.node("RandomUniformLike", {g.conv()}, "a");
  const ValueId b = g.node("RandomUniformLike", {g.conv()}, "b");
  const ValueId c = g.node("LeakyRelu", {g.conv()}, "c", {{"alpha", 0.1F}});
  const ValueId d = g.node("LeakyRelu", {g.conv()}, "d", {{"alpha", 0.2F}});
  for (const ValueId out : {a, b, c, d, g.node("Relu", {c}, "e"), g.node("Relu", {c}, "f")})
    g.output(out);
  Graph graph = g.finish();
  const auto merged = merge_duplicates(graph);
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(*merged, 0);
}

TEST(Passes, AnIdentityFromInputToOutputStays) {
  ConvGraph g;
  g.output(g.node("Identity", {g.input()}, "out"));
  Graph graph = g.finish();
  ASSERT_TRUE(optimize(graph));
  EXPECT_EQ(types(graph), Types{"Identity"});
}

TEST(Passes, SkippedPassesDoNothing) {
  ConvGraph g;
  g.output(g.norm());
  Graph graph = g.finish();
  const auto records = optimize(graph, {.skip = {"fold-batch-norm"}, .changed = {}});
  ASSERT_TRUE(records);
  EXPECT_EQ(types(graph), (Types{"Conv", "BatchNormalization"}));
}

TEST(Passes, AnUnknownNameIsAnErrorThatListsThem) {
  ConvGraph g;
  g.output(g.norm());
  Graph graph = g.finish();
  const auto records = optimize(graph, {.skip = {"fold-batch-norms"}, .changed = {}});
  ASSERT_FALSE(records);
  EXPECT_NE(records.error().message.find("fold-batch-norm, "), std::string::npos);
}

TEST(Passes, TellsWhatEachPassMadeOfTheGraph) {
  ConvGraph g;
  g.output(g.norm());
  Graph graph = g.finish();
  std::vector<std::string> told;
  const auto records = optimize(
      graph,
      {.skip = {}, .changed = [&](const Pass& pass, const Graph& before, const Graph& after) {
         told.emplace_back(pass.name);
         EXPECT_GT(before.nodes().size(), after.nodes().size());
       }});
  ASSERT_TRUE(records);
  EXPECT_EQ(told, std::vector<std::string>{"fold-batch-norm"});
}

/// Two convolutions over the same input, the first added to the second: a residual of equal shape.
TEST(FuseConv, TakesTheResidualAndTheActivation) {
  ConvGraph g;
  const ValueId other = g.node("Neg", {g.norm()}, "other");
  const ValueId w = g.constant("w2", numbers({4, 3, 3, 3}, 0.2F, -0.04F));
  const ValueId second = g.node("Conv", {g.input(), w}, "second");
  const ValueId sum = g.node("Add", {other, second}, "sum");
  g.output(g.node("Relu", {sum}, "out"));
  Graph graph = g.finish();
  const auto before = run(graph);
  const auto count = apply(cpu::fuse_conv, graph);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 1);
  EXPECT_EQ(types(graph), (Types{"Conv", "BatchNormalization", "Neg", "FusedConv"}));
  expect_same(run(graph), before);
}

/// A broadcast addition is a bias for the kernel to take only when the shapes are equal.
TEST(FuseConv, LeavesABroadcastAdditionAlone) {
  ConvGraph g;
  const ValueId one = g.constant("one", numbers({4, 1, 1}, 1.0F, 0.5F));
  g.output(g.node("Add", {g.conv(), one}, "sum"));
  Graph graph = g.finish();
  const auto before = run(graph);
  const auto count = apply(cpu::fuse_conv, graph);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 0);
  expect_same(run(graph), before);
}

TEST(FuseConv, KeepsWhatAnotherNodeReads) {
  for (const bool conv_is_output : {false, true}) {
    ConvGraph g;
    g.output(g.node("Relu", {g.conv()}, "out"));
    if (conv_is_output) g.output(g.conv());
    Graph graph = g.finish();
    const auto before = run(graph);
    const auto count = apply(cpu::fuse_conv, graph);
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(*count, conv_is_output ? 0 : 1);
    expect_same(run(graph), before);
  }
}

TEST(FuseConv, SiluOnlyWhereTheSigmoidIsReadOnce) {
  for (const bool twice : {false, true}) {
    ConvGraph g;
    const ValueId sigmoid = g.node("Sigmoid", {g.conv()}, "sigmoid");
    const ValueId product = g.node("Mul", {sigmoid, g.conv()}, "product");
    g.output(twice ? g.node("Add", {product, sigmoid}, "out") : product);
    Graph graph = g.finish();
    const auto before = run(graph);
    const auto found = apply(cpu::recognise_activations, graph);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, twice ? 0 : 1);
    expect_same(run(graph), before);
  }
}

/// GELU in the forms that exporters write: what divides or scales x, and where the half stands.
TEST(FuseMatmul, RecognisesGelu) {
  for (const bool divides : {false, true}) {
    for (const bool half_first : {false, true}) {
      ConvGraph g;
      const auto number = [&g](const std::string& name, float value) {
        return g.constant(name, Tensor::from_values<float>({}, std::vector{value}));
      };
      const ValueId scale = number("scale", divides ? 1.41421356F : 0.70710678F);
      const ValueId half = number("half", 0.5F);
      const ValueId scaled = g.node(divides ? "Div" : "Mul", {g.conv(), scale}, "scaled");
      const ValueId erf = g.node("Erf", {scaled}, "erf");
      const ValueId plus = g.node("Add", {number("one", 1), erf}, "plus");
      const ValueId left = half_first ? g.node("Mul", {g.conv(), half}, "left") : g.conv();
      const ValueId product = g.node("Mul", {left, plus}, "product");
      g.output(half_first ? product : g.node("Mul", {product, half}, "out"));
      Graph graph = g.finish();
      const auto before = run(graph);
      const auto found = apply(cpu::recognise_activations, graph);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, 1);
      EXPECT_EQ(types(graph), (Types{"Conv", "Gelu"}));
      expect_same(run(graph), before);
    }
  }
}

/// A number or a bias with more axes than the value gives the result more axes.
TEST(FuseMatmul, LeavesConstantsThatAddAxes) {
  {
    ConvGraph g;
    const auto number = [&g](const std::string& name, const Shape& shape, float value) {
      return g.constant(name, Tensor::from_values<float>(shape, std::vector{value}));
    };
    const ValueId scaled = g.node("Div", {g.conv(), number("scale", {}, 1.41421356F)}, "scaled");
    const ValueId erf = g.node("Erf", {scaled}, "erf");
    const ValueId plus = g.node("Add", {erf, number("one", {1, 1, 1, 1, 1}, 1)}, "plus");
    const ValueId product = g.node("Mul", {g.conv(), plus}, "product");
    g.output(g.node("Mul", {product, number("half", {}, 0.5F)}, "out"));
    Graph graph = g.finish();
    const auto found = apply(cpu::recognise_activations, graph);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, 0);
  }
  ConvGraph g;
  const ValueId b = g.constant("b", numbers({3, 3}, -0.3F, 0.05F));
  const ValueId product = g.node("MatMul", {g.conv(), b}, "product");
  g.output(g.node("Add", {product, g.constant("bias", numbers({1, 1, 1, 1, 3}, 1, 1))}, "out"));
  Graph graph = g.finish();
  const auto fused = apply(cpu::fuse_matmul, graph);
  ASSERT_TRUE(fused) << fused.error().message;
  EXPECT_EQ(*fused, 0);
}

TEST(FuseMatmul, LeavesWhatIsNearlyGelu) {
  ConvGraph g;
  const auto number = [&g](const std::string& name, float value) {
    return g.constant(name, Tensor::from_values<float>({}, std::vector{value}));
  };
  const ValueId scaled = g.node("Mul", {g.conv(), number("scale", 0.75F)}, "scaled");
  const ValueId plus = g.node("Add", {g.node("Erf", {scaled}, "erf"), number("one", 1)}, "plus");
  const ValueId product = g.node("Mul", {g.conv(), plus}, "product");
  g.output(g.node("Mul", {product, number("half", 0.5F)}, "out"));
  Graph graph = g.finish();
  const auto found = apply(cpu::recognise_activations, graph);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, 0);
}

/// MatMul, bias, residual, activation: all of them, and what comes in another order or shape.
TEST(FuseMatmul, TakesBiasResidualAndActivation) {
  struct Case {
    bool bias, residual, relu, wide_bias;
    int nodes;  ///< left beside the Conv
  };
  for (const Case& c : {Case{true, true, true, false, 1}, Case{true, false, false, false, 1},
                        Case{false, true, true, false, 1}, Case{false, false, true, false, 1},
                        Case{true, false, false, true, 2}}) {
    ConvGraph g;
    const ValueId b = g.constant("b", numbers({3, 3}, -0.3F, 0.05F));
    ValueId value = g.node("MatMul", {g.conv(), b}, "product");
    if (c.bias) {
      // One number per column is a bias; one per row is not.
      const Shape shape = c.wide_bias ? Shape{4, 1} : Shape{3};
      value = g.node("Add", {g.constant("bias", numbers(shape, 1, 0.5F)), value}, "biased");
    }
    if (c.residual) value = g.node("Add", {value, g.conv()}, "sum");
    if (c.relu) value = g.node("Relu", {value}, "cut");
    g.output(value);
    Graph graph = g.finish();
    const auto before = run(graph);
    const auto fused = apply(cpu::fuse_matmul, graph);
    ASSERT_TRUE(fused) << fused.error().message;
    EXPECT_EQ(graph.nodes().size(), static_cast<std::size_t>(c.nodes) + 1);
    expect_same(run(graph), before);
  }
}

}  // namespace
}  // namespace trivet

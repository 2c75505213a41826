// Each form that exporters write is put together and computes the same; what nearly is one stays.
#include "passes/recompose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <random>

#include "graph/writer_for_test.h"
#include "onnx/reader.h"
#include "runtime/reference_for_test.h"

namespace trivet {
namespace {

constexpr int kOpset = 24;

using Writer = GraphWriter;
using Inputs = std::vector<ValueId>;
using Form = std::function<ValueId(Writer&, const Inputs&)>;

class Recompose : public ::testing::Test {
 protected:
  Tensor random_tensor(const Shape& shape, float scale = 2) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    std::normal_distribution<float> distribution(0, scale);
    for (float& v : values) v = distribution(random_);
    return Tensor::from_values(shape, values);
  }
  std::int64_t size() { return std::uniform_int_distribution<std::int64_t>(2, 6)(random_); }

  Graph flat(const Form& form, const std::vector<Shape>& shapes, DType dtype = DType::kFloat32) {
    GraphBuilder builder("flat");
    Inputs inputs = declare(builder, shapes, dtype);
    Writer writer(builder, kOpset);
    writer.dtype = dtype;
    const ValueId out = form(writer, inputs);
    builder.add_output(out);
    return finish(builder);
  }

  /// The form in the branches of an If, over values of the graph around it.
  Graph nested(const Form& form, const std::vector<Shape>& shapes) {
    GraphBuilder builder("nested");
    Inputs inputs = declare(builder, shapes, DType::kFloat32);
    const ValueId condition =
        builder.add_input("condition", ValueType::tensor(DType::kBool, SymbolicShape{}));
    const ValueId out = builder.add_value("chosen");
    Node node{.name = "If", .op_type = "If", .opset = kOpset, .inputs = {condition}};
    node.outputs = {out};
    for (const char* branch : {"then_branch", "else_branch"}) {
      GraphBuilder body(branch);
      Inputs captured;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        captured.push_back(body.add_capture(cat("x", i), inputs[i], {}));
      Writer writer(body, kOpset, branch);
      body.add_output(form(writer, captured));
      node.attributes.set(branch, std::make_shared<Graph>(finish(body)));
    }
    builder.add_node(std::move(node));
    builder.add_output(out);
    return finish(builder);
  }

  /// It is found once, as `op` and nothing else beside `rest`, and computes what it did.
  void expect_found(const std::string& op, const Form& form, const std::vector<Shape>& shapes,
                    const std::vector<std::string>& rest = {}) {
    SCOPED_TRACE(op);
    Graph graph = flat(form, shapes);
    const std::vector<Tensor> before = run(graph, shapes, {});
    const auto done = recompose(graph, kOpset);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(*done, (Recomposed{{op, 1}}));
    std::vector<std::string> wanted = rest;
    wanted.push_back(op);
    EXPECT_TRUE(std::ranges::is_permutation(types(graph), wanted));
    expect_same(run(graph, shapes, {}), before);

    Graph inside = nested(form, shapes);
    const auto condition = Tensor::scalar(true);
    const std::vector<Tensor> chosen = run(inside, shapes, {condition});
    const auto two = recompose(inside, kOpset);
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_EQ(*two, (Recomposed{{op, 2}}));
    expect_same(run(inside, shapes, {condition}), chosen);
  }

  void expect_left(const std::string& what, const Form& form, const std::vector<Shape>& shapes,
                   int opset = kOpset, DType dtype = DType::kFloat32) {
    SCOPED_TRACE(what);
    Graph graph = flat(form, shapes, dtype);
    const std::vector<std::string> before = types(graph);
    const auto done = recompose(graph, opset);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(*done, Recomposed{});
    EXPECT_EQ(types(graph), before);
  }

  static std::vector<std::string> types(const Graph& graph) {
    std::vector<std::string> out;
    for (const Node& node : graph.nodes()) out.push_back(node.op_type);
    return out;
  }

  /// Inputs are the same for the same shapes.
  static std::vector<Tensor> run(const Graph& graph, const std::vector<Shape>& shapes,
                                 const std::vector<Tensor>& more) {
    std::mt19937 random(7);
    std::normal_distribution<float> distribution(0.3F, 2);
    std::vector<Tensor> inputs;
    for (const Shape& shape : shapes) {
      std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
      for (float& v : values) v = distribution(random);
      inputs.push_back(Tensor::from_values(shape, values));
    }
    inputs.insert(inputs.end(), more.begin(), more.end());
    return run_in_reference(graph, inputs);
  }

  static void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    ASSERT_FALSE(a.empty());
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(a[k].shape(), b[k].shape());
      double largest = 0;
      for (const float v : b[k].data<float>()) largest = std::max(largest, std::fabs(double{v}));
      for (std::size_t i = 0; i < b[k].data<float>().size(); ++i)
        ASSERT_NEAR(a[k].data<float>()[i], b[k].data<float>()[i], 1e-5 * largest)
            << "element " << i;
    }
  }

  std::mt19937 random_{20261207};

 private:
  static Inputs declare(GraphBuilder& builder, const std::vector<Shape>& shapes, DType dtype) {
    Inputs out;
    for (const Shape& shape : shapes) {
      SymbolicShape symbolic(shape.begin(), shape.end());
      // The batch is open, as in most models.
      if (shape.size() > 1) symbolic[0] = Dim::symbol("n");
      out.push_back(builder.add_input(cat("x", out.size()), ValueType::tensor(dtype, symbolic)));
    }
    return out;
  }
  static Graph finish(GraphBuilder& builder) {
    auto graph = builder.finish();
    EXPECT_TRUE(graph) << graph.error().message;
    return *std::move(graph);
  }
};

using Strings = std::vector<std::string>;

// ---------------------------------------------------------------- activations

/// x, 0.5 and 1 + erf in one order of factors.
ValueId erf_gelu(Writer& w, ValueId x, int order, double half = 0.5, double root = std::sqrt(2.0),
                 double one = 1) {
  const ValueId scaled =
      order % 2 == 0 ? w.node("Div", {x, w.number(root)}) : w.node("Mul", {w.number(1 / root), x});
  const ValueId erf = w.node("Erf", {scaled});
  const ValueId plus = order % 2 == 0 ? w.node("Add", {w.number(one), erf})
                                      : w.node("Add", {erf, w.number(one, {1})});
  switch (order / 2) {
    case 0: return w.node("Mul", {w.node("Mul", {x, plus}), w.number(half)});
    case 1: return w.node("Mul", {w.node("Mul", {w.number(half), x}), plus});
    case 2: return w.node("Mul", {x, w.node("Mul", {plus, w.number(half)})});
    case 3: return w.node("Div", {w.node("Mul", {plus, x}), w.number(1 / half)});
    default: {  // the half goes into the sum
      const ValueId part = w.node("Mul", {erf, w.number(half)});
      return w.node("Mul", {w.node("Add", {part, w.number(half * one)}), x});
    }
  }
}

/// The last order leaves an Add that nobody reads, which is dead code and not of the pattern.
TEST_F(Recompose, GeluByErf) {
  for (int order = 0; order < 8; ++order) {
    SCOPED_TRACE(order);
    expect_found("Gelu", [&](Writer& w, const Inputs& in) { return erf_gelu(w, in[0], order); },
                 {{size(), size(), size()}});
  }
  expect_found("Gelu",
               [](Writer& w, const Inputs& in) {
                 const ValueId erf = w.node("Erf", {w.node("Mul", {in[0], w.number(0.70710677)})});
                 const ValueId half = w.node("Mul", {w.number(0.5), erf});
                 return w.node("Mul", {in[0], w.node("Add", {half, w.number(0.5)})});
               },
               {{2, size()}});
}

TEST_F(Recompose, NearlyGelu) {
  const std::vector<Shape> shapes = {{3, 4}};
  expect_left(
      "half", [](Writer& w, const Inputs& in) { return erf_gelu(w, in[0], 0, 0.51); }, shapes);
  expect_left(
      "root", [](Writer& w, const Inputs& in) { return erf_gelu(w, in[0], 2, 0.5, 1.42); }, shapes);
  expect_left(
      "one",
      [](Writer& w, const Inputs& in) {
        return erf_gelu(w, in[0], 4, 0.5, std::numbers::sqrt2, 1.01);
      },
      shapes);
  expect_left(
      "opset", [](Writer& w, const Inputs& in) { return erf_gelu(w, in[0], 0); }, shapes, 19);
  expect_left("another x",
              [](Writer& w, const Inputs& in) {
                const ValueId erf = w.node("Erf", {w.node("Div", {in[0], w.number(1.4142135)})});
                const ValueId plus = w.node("Add", {erf, w.number(1)});
                return w.node("Mul", {w.node("Mul", {in[1], plus}), w.number(0.5)});
              },
              {{3, 4}, {3, 4}});
}

TEST_F(Recompose, GeluWithMoreThanItsParts) {
  const std::vector<Shape> shapes = {{3, 4}};
  expect_left(
      "a reader inside",
      [](Writer& w, const Inputs& in) {
        const ValueId erf = w.node("Erf", {w.node("Div", {in[0], w.number(1.4142135)})});
        const ValueId plus = w.node("Add", {erf, w.number(1)});
        const ValueId y = w.node("Mul", {w.node("Mul", {in[0], plus}), w.number(0.5)});
        return w.node("Add", {y, erf});
      },
      shapes);
  expect_left(
      "an output inside",
      [](Writer& w, const Inputs& in) {
        const ValueId erf = w.node("Erf", {w.node("Div", {in[0], w.number(1.4142135)})});
        w.show(erf);
        const ValueId plus = w.node("Add", {erf, w.number(1)});
        return w.node("Mul", {w.node("Mul", {in[0], plus}), w.number(0.5)});
      },
      shapes);
  expect_left(
      "a number that adds axes",
      [](Writer& w, const Inputs& in) {
        const ValueId erf = w.node("Erf", {w.node("Div", {in[0], w.number(1.4142135)})});
        const ValueId plus = w.node("Add", {erf, w.number(1, {1, 1, 1})});
        return w.node("Mul", {w.node("Mul", {in[0], plus}), w.number(0.5)});
      },
      shapes);
}

ValueId tanh_gelu(Writer& w, ValueId x, int order, double cubic = 0.044715) {
  const ValueId root = w.number(std::sqrt(2 / std::numbers::pi));
  ValueId inner = kNoValue;
  if (order == 3) {  // √(2/π)·x·(1 + 0.044715·x²)
    const ValueId square = w.node("Mul", {w.node("Mul", {x, x}), w.number(cubic)});
    const ValueId sum = w.node("Add", {w.number(1), square});
    inner = w.node("Mul", {w.node("Mul", {root, x}), sum});
  } else {
    const ValueId cube = order == 0   ? w.node("Pow", {x, w.number(3)})
                         : order == 1 ? w.node("Mul", {x, w.node("Mul", {x, x})})
                                      : w.node("Mul", {w.node("Pow", {x, w.number(2)}), x});
    const ValueId sum = w.node("Add", {x, w.node("Mul", {w.number(cubic), cube})});
    inner = w.node("Mul", {root, sum});
  }
  const ValueId plus = w.node("Add", {w.node("Tanh", {inner}), w.number(1)});
  return order % 2 == 0 ? w.node("Mul", {w.node("Mul", {w.number(0.5), x}), plus})
                        : w.node("Mul", {x, w.node("Mul", {w.number(0.5), plus})});
}

TEST_F(Recompose, GeluByTanh) {
  for (int order = 0; order < 4; ++order) {
    expect_found("Gelu", [&](Writer& w, const Inputs& in) { return tanh_gelu(w, in[0], order); },
                 {{size(), size(), size()}});
    expect_left("cubic",
                [&](Writer& w, const Inputs& in) { return tanh_gelu(w, in[0], order, 0.0448); },
                {{2, 3}});
  }
}

TEST_F(Recompose, HardSwish) {
  const auto by_sigmoid = [](double alpha, double beta) {
    return [=](Writer& w, const Inputs& in) {
      const ValueId gate =
          w.node("HardSigmoid", {in[0]},
                 {{"alpha", static_cast<float>(alpha)}, {"beta", static_cast<float>(beta)}});
      return w.node("Mul", {gate, in[0]});
    };
  };
  expect_found("HardSwish", by_sigmoid(1.0 / 6, 0.5), {{size(), size()}});
  expect_left("alpha", by_sigmoid(0.2, 0.5), {{2, 3}});
  expect_left("beta", by_sigmoid(1.0 / 6, 0.4), {{2, 3}});
  const auto by_clip = [](int order, double top, double term) {
    return [=](Writer& w, const Inputs& in) {
      const ValueId sum = w.node("Add", {in[0], w.number(term)});
      const ValueId clip =
          order == 3 ? w.node("Clip", {sum}, {{"min", 0.0F}, {"max", static_cast<float>(top)}}, 6)
                     : w.node("Clip", {sum, w.number(0), w.number(top)});
      switch (order) {
        case 0: return w.node("Div", {w.node("Mul", {in[0], clip}), w.number(6)});
        case 1: return w.node("Mul", {in[0], w.node("Div", {clip, w.number(6)})});
        case 2: return w.node("Mul", {w.node("Mul", {w.number(1.0 / 6), in[0]}), clip});
        default: return w.node("Mul", {w.node("Mul", {clip, w.number(1.0 / 6)}), in[0]});
      }
    };
  };
  for (int order = 0; order < 4; ++order) {
    expect_found("HardSwish", by_clip(order, 6, 3), {{size(), size()}});
    expect_left("bound", by_clip(order, 5.9, 3), {{2, 3}});
    expect_left("term", by_clip(order, 6, 3.1), {{2, 3}});
  }
}

TEST_F(Recompose, SwishAndMish) {
  const auto swish = [](double alpha) {
    return [=](Writer& w, const Inputs& in) {
      const ValueId x = alpha == 1 ? in[0] : w.node("Mul", {in[0], w.number(alpha)});
      return w.node("Mul", {in[0], w.node("Sigmoid", {x})});
    };
  };
  expect_found("Swish", swish(1), {{size(), size()}});
  expect_found("Swish", swish(1.702), {{size(), size()}});
  expect_left("opset", swish(1), {{2, 3}}, 23);
  expect_left("a term",
              [](Writer& w, const Inputs& in) {
                const ValueId x = w.node("Add", {in[0], w.number(0.1)});
                return w.node("Mul", {in[0], w.node("Sigmoid", {x})});
              },
              {{2, 3}});
  const auto mish = [](bool parts, double one) {
    return [=](Writer& w, const Inputs& in) {
      const ValueId plus =
          parts ? w.node("Log", {w.node("Add", {w.number(one), w.node("Exp", {in[0]})})})
                : w.node("Softplus", {in[0]});
      return w.node("Mul", {w.node("Tanh", {plus}), in[0]});
    };
  };
  expect_found("Mish", mish(false, 1), {{size(), size()}});
  expect_found("Mish", mish(true, 1), {{size(), size()}});
  expect_left("one", mish(true, 1.1), {{2, 3}});
  expect_left("opset", mish(false, 1), {{2, 3}}, 17);
}

// ---------------------------------------------------------------- norms

struct Norm {
  std::vector<std::int64_t> axes = {-1};
  std::vector<std::int64_t> second = {};  ///< axes of the variance; as `axes` where empty
  int square = 0;                         ///< Pow, Mul
  int root = 0;                           ///< Div by Sqrt, Mul by Reciprocal, by 1/Sqrt, Pow -0.5
  int opset = kOpset;
  bool centre = true;
  bool two_subs = false;
  Shape scale = {};
  Shape bias = {};
  bool scale_first = false;  ///< scale · 1/√… before it meets the rest
};

ValueId mean_of(Writer& w, ValueId x, const std::vector<std::int64_t>& axes, int opset) {
  return opset >= 18 ? w.node("ReduceMean", {x, w.ints(axes)}, {}, opset)
                     : w.node("ReduceMean", {x}, {{"axes", axes}}, opset);
}

Tensor varied(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.4F + 0.3F * static_cast<float>(i % 5);
  return Tensor::from_values(shape, values);
}

ValueId write_norm(Writer& w, ValueId x, const Norm& n) {
  const ValueId mean = n.centre ? mean_of(w, x, n.axes, n.opset) : kNoValue;
  const ValueId d = n.centre ? w.node("Sub", {x, mean}) : x;
  const ValueId again = n.two_subs ? w.node("Sub", {x, mean}) : d;
  const ValueId square = n.square == 0 ? w.node("Pow", {d, w.number(2)}) : w.node("Mul", {d, d});
  const ValueId variance = mean_of(w, square, n.second.empty() ? n.axes : n.second, n.opset);
  const ValueId sum = w.node("Add", {variance, w.number(1e-3)});
  const bool divides = n.root == 0 && !n.scale_first;
  ValueId root = n.root == 3 ? w.node("Pow", {sum, w.number(-0.5)}) : w.node("Sqrt", {sum});
  if (n.root == 2) root = w.node("Div", {w.number(1), root});
  if (n.root == 1 || (n.root == 0 && n.scale_first)) root = w.node("Reciprocal", {root});
  if (n.scale_first) root = w.node("Mul", {root, w.tensor(varied(n.scale))});
  ValueId y = divides ? w.node("Div", {again, root}) : w.node("Mul", {root, again});
  if (!n.scale_first && !n.scale.empty()) y = w.node("Mul", {y, w.tensor(varied(n.scale))});
  return n.bias.empty() ? y : w.node("Add", {w.tensor(varied(n.bias)), y});
}

Form norm(const Norm& n) {
  return [n](Writer& w, const Inputs& in) { return write_norm(w, in[0], n); };
}

TEST_F(Recompose, LayerNormalization) {
  const std::string op = "LayerNormalization";
  for (int root = 0; root < 4; ++root) {
    const std::int64_t c = size();
    const std::vector<Shape> shapes = {{size(), size(), c}};
    for (const int opset : {17, kOpset}) {
      expect_found(op, norm({.square = root % 2, .root = root, .opset = opset}), shapes);
      expect_found(op, norm({.axes = {2}, .root = root, .opset = opset, .scale = {c}, .bias = {c}}),
                   shapes);
      expect_found(op, norm({.root = root, .opset = opset, .two_subs = true, .bias = {c}}), shapes);
    }
    expect_found(op, norm({.root = root, .scale = {1, 1, c}, .bias = {1, c}, .scale_first = true}),
                 shapes);
  }
  expect_found(op, norm({.axes = {2, 3}, .scale = {4, 5}, .bias = {4, 5}}), {{2, 3, 4, 5}});
  expect_found(op, norm({.axes = {-1, -2}, .scale = {1, 1, 4, 5}}), {{2, 3, 4, 5}});
}

TEST_F(Recompose, NearlyLayerNormalization) {
  const std::vector<Shape> shapes = {{2, 4, 4}};
  expect_left("opset", norm({.scale = {4}, .bias = {4}}), shapes, 16);
  expect_left("float64", norm({.scale = {4}, .bias = {4}}), shapes, kOpset, DType::kFloat64);
  expect_left("axis in the middle", norm({.axes = {1}}), shapes, 22);
  expect_left("two sets of axes", norm({.axes = {2}, .second = {1}}), shapes);
  expect_left("axes that do not end at the last", norm({.axes = {0, 2}}), shapes);
  const auto with_eps = [](int what) {
    return [what](Writer& w, const Inputs& in) {
      const ValueId d = w.node("Sub", {in[0], mean_of(w, in[0], {-1}, kOpset)});
      const ValueId square = w.node("Pow", {d, w.number(what == 1 ? 3 : 2)});
      ValueId sum = w.node("Add", {mean_of(w, square, {-1}, kOpset), w.number(1e-5)});
      if (what == 2) sum = w.node("Mul", {sum, w.number(2)});
      if (what == 3) w.show(sum);
      return w.node(what == 4 ? "Mul" : "Div", {d, w.node("Sqrt", {sum})});
    };
  };
  expect_found("LayerNormalization", with_eps(0), shapes);
  expect_left("a cube", with_eps(1), shapes);
  expect_left("a variance that is scaled", with_eps(2), shapes);
  expect_left("an output inside", with_eps(3), shapes);
  expect_left("a product with the deviation", with_eps(4), shapes);
}

/// What does not fit as scale or bias stays a node of its own behind the operator.
TEST_F(Recompose, ParametersOfOtherShapesStayOutside) {
  expect_found("LayerNormalization", norm({.scale = {4, 1}}), {{2, 4, 3}}, {"Mul"});
}

TEST_F(Recompose, RmsNormalization) {
  for (int root = 0; root < 4; ++root) {
    const std::int64_t c = size();
    const std::vector<Shape> shapes = {{size(), size(), c}};
    expect_found("RMSNormalization", norm({.square = root % 2, .root = root, .centre = false}),
                 shapes);
    expect_found("RMSNormalization",
                 norm({.axes = {2}, .root = root, .centre = false, .scale = {c}}), shapes);
    expect_left("opset", norm({.root = root, .centre = false, .scale = {c}}), shapes, 22);
    expect_left("axis", norm({.axes = {1}, .root = root, .centre = false}), shapes);
  }
}

struct Group {
  std::vector<std::int64_t> apart = {0, 2, -1};
  float ones = 1;
  Shape scale = {};
  Shape bias = {};
};

Form group(const Group& g) {
  return [g](Writer& w, const Inputs& in) {
    const ValueId apart = w.node("Reshape", {in[0], w.ints(g.apart)});
    const std::int64_t groups = g.apart[1];
    const std::vector<float> ones(static_cast<std::size_t>(groups), g.ones);
    const ValueId scale = w.tensor(Tensor::from_values<float>({groups}, ones));
    const ValueId zero =
        w.tensor(Tensor::from_values<float>({groups}, std::vector<float>(ones.size(), 0)));
    const ValueId norm =
        w.node("InstanceNormalization", {apart, scale, zero}, {{"epsilon", 1e-3F}});
    ValueId y = w.node("Reshape", {norm, w.node("Shape", {in[0]})});
    if (!g.scale.empty()) y = w.node("Mul", {w.tensor(varied(g.scale)), y});
    return g.bias.empty() ? y : w.node("Add", {y, w.tensor(varied(g.bias))});
  };
}

TEST_F(Recompose, GroupNormalization) {
  const std::vector<Shape> shapes = {{size(), 6, size(), size()}};
  const Strings rest = {"Shape"};  // dead, for another pass to remove
  expect_found("GroupNormalization", group({}), shapes, rest);
  expect_found("GroupNormalization", group({.scale = {6, 1, 1}, .bias = {6, 1, 1}}), shapes, rest);
  expect_found("GroupNormalization", group({.scale = {1, 6, 1, 1}}), shapes, rest);
  expect_found("GroupNormalization", group({.apart = {0, 3, -1}, .bias = {1, 6, 1, 1}}), shapes,
               rest);
  expect_left("opset", group({.scale = {6, 1, 1}, .bias = {6, 1, 1}}), shapes, 20);
  expect_left("a scale per group", group({.ones = 1.5F}), shapes);
  expect_left("groups across images", group({.apart = {2, 4, -1}}), {{2, 6, 4, 5}});
  expect_left("groups that do not divide", group({.apart = {0, 4, -1}}), {{2, 6, 4, 5}});
}

// ---------------------------------------------------------------- attention

struct Attend {
  std::vector<std::int64_t> perm = {0, 1, 3, 2};
  int scaled = 0;  ///< after the product; q; q and k before; q and k after the Transpose
  Shape mask = {};
  std::int64_t axis = -1;
  bool shown = false;
  int dropout = -1;  ///< training_mode of one behind the Softmax
};

Form attend(const Attend& a) {
  return [a](Writer& w, const Inputs& in) {
    ValueId q = in[0];
    ValueId k = in[1];
    if (a.scaled >= 1) q = w.node("Mul", {q, w.number(0.7)});
    if (a.scaled == 2) k = w.node("Div", {k, w.number(1.25)});
    k = w.node("Transpose", {k}, {{"perm", a.perm}});
    if (a.scaled == 3) k = w.node("Mul", {w.number(0.6), k});
    ValueId scores = w.node("MatMul", {q, k});
    if (a.scaled == 0) scores = w.node("Mul", {scores, w.number(0.4)});
    if (!a.mask.empty()) scores = w.node("Add", {scores, w.tensor(varied(a.mask))});
    ValueId weights = w.node("Softmax", {scores}, {{"axis", a.axis}});
    if (a.shown) w.show(weights);
    if (a.dropout >= 0) {
      const ValueId training = w.constant(Tensor::scalar(a.dropout == 1));
      weights = w.node("Dropout", {weights, w.number(0.5), training});
    }
    return w.node("MatMul", {weights, in[2]});
  };
}

TEST_F(Recompose, Attention) {
  const std::int64_t l = size();
  const std::int64_t s = size() + 5;
  const std::int64_t d = size();
  const std::vector<Shape> shapes = {{2, 3, l, d}, {2, 3, s, d}, {2, 3, s, 4}};
  for (int scaled = 0; scaled < 4; ++scaled)
    expect_found("Attention", attend({.scaled = scaled}), shapes);
  expect_found("Attention", attend({.mask = {l, s}, .axis = 3}), shapes);
  expect_found("Attention", attend({.scaled = 3, .mask = {1, 3, l, s}}), shapes);
  expect_found("Attention", attend({.mask = {3, 1, s}}), shapes);
  expect_found("Attention", attend({.dropout = 0}), shapes);
  // The keys come as batch x length x heads x size.
  expect_found("Attention", attend({.perm = {0, 2, 3, 1}}),
               {{2, 3, l, d}, {2, s, 3, d}, {2, 3, s, 4}}, {"Transpose"});
}

TEST_F(Recompose, NearlyAttention) {
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {2, 3, 6, 5}, {2, 3, 6, 4}};
  expect_left("opset", attend({}), shapes, 22);
  expect_left("weights that are shown", attend({.shown = true}), shapes);
  expect_left("Dropout in training", attend({.dropout = 1}), shapes);
  expect_left("another axis", attend({.axis = 2}), shapes);
  expect_left("a mask for one key", attend({.mask = {4, 1}}), shapes);
  expect_left("a mask of one axis", attend({.mask = {6}}), shapes);
  expect_left("keys that are not turned", attend({.perm = {0, 1, 2, 3}}),
              {{2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 6, 4}}, 22);
  expect_left("one head of keys for all", attend({}), {{2, 3, 4, 5}, {2, 1, 6, 5}, {2, 1, 6, 4}});
  expect_left("three axes", attend({.perm = {0, 2, 1}}), {{2, 4, 5}, {2, 6, 5}, {2, 6, 4}});
}

// ---------------------------------------------------------------- models

/// As their architectures have them: tools/test_models says how many blocks each model is cut to.
TEST_F(Recompose, CountsInTheSmallModels) {
  const std::map<std::string, Recomposed> wanted = {
      {"convnext_tiny", {{"Gelu", 5}}},
      {"efficientnet_b0", {{"Swish", 22}}},
      {"efficientnet_lite0", {}},
      {"efficientnet_v2_s", {{"Swish", 15}}},
      {"mobilenet_v3_large", {}},
      {"mobilevit_s", {{"Attention", 3}, {"Swish", 17}}},
      {"ocr_cls", {{"HardSwish", 6}}},
      {"ocr_rec", {{"HardSwish", 10}, {"LayerNormalization", 5}, {"Swish", 7}}},
      {"resnet50", {}},
      {"swin_t", {{"Attention", 2}, {"Gelu", 3}}},
      {"swin_v2_t", {{"Gelu", 3}}},
      {"vit_b_16", {{"Gelu", 2}}},
  };
  for (const auto& [name, counts] : wanted) {
    SCOPED_TRACE(name);
    const auto model = read_model(cat(TRIVET_SOURCE_DIR, "/tests/models/", name, ".onnx"));
    ASSERT_TRUE(model) << model.error().message;
    const Graph& graph = *model->graph;
    const auto inference = infer(graph, declared_inputs(graph));
    ASSERT_TRUE(inference) << inference.error().message;
    Recomposed found;
    for (const Decomposition& one : find_decompositions(graph, *inference)) ++found[one.op];
    EXPECT_EQ(found, counts);
  }
}

}  // namespace
}  // namespace trivet

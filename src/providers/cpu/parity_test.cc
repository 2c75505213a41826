#include "measure/parity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <numeric>
#include <optional>

#include "base/cpu_info.h"
#include "providers/cpu/cpu.h"
#include "providers/cpu/parity_for_test.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet::cpu {
namespace {

/// Failing cases after which a test has shown enough.
constexpr int kMostFailures = 5;
/// The operands are of the order of one: an output all below 0.01 is what cancellation left, and is
/// measured as if it were that large.
constexpr double kLeastTolerance = 0.01 * Tolerance::kRelativeAtol;

std::optional<std::int64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoll(text, nullptr, 10);
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string out;
  for (const T& value : values) out += cat(out.empty() ? "" : " ", value);
  return cat("[", out, "]");
}

std::string to_text(const AttributeValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return cat(*i);
  if (const auto* f = std::get_if<float>(&value)) return cat(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* is = std::get_if<std::vector<std::int64_t>>(&value)) return list(*is);
  if (const auto* fs = std::get_if<std::vector<float>>(&value)) return list(*fs);
  return "…";
}

std::string to_text(const Value& value) {
  const Tensor& constant = value.constant;
  if (!constant.defined()) return value.name;
  if (constant.dtype() == DType::kInt64) return list(elements_as_int64(constant));
  if (constant.size() == 1) return cat(element_as_double(constant, 0));
  return cat("constant ", shape_to_string(constant.shape()));
}

std::string to_text(const Graph& graph, const Node& node) {
  std::string inputs;
  for (const ValueId id : node.inputs) {
    inputs += cat(inputs.empty() ? "" : ", ", id == kNoValue ? "none" : to_text(graph.value(id)));
  }
  std::string out = cat(graph.value(node.outputs[0]).name, " = ", node.op_type, "(", inputs, ")");
  for (const Attribute& a : node.attributes.all()) out += cat(" ", a.name, "=", to_text(a.value));
  return cat(out, " opset=", node.opset);
}

using Outputs = Result<std::vector<Tensor>>;

struct Runner {
  const TrvProvider* provider;
  int threads;
  bool optimize;
};

/// The outputs of two runs in the same session.
struct Runs {
  Outputs first;
  Outputs second;
};

Runs run(const Model& model, const std::vector<Tensor>& inputs, const Runner& how, bool twice) {
  const auto session = Session::create(
      model, {.providers = {how.provider}, .threads = how.threads, .optimize = how.optimize});
  if (!session) {
    Outputs refusal = tl::unexpected(session.error());
    return {refusal, refusal};
  }
  Outputs first = (*session)->run(inputs);
  return {first, twice && first ? (*session)->run(inputs) : first};
}

/// Empty when the outputs agree, else what is wrong.
std::string difference(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  if (found.size() != expected.size()) return cat(found.size(), " outputs");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].dtype() != expected[i].dtype()) {
      return cat("output ", i, " has type ", dtype_name(found[i].dtype()));
    }
    const OutputParity parity = compare("", found[i], expected[i], {.atol = {}, .rtol = 0});
    const Tolerance least{.atol = kLeastTolerance, .rtol = 0};
    if (parity.passed() || compare("", found[i], expected[i], least).passed()) continue;
    if (!parity.mismatch.empty()) return cat("output ", i, ": ", parity.mismatch);
    return cat("output ", i, " of shape ", shape_to_string(expected[i].shape()), ": ",
               parity.violations, " of ", parity.elements, " elements differ, the worst by ",
               parity.max_rel_diff, " of the largest magnitude, ", parity.max_abs_diff, "; ",
               parity.nonfinite_mismatches, " are not finite on one side only");
  }
  return {};
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return x.bytes() == y.bytes() && std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
  });
}

/// What one case came to.
struct Outcome {
  std::string failure = {};
  std::string refusal = {};  ///< by both providers
};

/// Against what the reference gave: outputs or a refusal.
std::string check(const Runs& runs, const Outputs& expected) {
  if (!runs.first && !expected) return {};
  if (!runs.first) return cat("cpu refuses: ", runs.first.error().message);
  if (!expected) return cat("the reference refuses: ", expected.error().message);
  if (auto wrong = difference(*runs.first, *expected); !wrong.empty()) return wrong;
  if (!runs.second) return cat("cpu refuses the second run: ", runs.second.error().message);
  return same_bits(*runs.first, *runs.second) ? "" : "the second run gave other bits";
}

Outcome run_case(Generator generator, std::uint64_t seed, bool trace) {
  ParityCase parity_case(seed);
  generator(parity_case);
  auto graph = parity_case.finish();
  if (!graph) return {.failure = cat("no graph: ", graph.error().message)};
  const std::string text = describe(*graph, parity_case.inputs());
  if (trace) std::cerr << "seed " << seed << "\n" << text << std::flush;
  Model model;
  model.graph = std::make_shared<const Graph>(*std::move(graph));
  const Outputs expected =
      run(model, parity_case.inputs(), {&reference_provider(), 1, false}, false).first;
  for (const int threads : {1, 2 + static_cast<int>(seed % 2)}) {
    const Runs runs = run(model, parity_case.inputs(), {&cpu_provider(), threads, true}, true);
    const std::string wrong = check(runs, expected);
    if (!wrong.empty()) return {.failure = cat(wrong, "\nwith ", threads, " threads\n", text)};
  }
  return {.refusal = expected ? "" : cat(expected.error().message, "\n", text)};
}

/// The command that runs one case again.
std::string command(std::uint64_t seed) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto isa = selected_isa();
  return cat("TRIVET_ISA=", isa ? isa_name(*isa) : "?", " TRIVET_PARITY_SEED=", seed,
             " trivet_tests --gtest_filter=", info->test_suite_name(), ".", info->name());
}

}  // namespace

ParityCase::ParityCase(std::uint64_t seed) : random_(seed) {
  declared_ = pick({Declared::kSizes, Declared::kSizes, Declared::kSizes, Declared::kBatch,
                    Declared::kBatch, Declared::kRank, Declared::kRank, Declared::kNothing});
}

std::int64_t ParityCase::integer(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

float ParityCase::real(float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random_);
}

std::int64_t ParityCase::extent(std::int64_t most) {
  if (coin()) return integer(1, std::min<std::int64_t>(most, 9));
  const std::int64_t edge = pick({4, 8, 16, 32, 64}) * integer(1, 2) + integer(-1, 1);
  return std::min(edge, most);
}

Shape ParityCase::shape(std::int64_t rank, std::int64_t most) {
  Shape out;
  for (std::int64_t i = 0; i < rank; ++i) out.push_back(integer(1, most));
  return out;
}

Shape ParityCase::large_shape() {
  Shape out = shape(integer(1, 3), 7);
  const std::int64_t rows = element_count(out);
  out.push_back(integer(30'000, 60'000) / rows);
  std::swap(out.back(), out[static_cast<std::size_t>(integer(0, std::ssize(out) - 1))]);
  return out;
}

std::vector<std::int64_t> ParityCase::permutation(std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  std::ranges::shuffle(perm, random_);
  return perm;
}

std::vector<std::int64_t> ParityCase::axes(std::size_t rank) {
  const auto count = static_cast<std::size_t>(integer(1, static_cast<std::int64_t>(rank)));
  std::vector<std::int64_t> out = permutation(rank);
  out.resize(count);
  std::ranges::sort(out);
  for (std::int64_t& axis : out) axis -= one_in(4) ? static_cast<std::int64_t>(rank) : 0;
  return out;
}

Tensor ParityCase::numbers(const Shape& shape, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = real(low, high);
  return Tensor::from_values(shape, values);
}

ValueType ParityCase::declared_type(const Shape& shape) const {
  if (declared_ == Declared::kNothing) return ValueType::tensor(DType::kFloat32, std::nullopt);
  SymbolicShape out(shape.begin(), shape.end());
  const std::size_t symbols = declared_ == Declared::kRank ? shape.size()
                              : declared_ == Declared::kBatch
                                  ? std::min<std::size_t>(1, shape.size())
                                  : 0;
  // Equal sizes have one name, so that what depends on them can be seen to be equal.
  for (std::size_t i = 0; i < symbols; ++i) out[i] = Dim::symbol(cat("n", shape[i]));
  return ValueType::tensor(DType::kFloat32, std::move(out));
}

Operand ParityCase::input(const Shape& shape, float low, float high) {
  inputs_.push_back(numbers(shape, low, high));
  return {builder_.add_input(name("x"), declared_type(shape)), shape};
}

Operand ParityCase::constant(const Shape& shape, float low, float high) {
  return constant(numbers(shape, low, high));
}

Operand ParityCase::constant(Tensor values) {
  Shape shape = values.shape();
  return {builder_.add_constant(name("c"), std::move(values)), std::move(shape)};
}

float ParityCase::bound(std::int64_t terms) {
  return std::sqrt(3 / static_cast<float>(std::max<std::int64_t>(terms, 3)));
}

Operand ParityCase::weights(const Shape& shape, std::int64_t terms) {
  const float most = bound(terms);
  return one_in(12) ? input(shape, -most, most) : constant(shape, -most, most);
}

Operand ParityCase::operand(const Shape& shape, float low, float high) {
  return coin() ? input(shape, low, high) : constant(shape, low, high);
}

Operand ParityCase::number(float value, Shape shape) {
  return constant(Tensor::from_values(std::move(shape), std::vector{value}));
}

Operand ParityCase::ints(const std::vector<std::int64_t>& values) {
  return constant(Tensor::from_vector(values));
}

Operand ParityCase::node(const std::string& type, const std::vector<Operand>& inputs, Shape shape,
                         std::vector<Attribute> attributes, int opset) {
  return nodes(type, inputs, {std::move(shape)}, std::move(attributes), opset)[0];
}

std::vector<Operand> ParityCase::nodes(const std::string& type, const std::vector<Operand>& inputs,
                                       const std::vector<Shape>& shapes,
                                       std::vector<Attribute> attributes, int opset) {
  Node node{.name = name(type), .op_type = type, .opset = opset};
  for (const Operand& operand : inputs) node.inputs.push_back(operand.id);
  for (Attribute& a : attributes) node.attributes.set(std::move(a.name), std::move(a.value));
  std::vector<Operand> out;
  for (const Shape& shape : shapes) {
    out.push_back({builder_.add_value(name("y")), shape});
    node.outputs.push_back(out.back().id);
  }
  builder_.add_node(std::move(node));
  return out;
}

Operand ParityCase::unary(const std::string& type, const Operand& x,
                          std::vector<Attribute> attributes) {
  return node(type, {x}, x.shape, std::move(attributes));
}

Operand ParityCase::binary(const std::string& type, const Operand& a, const Operand& b) {
  return node(type, {a, b}, broadcast_shape(a.shape, b.shape));
}

Operand ParityCase::transposed(const Operand& x, const std::vector<std::int64_t>& perm) {
  Shape shape;
  for (const std::int64_t axis : perm) shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  return node("Transpose", {x}, shape, {{"perm", perm}});
}

Operand ParityCase::activation(const Operand& x) {
  switch (integer(0, 16)) {
    case 0: return node("Clip", {x, number(0), number(6)}, x.shape);
    case 1: return node("Clip", {x, number(-0.25F)}, x.shape);
    case 2: return node("Clip", {x, {}, number(0.5F)}, x.shape);
    case 3: return node("Clip", {x}, x.shape, {{"min", -0.5F}, {"max", 0.75F}}, 6);
    case 4: return unary("HardSwish", x);
    case 5: return unary("HardSigmoid", x, {{"alpha", 0.3F}, {"beta", 0.4F}});
    case 6: return unary("Sigmoid", x);
    case 7: return unary("Tanh", x);
    case 8: return unary("LeakyRelu", x, {{"alpha", 0.2F}});
    case 9: return binary("Mul", x, unary("Sigmoid", x));
    case 10: return unary("Gelu", x, {{"approximate", pick<std::string>({"none", "tanh"})}});
    case 11: return unary("Swish", x, {{"alpha", pick({1.0F, 1.5F})}});
    case 12: return binary("Mul", x, unary("HardSigmoid", x));
    case 13: {
      const Operand erf = unary("Erf", binary("Div", x, number(1.41421356F)));
      return binary("Mul", binary("Mul", x, binary("Add", erf, number(1))), number(0.5F));
    }
    case 14: return unary(pick<std::string>({"Elu", "Mish", "Softplus", "Abs", "Neg", "Exp"}), x);
    default: return unary("Relu", x);
  }
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (const Shape* shape : {&a, &b}) {
    for (std::size_t i = 0; i < shape->size(); ++i) {
      std::int64_t& d = out[out.size() - shape->size() + i];
      if ((*shape)[i] != 1) d = (*shape)[i];
    }
  }
  return out;
}

std::string describe(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::string out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    out += cat("  ", value.name, ": ", shape_to_string(inputs[i].shape()), ", declared as ",
               to_string(value.type), "\n");
  }
  for (const Node& node : graph.nodes()) out += cat("  ", to_text(graph, node), "\n");
  return out;
}

void expect_parity(Generator generator, int cases) {
  const auto only = number_from("TRIVET_PARITY_SEED");
  const bool trace = number_from("TRIVET_PARITY_TRACE").has_value();
  const std::int64_t first = only.value_or(0);
  const std::int64_t count = only ? 1 : number_from("TRIVET_PARITY_CASES").value_or(cases);
  std::int64_t refused = 0;
  std::string refusal;
  int failures = 0;
  for (std::int64_t i = 0; i < count && failures < kMostFailures; ++i) {
    const auto seed = static_cast<std::uint64_t>(first + i);
    const Outcome outcome = run_case(generator, seed, trace);
    if (!outcome.failure.empty()) {
      ++failures;
      ADD_FAILURE() << command(seed) << "\n" << outcome.failure;
    }
    if (!outcome.refusal.empty()) {
      ++refused;
      refusal = cat(command(seed), "\n", outcome.refusal);
    }
  }
  testing::Test::RecordProperty("refused", cat(refused));
  EXPECT_LE(refused * 10, count) << refused << " of " << count << " cases were refused, the last:\n"
                                 << refusal;
}

namespace {

/// A case must be the same whenever it is made, or its seed would be of no use.
TEST(ParityCase, IsTheSameForTheSameSeed) {
  const auto text = [](std::uint64_t seed) {
    ParityCase parity_case(seed);
    const Operand x = parity_case.input(parity_case.shape(3, 9));
    parity_case.output(parity_case.activation(parity_case.binary("Add", x, parity_case.number(1))));
    const auto graph = parity_case.finish();
    EXPECT_TRUE(graph) << graph.error().message;
    return describe(*graph, parity_case.inputs());
  };
  EXPECT_EQ(text(7), text(7));
  EXPECT_NE(text(7), text(8));
}

TEST(ParityCase, BroadcastsShapes) {
  EXPECT_EQ(broadcast_shape({3, 1}, {2, 1, 5}), (Shape{2, 3, 5}));
  EXPECT_EQ(broadcast_shape({}, {4}), Shape{4});
}

}  // namespace
}  // namespace trivet::cpu

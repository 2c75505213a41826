#include "runtime/session.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "providers/cpu/cpu.h"
#include "runtime/host.h"

namespace trivet {
namespace {

/// tests/providers/flip_sign.c, as the build made it.
std::string library(const std::string& name) {
  return std::string(TRIVET_BINARY_DIR) + "/providers/" + name + ".so";
}

/// Operators with one input and one output, one after the other, on a vector of any length.
Model chain(const std::vector<std::string>& op_types) {
  GraphBuilder builder("chain");
  ValueType type;
  type.dtype = DType::kFloat32;
  type.shape = SymbolicShape{Dim::symbol("n")};
  ValueId value = builder.add_input("x", type);
  for (const std::string& op_type : op_types) {
    const ValueId next = builder.add_value("after" + std::to_string(value));
    Node node;
    node.name = op_type + std::to_string(value);
    node.op_type = op_type;
    node.opset = 13;
    node.inputs = {value};
    node.outputs = {next};
    builder.add_node(std::move(node));
    value = next;
  }
  builder.add_output(value);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 13;
  model.graph = std::make_shared<const Graph>(*std::move(graph));
  return model;
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<float>(i) - 3);
  return out;
}

TEST(LoadedProvider, RunsItsNodesBesideOurs) {
  const auto provider = load_provider(library("flip_sign"));
  ASSERT_TRUE(provider) << provider.error().message;
  const Model model = chain({"Neg", "Relu", "Neg"});
  const auto session = Session::create(
      model, {.providers = {*provider, &cpu_provider()}, .threads = 2, .allow_fallback = true});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->assignment().per_node,
            (std::vector<std::string>{"flip-sign", "cpu", "flip-sign"}));
  EXPECT_EQ((*session)->assignment().parts[0].segments, 2U);
  const auto said = (*session)->describe();
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->front(), R"({"model":"serialized"})");

  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    const std::vector<float> x = ramp(count);
    const auto y = (*session)->run(std::vector{Tensor::from_vector<float>(x)});
    ASSERT_TRUE(y) << y.error().message;
    ASSERT_EQ(y->front().size(), static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(y->front().data<float>()[i], x[i] < 0 ? x[i] : 0) << i;
    }
  }
}

TEST(LoadedProvider, AFallbackIsNeverSilent) {
  const auto provider = load_provider(library("flip_sign"));
  ASSERT_TRUE(provider) << provider.error().message;
  const auto session =
      Session::create(chain({"Neg", "Relu"}), {.providers = {*provider, &cpu_provider()}});
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("Relu"), std::string::npos) << session.error().message;
  EXPECT_NE(session.error().message.find("--allow-fallback"), std::string::npos);
}

TEST(LoadedProvider, ItsErrorsAreOurs) {
  const auto provider = load_provider(library("flip_sign"));
  ASSERT_TRUE(provider) << provider.error().message;
  const auto session = Session::create(chain({"Neg", "Neg"}), {.providers = {*provider}});
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("one Neg at a time"), std::string::npos)
      << session.error().message;
}

TEST(LoadedProvider, WhatCannotServeIsRefused) {
  struct Case {
    std::string path;
    std::string part_of_the_message;
  };
  const Case cases[] = {
      {library("flip_sign_newer"), "was built for version 2 of the provider interface"},
      {library("flip_sign_missing"), "no sign flipper in this machine; plug one in"},
  };
  for (const Case& c : cases) {
    const auto provider = load_provider(c.path);
    ASSERT_TRUE(provider) << provider.error().message;
    const auto session = Session::create(chain({"Neg"}), {.providers = {*provider}});
    ASSERT_FALSE(session) << c.path;
    EXPECT_NE(session.error().message.find(c.part_of_the_message), std::string::npos)
        << session.error().message;
  }
}

TEST(LoadedProvider, WhatIsNoProviderIsRefused) {
  const auto absent = load_provider("/nowhere/provider.so");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("/nowhere/provider.so"), std::string::npos);
  const auto text = load_provider(std::string(TRIVET_SOURCE_DIR) + "/README.md");
  EXPECT_FALSE(text);
  const auto other = load_provider(library("no_provider"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("is not a Trivet provider"), std::string::npos)
      << other.error().message;
}

TEST(LoadedProvider, ATableThatIsTooShortIsRefused) {
  TrvProvider table = cpu_provider();
  table.size = offsetof(TrvProvider, run);
  const auto checked = check_provider(table);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("'cpu'"), std::string::npos) << checked.error().message;
}

/// Two sessions on one pool, run at once from two threads.
TEST(Session, SessionsShareWorkers) {
  const auto pool = std::make_shared<ThreadPool>(3);
  const auto load = [&](const std::vector<std::string>& operators) {
    return Session::create(chain(operators), {.providers = {&cpu_provider()}, .pool = pool});
  };
  const auto negated = load({"Neg"});
  const auto absolute = load({"Neg", "Abs"});
  ASSERT_TRUE(negated && absolute);
  EXPECT_EQ((*negated)->threads(), 3);
  const Tensor x = Tensor::from_vector(std::vector<float>(100'000, 2.0F));
  const auto run = [&x](Session& session, float expected) {
    for (int i = 0; i < 50; ++i) {
      const auto out = session.run(std::vector{x});
      ASSERT_TRUE(out) << out.error().message;
      for (const float v : (*out)[0].data<float>()) ASSERT_EQ(v, expected);
    }
  };
  std::thread other([&] { run(**absolute, 2); });
  run(**negated, -2);
  other.join();
}

TEST(Session, AnInputThatIsTheOutputNeedsNoProvider) {
  const auto session = Session::create(chain({}), {.providers = {&cpu_provider()}});
  ASSERT_TRUE(session) << session.error().message;
  const auto y = (*session)->run(std::vector{Tensor::from_vector<float>({1, 2})});
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(y->front().data<float>()[1], 2);
}

}  // namespace
}  // namespace trivet

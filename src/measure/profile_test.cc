#include "measure/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "io/random_tensor.h"
#include "onnx/reader.h"
#include "providers/cpu/cpu.h"
#include "providers/cpu/fuse.h"
#include "providers/reference/reference.h"
#include "runtime/host.h"

namespace trivet {
namespace {

Node make_node(std::string name, std::string type, std::vector<ValueId> inputs,
               std::vector<ValueId> outputs) {
  Node node;
  node.name = std::move(name);
  node.op_type = std::move(type);
  node.opset = 17;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

ValueType floats(SymbolicShape shape) {
  return ValueType::tensor(DType::kFloat32, std::move(shape));
}

/// x[1, 2, 4, 4] → Conv → Add(conv, x) → Relu → a Sigmoid without a name → out. The first three run
/// as one on cpu.
Model residual_block() {
  GraphBuilder builder("block");
  const ValueId x = builder.add_input("x", floats({1, 2, 4, 4}));
  const ValueId w = builder.add_constant(
      "w", Tensor::from_values<float>({2, 2, 1, 1}, std::vector<float>{1, 2, 3, 4}));
  const ValueId conv = builder.add_value("conv_out");
  const ValueId sum = builder.add_value("sum_out");
  const ValueId relu = builder.add_value("relu_out");
  const ValueId out = builder.add_value("out");
  builder.add_node(make_node("conv", "Conv", {x, w}, {conv}));
  builder.add_node(make_node("sum", "Add", {conv, x}, {sum}));
  builder.add_node(make_node("relu", "Relu", {sum}, {relu}));
  builder.add_node(make_node("", "Sigmoid", {relu}, {out}));
  builder.add_output(out);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  Model model;
  model.graph = std::make_shared<const Graph>(*std::move(graph));
  model.opsets[""] = 17;
  return model;
}

std::unique_ptr<Session> session_on(const Model& model, const TrvProvider& provider) {
  auto session = Session::create(model, {.providers = {&provider}, .threads = 2});
  EXPECT_TRUE(session) << session.error().message;
  return *std::move(session);
}

/// Random tensors, with 1 for each size that the model leaves open.
std::vector<Tensor> inputs_for(const Session& session) {
  std::vector<Tensor> out;
  for (const Port& port : session.inputs()) {
    Shape shape;
    for (const Dim& d : *port.type.shape) shape.push_back(d.is_constant() ? d.value() : 1);
    auto tensor = random_tensor(port.type.dtype, shape, 1);
    EXPECT_TRUE(tensor) << tensor.error().message;
    out.push_back(*std::move(tensor));
  }
  return out;
}

RunProfile profile_of(Session& session) {
  RunProfile profile;
  const auto outputs = session.run_profiled(inputs_for(session), profile);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return profile;
}

/// What holds of every profiled run: steps in order, none beside another, all within the run.
void expect_sound(const RunProfile& profile) {
  std::int64_t now = 0;
  for (const ProfileEvent& event : profile.events) {
    EXPECT_GE(event.start_ns, now);
    EXPECT_GE(event.end_ns, event.start_ns);
    now = event.end_ns;
  }
  EXPECT_LE(now, profile.wall_ns);
}

TEST(RunProfiled, CpuNamesTheNodesOfAFusedStep) {
  const auto session = session_on(residual_block(), cpu_provider());
  const RunProfile profile = profile_of(*session);
  expect_sound(profile);
  ASSERT_EQ(profile.events.size(), 4U);
  EXPECT_TRUE(profile.events[0].nodes.empty());  // the residual is put in blocks of channels
  EXPECT_EQ(profile.events[1].nodes, (std::vector<NodeId>{0, 1, 2}));
  EXPECT_EQ(profile.events[2].nodes, (std::vector<NodeId>{3}));
  EXPECT_TRUE(profile.events[3].nodes.empty());  // the output is put in its own order
  const ProfileStep fused = step_of(session->graph(), profile.events[1]);
  EXPECT_EQ(fused.op, "Conv+Add+Relu");
  EXPECT_EQ(fused.names, (std::vector<std::string>{"conv", "sum", "relu"}));
  EXPECT_EQ(fused.kernel, "conv-planar");
  EXPECT_EQ(fused.provider, "cpu");
  // A node without a name goes by its output.
  EXPECT_EQ(step_of(session->graph(), profile.events[2]).names, std::vector<std::string>{"out"});
}

TEST(RunProfiled, ReferenceTellsEveryNode) {
  const auto session = session_on(residual_block(), reference_provider());
  const RunProfile profile = profile_of(*session);
  expect_sound(profile);
  ASSERT_EQ(profile.events.size(), 4U);
  for (NodeId id = 0; id < 4; ++id) {
    EXPECT_EQ(profile.events[static_cast<std::size_t>(id)].nodes, std::vector<NodeId>{id});
  }
}

TEST(RunProfiled, GivesTheOutputsOfAPlainRun) {
  const auto session = session_on(residual_block(), cpu_provider());
  const std::vector<Tensor> inputs = inputs_for(*session);
  RunProfile profile;
  const auto profiled = session->run_profiled(inputs, profile);
  const auto plain = session->run(inputs);
  ASSERT_TRUE(profiled && plain);
  const auto a = profiled->front().data<float>();
  const auto b = plain->front().data<float>();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

/// A real model whose nodes cpu fuses in several ways: none may be told twice, and what is not told
/// only changes a shape.
TEST(RunProfiled, CpuTellsEveryNodeOfAModelOnce) {
  for (const char* name : {"mobilenet_v3_small", "mobilevit_s", "lstm", "loop", "nested_if"}) {
    SCOPED_TRACE(name);
    const auto model = read_model(cat(TRIVET_SOURCE_DIR, "/tests/models/", name, ".onnx"));
    ASSERT_TRUE(model) << model.error().message;
    const auto session = session_on(*model, cpu_provider());
    const RunProfile profile = profile_of(*session);
    expect_sound(profile);
    const std::vector<Tensor> inputs = inputs_for(*session);
    std::vector<ValueType> types;
    for (const Tensor& tensor : inputs) types.push_back(ValueType::of(tensor));
    const auto cost = count_cost(session->graph(), types);
    ASSERT_TRUE(cost) << cost.error().message;
    std::set<NodeId> computed;  // in a run, and not when the plan is made
    for (const NodeCost& node : cost->nodes) computed.insert(node.node);
    std::vector<int> told(session->graph().nodes().size(), 0);
    for (const ProfileEvent& event : profile.events) {
      const bool conversion = event.kernel == "block" || event.kernel == "unblock";
      EXPECT_EQ(event.nodes.empty(), conversion);
      for (const NodeId id : event.nodes) ++told[static_cast<std::size_t>(id)];
    }
    const std::set<std::string> views = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
    for (std::size_t i = 0; i < told.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      EXPECT_LE(told[i], 1) << session->graph().describe(id);
      const bool free = !computed.contains(id) || views.contains(session->graph().node(id).op_type);
      EXPECT_TRUE(told[i] == 1 || free) << session->graph().describe(id);
    }
  }
}

TEST(RunProfiled, AProviderThatDoesNotReportStepsIsOneStep) {
  TrvProvider silent = cpu_provider();
  silent.run_profiled = nullptr;
  const auto session = session_on(residual_block(), silent);
  const RunProfile profile = profile_of(*session);
  expect_sound(profile);
  ASSERT_EQ(profile.events.size(), 1U);
  EXPECT_EQ(profile.events[0].nodes, (std::vector<NodeId>{0, 1, 2, 3}));
  EXPECT_EQ(profile.events[0].kernel, "");
}

TEST(RunProfiled, ATableThatEndsBeforeRunProfiledServes) {
  TrvProvider older = cpu_provider();
  older.size = offsetof(TrvProvider, run_profiled);
  EXPECT_TRUE(check_provider(older));
  EXPECT_EQ(profiled_run_of(older), nullptr);
  EXPECT_NE(profiled_run_of(cpu_provider()), nullptr);
  older.size -= 1;
  const auto refused = check_provider(older);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("bytes"), std::string::npos);
}

TEST(RunProfiled, AStepOfANodeThatThereIsNotIsAnError) {
  TrvProvider liar = cpu_provider();
  liar.run_profiled = [](TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                         const TrvProfile* profile, TrvError* error) {
    static constexpr std::size_t kNode = 4;
    const TrvStep step{.nodes = &kNode, .node_count = 1, .kernel = {}, .start_ns = 0, .end_ns = 0};
    profile->step(profile->user, &step);
    return cpu_provider().run(compiled, inputs, outputs, error);
  };
  const auto session = session_on(residual_block(), liar);
  RunProfile profile;
  const auto outputs = session->run_profiled(inputs_for(*session), profile);
  ASSERT_FALSE(outputs);
  EXPECT_NE(outputs.error().message.find("node 4"), std::string::npos) << outputs.error().message;
}

TEST(CoveredNodes, OfAGraphThatNothingWasFusedInIsItself) {
  const Model model = residual_block();
  const auto same = cpu::covered_nodes(*model.graph, *model.graph);
  ASSERT_EQ(same.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(same[i], std::vector<std::size_t>{i});
}

TEST(StepCost, WhatPassesInsideAStepIsNeitherReadNorWritten) {
  const Model model = residual_block();
  const Graph& graph = *model.graph;
  const std::vector<ValueType> inputs = {floats({1, 2, 4, 4})};
  const auto cost = count_cost(graph, inputs);
  ASSERT_TRUE(cost) << cost.error().message;
  const double tensor = 2 * 4 * 4 * sizeof(float);
  const double weight = 4 * sizeof(float);
  const std::vector<NodeId> conv = {0};
  EXPECT_EQ(count_step(graph, *cost, conv).bytes, 2 * tensor + weight);
  EXPECT_EQ(count_step(graph, *cost, conv).flops, 2.0 * 2 * 2 * 16);
  // x is read by the convolution and by the addition, relu_out is written.
  const std::vector<NodeId> fused = {0, 1, 2};
  EXPECT_EQ(count_step(graph, *cost, fused).bytes, 3 * tensor + weight);
  EXPECT_EQ(count_step(graph, *cost, fused).flops, 2.0 * 2 * 2 * 16);
  // Without the addition, conv_out has a reader outside.
  const std::vector<NodeId> apart = {0, 2};
  EXPECT_EQ(count_step(graph, *cost, apart).bytes, 4 * tensor + weight);
}

ProfileEvent made_event(std::vector<NodeId> nodes, double start_ms, double end_ms) {
  return {.provider = "cpu",
          .nodes = std::move(nodes),
          .kernel = "k",
          .start_ns = static_cast<std::int64_t>(start_ms * 1e6),
          .end_ns = static_cast<std::int64_t>(end_ms * 1e6)};
}

/// Three runs of 10, 20 and 12 ms; in the last one the Sigmoid runs twice.
ProfileSamples made_samples() {
  ProfileSamples samples;
  samples.runs = {
      {0, 10'000'000, {made_event({0, 1, 2}, 1, 7), made_event({3}, 7, 9)}},
      {0, 20'000'000, {made_event({0, 1, 2}, 1, 17), made_event({3}, 17, 18)}},
      {0, 12'000'000, {made_event({0, 1, 2}, 0, 6), made_event({3}, 6, 8), made_event({3}, 8, 9)}}};
  samples.plain_ms = {10, 11.5, 11};
  return samples;
}

TEST(Profile, TimesAreThoseOfTheMiddleRuns) {
  const Model model = residual_block();
  const std::vector<ValueType> inputs = {floats({1, 2, 4, 4})};
  const auto cost = count_cost(*model.graph, inputs);
  ASSERT_TRUE(cost);
  const Profile profile = summarize_profile(*model.graph, *cost, made_samples());
  EXPECT_EQ(profile.runs, 3U);
  EXPECT_DOUBLE_EQ(profile.run_ms, 12);
  EXPECT_DOUBLE_EQ(*profile.plain_ms, 11);
  EXPECT_DOUBLE_EQ(*profile.overhead(), 12.0 / 11 - 1);
  EXPECT_DOUBLE_EQ(profile.coverage, 0.75);
  ASSERT_EQ(profile.steps.size(), 2U);
  EXPECT_DOUBLE_EQ(profile.steps[0].time_ms, 6);
  EXPECT_DOUBLE_EQ(profile.steps[0].min_ms, 6);
  EXPECT_DOUBLE_EQ(profile.steps[1].time_ms, 3);  // in the run of 12 ms
  EXPECT_DOUBLE_EQ(profile.steps[1].min_ms, 1);
  EXPECT_DOUBLE_EQ(profile.steps_ms(), 9);
  EXPECT_EQ(profile.steps[0].flops, 128.0);
  EXPECT_EQ(profile.steps[1].flops, 0.0);
}

TEST(Profile, AQuarterOfTheRunsAtEachEndDoesNotCount) {
  StepCollector collector({100, 1, 4, 6, 0.5, 5, 7, 90});  // 4, 5, 6 and 7 remain
  const std::vector<double> ms = {99, 1, 3, 5, 0.5, 5, 3, 80};
  for (std::size_t run = 0; run < ms.size(); ++run) {
    collector.add(run, "a", ms[run], [] { return ProfileStep{}; });
  }
  Profile profile;
  collector.finish(profile);
  EXPECT_DOUBLE_EQ(profile.run_ms, 5.5);
  EXPECT_DOUBLE_EQ(profile.steps[0].time_ms, 4);
  EXPECT_DOUBLE_EQ(profile.steps[0].min_ms, 0.5);
  EXPECT_DOUBLE_EQ(profile.coverage, 4 / 5.5);
}

TEST(Profile, RooflineIsTheLongerOfArithmeticAndTraffic) {
  const Roofline machine{.flops_per_s = 100e9, .bytes_per_s = 10e9};
  EXPECT_DOUBLE_EQ(machine.seconds(1e9, 1e6), 0.01);
  EXPECT_DOUBLE_EQ(machine.seconds(1e6, 1e9), 0.1);
  ProfileStep step;
  step.time_ms = 20;
  step.flops = 1e9;
  EXPECT_FALSE(roofline_share(step, machine));
  step.bytes = 1e6;
  EXPECT_DOUBLE_EQ(*roofline_share(step, machine), 0.5);
  EXPECT_DOUBLE_EQ(*intensity(step.flops, step.bytes), 1000);
  EXPECT_FALSE(intensity(step.flops, 0.0));
}

TEST(Profile, OperatorsAreSumsTheLongestFirst) {
  Profile profile;
  const auto add = [&](const char* op, double ms, std::optional<double> flops) {
    ProfileStep step;
    step.op = op;
    step.time_ms = step.min_ms = ms;
    step.flops = flops;
    step.bytes = 10;
    profile.steps.push_back(step);
  };
  add("Relu", 1, 0);
  add("Conv", 4, 100);
  add("Relu", 5, 0);
  add("Conv", 1, std::nullopt);
  const auto operators = times_by_operator(profile);
  ASSERT_EQ(operators.size(), 2U);
  EXPECT_EQ(operators[0].sum.op, "Relu");
  EXPECT_EQ(operators[0].steps, 2U);
  EXPECT_DOUBLE_EQ(operators[0].sum.time_ms, 6);
  EXPECT_EQ(operators[0].sum.flops, 0.0);
  EXPECT_EQ(operators[0].sum.bytes, 20.0);
  EXPECT_FALSE(operators[1].sum.flops) << "one of its steps is not known";
}

TEST(Profile, MeasuresAsOftenAsAsked) {
  const auto session = session_on(residual_block(), cpu_provider());
  int turns = 0;
  const auto samples = measure_profile(*session, inputs_for(*session), {.warmup = 1, .runs = 3},
                                       [&turns] { ++turns; });
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->runs.size(), 3U);
  EXPECT_EQ(samples->plain_ms.size(), 3U);
  EXPECT_EQ(turns, 3);
  for (const RunProfile& run : samples->runs) EXPECT_EQ(run.events.size(), 4U);
  EXPECT_GT(samples->runs[1].start_ns, samples->runs[0].start_ns + samples->runs[0].wall_ns);
}

}  // namespace
}  // namespace trivet

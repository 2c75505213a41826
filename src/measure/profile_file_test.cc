#include "measure/profile_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/temp_dir_for_test.h"
#include "measure/profile_compare.h"
#include "measure/trace_import.h"
#include "onnx/reader.h"
#include "providers/cpu/cpu.h"

namespace trivet {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

std::string profiles_folder() { return cat(TRIVET_SOURCE_DIR, "/tests/profiles/"); }

const ProfileStep* find_step(const Profile& profile, const std::string& name) {
  const auto it = std::ranges::find_if(profile.steps, [&](const ProfileStep& step) {
    return std::ranges::find(step.names, name) != step.names.end();
  });
  return it == profile.steps.end() ? nullptr : &*it;
}

Profile parsed(const std::string& text) {
  auto profile = parse_profile(text);
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? *std::move(profile) : Profile{};
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto profile = parse_profile(text);
  ASSERT_FALSE(profile) << text;
  EXPECT_NE(profile.error().message.find(why), std::string::npos) << profile.error().message;
}

ProfileStep made_step() {
  ProfileStep step;
  step.names = {"conv", "relu"};
  step.outputs = {"conv_out", "relu_out"};
  step.op = "Conv+Relu";
  step.kernel = "conv-gemm";
  step.provider = "cpu";
  step.time_ms = 2;
  step.min_ms = 1.5;
  step.flops = 1e6;
  step.bytes = 1e5;
  return step;
}

Profile made_profile() {
  Profile out;
  out.source = "trivet";
  out.model = "m";
  out.threads = 2;
  out.runs = 20;
  out.run_ms = 8;
  out.coverage = 0.99;
  out.plain_ms = 7.5;
  out.steps = {made_step(), made_step()};
  out.steps[1].names = {"softmax"};
  out.steps[1].op = "Softmax";
  out.steps[1].time_ms = 6;
  out.steps[1].flops = std::nullopt;
  return out;
}

TEST(ProfileJson, SaysTheSharesAndTheRoofline) {
  const Json json = profile_to_json(made_profile(), Roofline{1e9, 1e9});
  EXPECT_DOUBLE_EQ(json["steps_ms"].get<double>(), 8);
  const Json& conv = json["nodes"][0];
  EXPECT_DOUBLE_EQ(conv["share"].get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(conv["flops_per_byte"].get<double>(), 10);
  EXPECT_DOUBLE_EQ(conv["roofline_share"].get<double>(), 0.5);
  EXPECT_TRUE(json["nodes"][1]["flops"].is_null());
  EXPECT_TRUE(json["nodes"][1]["roofline_share"].is_null());
  EXPECT_EQ(json["operators"][0]["op"], "Softmax");
  EXPECT_FALSE(
      profile_to_json(made_profile(), std::nullopt)["nodes"][0].contains("roofline_share"));
}

TEST(ProfileJson, ReadsBackAsItWas) {
  const Profile before = made_profile();
  const Profile after = parsed(profile_to_json(before, std::nullopt).dump());
  EXPECT_EQ(after.source, "trivet");
  EXPECT_EQ(after.model, "m");
  EXPECT_EQ(after.threads, 2);
  EXPECT_EQ(after.runs, 20U);
  EXPECT_EQ(after.run_ms, 8);
  EXPECT_EQ(after.coverage, 0.99);
  EXPECT_EQ(after.plain_ms, 7.5);
  ASSERT_EQ(after.steps.size(), 2U);
  const ProfileStep& step = after.steps[0];
  EXPECT_EQ(step.names, before.steps[0].names);
  EXPECT_EQ(step.outputs, before.steps[0].outputs);
  EXPECT_EQ(step.op, "Conv+Relu");
  EXPECT_EQ(step.kernel, "conv-gemm");
  EXPECT_EQ(step.provider, "cpu");
  EXPECT_EQ(step.time_ms, 2);
  EXPECT_EQ(step.min_ms, 1.5);
  EXPECT_EQ(step.flops, 1e6);
  EXPECT_EQ(after.steps[1].flops, std::nullopt);
}

TEST(ProfileJson, RefusesWhatIsDamaged) {
  const Json good = profile_to_json(made_profile(), std::nullopt);
  const auto with = [&](const Json::json_pointer& at, const Json& value) {
    Json json = good;
    json[at] = value;
    return json.dump();
  };
  using Pointer = Json::json_pointer;
  expect_refused(with(Pointer("/format"), "trivet-profile/2"), "trivet-profile/2");
  expect_refused(with(Pointer("/format"), 1), "'format'");
  expect_refused(with(Pointer("/runs"), -1), "'runs'");
  expect_refused(with(Pointer("/runs"), 1e300), "too large");
  expect_refused(with(Pointer("/run_ms"), "long"), "'run_ms'");
  expect_refused(with(Pointer("/nodes"), Json::object()), "'nodes'");
  expect_refused(with(Pointer("/nodes/1"), 3), "nodes[1]");
  expect_refused(with(Pointer("/nodes/1/names"), {1}), "nodes[1]");
  expect_refused(with(Pointer("/nodes/0/time_ms"), -2), "nodes[0]: 'time_ms'");
  expect_refused(with(Pointer("/nodes/0/bytes"), "many"), "nodes[0]: 'bytes'");
  const std::string text = good.dump();
  expect_refused(text.substr(0, text.size() / 2), "cut off");
}

TEST(ParseProfile, RefusesWhatIsNoProfile) {
  expect_refused("", "not JSON");
  expect_refused("\xff\xfe", "not JSON");
  expect_refused(std::string(100'000, '['), "not JSON");
  expect_refused("3", "no profile");
  expect_refused("{}", "no profile");
  expect_refused(R"({"traceEvents": 3})", "no profile");
  expect_refused("[]", "no operators");
  expect_refused(R"([3, null, "x", {"ph": "X"}, {"ph": 1, "name": [], "cat": {}}])",
                 "no operators");
  expect_refused(R"([{"ph":"X","cat":"Node","name":"a_kernel_time","ts":1,"dur":"x"}])",
                 "event 0: 'dur'");
  expect_refused(R"([{"ph":"X","cat":"Node","name":"a_kernel_time","ts":1e99,"dur":1}])",
                 "event 0: 'ts'");
}

TEST(ReadProfile, NamesTheFile) {
  const TempDirForTest folder;
  const auto profile = read_profile(folder.write("x.json", "no"));
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("x.json"), std::string::npos);
}

/// tests/profiles/README.md says how the files were made.
TEST(ImportOnnxRuntime, TheMiddleOfThreeRealRuns) {
  const auto profile = read_profile(profiles_folder() + "onnxruntime.json");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->source, "onnxruntime");
  EXPECT_EQ(profile->runs, 3U);
  EXPECT_DOUBLE_EQ(profile->run_ms, 1.132);  // of 1132, 25077 and 737 µs
  ASSERT_EQ(profile->steps.size(), 23U);
  const ProfileStep* first = find_step(*profile, "/0/0.2/Clip_output_0");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->op, "Conv");
  EXPECT_EQ(first->provider, "CPUExecutionProvider");
  EXPECT_NEAR(profile->coverage, 806 / 1132.0, 1e-9);
}

TEST(ImportOnnxRuntime, NodesOfSubgraphsArePartsOfTheirNode) {
  const auto profile = read_profile(profiles_folder() + "onnxruntime_if.json");
  ASSERT_TRUE(profile) << profile.error().message;
  Names names;
  for (const ProfileStep& step : profile->steps) names.push_back(step.names.front());
  EXPECT_EQ(names,
            (Names{"nested_if/ReduceMean", "nested_if/Greater", "nested_if/If", "nested_if/Neg"}));
  EXPECT_DOUBLE_EQ(find_step(*profile, "nested_if/If")->time_ms, 0.144);
}

/// Every node of ours that ONNX Runtime runs too, under whatever name, stands beside it.
TEST(ImportOnnxRuntime, MeetsOurNodesOfTheSameModel) {
  const auto model = read_model(cat(TRIVET_SOURCE_DIR, "/tests/models/efficientnet_lite0.onnx"));
  ASSERT_TRUE(model) << model.error().message;
  const auto session = Session::create(*model, {.providers = {&cpu_provider()}, .threads = 1});
  ASSERT_TRUE(session) << session.error().message;
  const auto input = Tensor::allocate(DType::kFloat32, {1, 3, 32, 32});
  ASSERT_TRUE(input);
  const std::vector<Tensor> inputs = {*input};
  ProfileSamples samples;
  ASSERT_TRUE((*session)->run_profiled(inputs, samples.runs.emplace_back()));
  const Profile ours = summarize_profile((*session)->graph(), {}, samples);
  const auto theirs = read_profile(profiles_folder() + "onnxruntime.json");
  ASSERT_TRUE(theirs);
  const ProfileComparison comparison = compare_profiles(ours, *theirs);
  EXPECT_TRUE(comparison.only_a.empty()) << comparison.only_a.front().names.front();
  for (const ProfileStep& step : comparison.only_b) {
    EXPECT_TRUE(step.op == "Flatten" || step.op.starts_with("Reorder")) << step.names.front();
  }
  EXPECT_GE(comparison.nodes.size(), 18U);
}

std::string torch_event(const std::string& name, double start, double duration,
                        const std::string& category = "cpu_op") {
  return Json{{"ph", "X"}, {"cat", category}, {"name", name},    {"pid", 1},
              {"tid", 7},  {"ts", start},     {"dur", duration}, {"args", {{"External id", 3}}}}
      .dump();
}

std::string trace_of(const std::vector<std::string>& events) {
  std::string out = R"({"schemaVersion": 1, "traceEvents": [)";
  for (const std::string& event : events) out += (&event == &events.front() ? "" : ",") + event;
  return out + "]}";
}

TEST(ImportTorch, SumsOperatorsPerRunAndCountsOutermostOnly) {
  const double base = 1.7e15;  // microseconds since 1970, as PyTorch writes them
  const Profile profile = parsed(trace_of({
      torch_event("ProfilerStep#1", base, 1000, "user_annotation"),
      torch_event("forward", base + 1, 990, "user_annotation"),
      torch_event("aten::conv2d", base + 10, 300),
      torch_event("aten::convolution", base + 11, 298),
      torch_event("aten::mkldnn_convolution", base + 20, 280),
      torch_event("aten::relu_", base + 320, 50),
      torch_event("aten::conv2d", base + 400, 100),
      torch_event("ProfilerStep#2", base + 2000, 800, "user_annotation"),
      torch_event("aten::conv2d", base + 2010, 200),
      torch_event("aten::frobnicate", base + 2300, 40),
      torch_event("aten::conv2d", base + 5000, 9999),  // after the last run
      torch_event("cudaLaunchKernel", base + 30, 5, "cuda_runtime"),
  }));
  EXPECT_EQ(profile.source, "torch");
  EXPECT_EQ(profile.runs, 2U);
  ASSERT_EQ(profile.steps.size(), 3U);
  EXPECT_EQ(profile.steps[0].op, "Conv");
  EXPECT_TRUE(profile.steps[0].names.empty());
  EXPECT_DOUBLE_EQ(profile.steps[0].min_ms, 0.2);
  EXPECT_DOUBLE_EQ(profile.steps[0].time_ms, 0.3);  // of 0.4 and 0.2
  EXPECT_EQ(profile.steps[1].op, "Relu");
  EXPECT_EQ(profile.steps[1].kernel, "aten::relu_");
  EXPECT_DOUBLE_EQ(profile.steps[1].min_ms, 0);
  EXPECT_EQ(profile.steps[2].op, "aten::frobnicate");
}

/// What PyTorch itself wrote: three steps of two convolutions and others, with operators inside
/// operators.
TEST(ImportTorch, AFileOfTheProfilerItself) {
  const auto profile = read_profile(profiles_folder() + "torch.json");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->source, "torch");
  EXPECT_EQ(profile->runs, 3U);
  Names operators;
  double sum = 0;
  for (const ProfileStep& step : profile->steps) {
    operators.push_back(step.op);
    sum += step.time_ms;
  }
  std::ranges::sort(operators);
  EXPECT_EQ(operators, (Names{"Add", "BatchNormalization", "Conv", "Flatten", "Gemm",
                              "GlobalAveragePool", "Relu", "Sigmoid", "Softmax"}));
  EXPECT_LE(sum, profile->run_ms);
  EXPECT_NEAR(sum / profile->run_ms, profile->coverage, 1e-9);
}

TEST(ImportTorch, WithoutStepsAllIsOneRun) {
  const Profile profile =
      parsed(trace_of({torch_event("aten::linear", 100, 50), torch_event("aten::addmm", 110, 30),
                       torch_event("aten::softmax", 160, 40)}));
  EXPECT_EQ(profile.runs, 1U);
  EXPECT_DOUBLE_EQ(profile.run_ms, 0.1);
  EXPECT_DOUBLE_EQ(profile.coverage, 0.9);
  ASSERT_EQ(profile.steps.size(), 2U);
  EXPECT_EQ(profile.steps[0].op, "Gemm");
}

TEST(ImportTorch, RoundingDoesNotMakeANeighbourAPart) {
  // 0.1 + 0.2 > 0.3 in doubles.
  const Profile profile = parsed(
      trace_of({torch_event("aten::linear", 0.1, 0.2), torch_event("aten::softmax", 0.3, 0.5)}));
  EXPECT_EQ(profile.steps.size(), 2U);
}

TEST(ImportTorch, NamesOfOperators) {
  EXPECT_EQ(onnx_operator_of("aten::conv2d"), "Conv");
  EXPECT_EQ(onnx_operator_of("aten::hardtanh_"), "Clip");
  EXPECT_EQ(onnx_operator_of("aten::view"), "Reshape");
  EXPECT_EQ(onnx_operator_of("aten::_convolution"), "Conv");
  EXPECT_EQ(onnx_operator_of("aten::zzz"), "aten::zzz");
  EXPECT_EQ(onnx_operator_of("mylib::conv2d"), "mylib::conv2d");
}

/// x → Relu → y, in a graph of one node.
Graph one_relu() {
  GraphBuilder builder("g");
  const ValueId x =
      builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(4)}));
  const ValueId y = builder.add_value("y");
  Node node;
  node.name = "relu";
  node.op_type = "Relu";
  node.opset = 17;
  node.inputs = {x};
  node.outputs = {y};
  builder.add_node(std::move(node));
  builder.add_output(y);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

TEST(ChromeTrace, NoStepReachesIntoTheNext) {
  const Graph graph = one_relu();
  ProfileSamples samples;
  RunProfile& run = samples.runs.emplace_back();
  for (std::int64_t at = 1; at < 1'000'000; at += 997) {
    run.events.push_back({"cpu", {0}, "unary", at, at + 997});
  }
  run.wall_ns = 2'000'000;
  const Json trace = profile_to_trace(graph, {}, samples);
  double end = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] != "step") continue;
    ASSERT_LE(end, event["ts"].get<double>());
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
}

TEST(ChromeTrace, HoldsEveryRunInMicrosecondsAndReadsBack) {
  const Graph graph = one_relu();
  ProfileSamples samples;
  samples.runs = {{5'000'000, 3'000'000, {{"cpu", {0}, "unary", 500'000, 2'500'000}}},
                  {9'000'000, 2'000'000, {{"cpu", {0}, "unary", 500'000, 1'500'000}}},
                  {12'000'000, 2'000'000, {{"cpu", {0}, "unary", 0, 1'999'000}}}};
  Profile profile = summarize_profile(graph, {}, samples);
  profile.model = "m";
  const Json trace = profile_to_trace(graph, profile, samples);
  int complete = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++complete;
    EXPECT_TRUE(event["ts"].is_number() && event["dur"].is_number() && event["tid"] == 1);
  }
  EXPECT_EQ(complete, 6);
  const auto last = std::ranges::find_if(trace["traceEvents"], [](const Json& event) {
    return event["name"] == "relu" && event["ts"] == 4500.0;
  });
  ASSERT_NE(last, trace["traceEvents"].end()) << trace.dump();
  EXPECT_DOUBLE_EQ((*last)["dur"].get<double>(), 1000);
  EXPECT_EQ((*last)["args"]["op"], "Relu");

  const Profile again = parsed(trace.dump());
  EXPECT_EQ(again.source, "trivet");
  EXPECT_EQ(again.model, "m");
  EXPECT_EQ(again.runs, 3U);
  EXPECT_DOUBLE_EQ(again.run_ms, 2);
  ASSERT_EQ(again.steps.size(), 1U);
  EXPECT_EQ(again.steps[0].names, Names{"relu"});
  EXPECT_EQ(again.steps[0].outputs, Names{"y"});
  EXPECT_EQ(again.steps[0].kernel, "unary");
  EXPECT_NEAR(again.steps[0].time_ms, profile.steps[0].time_ms, 1e-9);
  EXPECT_NEAR(again.coverage, profile.coverage, 1e-9);
}

}  // namespace
}  // namespace trivet

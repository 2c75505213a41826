#include "cli/inspect_layers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/temp_dir_for_test.h"
#include "measure/machine_file.h"

namespace trivet::cli {
namespace {

TEST(InspectLayers, RooflineOption) {
  const auto line = parse_roofline("230,37.5");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_DOUBLE_EQ(line->flops_per_s, 230e9);
  EXPECT_DOUBLE_EQ(line->bytes_per_s, 37.5e9);
  for (const char* bad :
       {"230", "230,", ",37", "230,0", "-1,37", "a,b", "1,2,3", "nan,1", "1 ,2"}) {
    const auto refused = parse_roofline(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find(cat("not '", bad, "'")), std::string::npos);
  }
}

TEST(InspectLayers, StreamingTheWeights) {
  // 25.6 M weights at 50 GB/s: 102.4 MB in float, 25.6 MB in int8.
  const Json bytes = json_weight_forms(25'600'000);
  EXPECT_EQ(bytes["fp32"], 102'400'000);
  EXPECT_EQ(bytes["int8"], 25'600'000);
  const Json times = json_weight_streaming(25'600'000, 50e9);
  EXPECT_NEAR(times["fp32"].get<double>(), 2.048, 1e-9);
  EXPECT_NEAR(times["int8"].get<double>(), 0.512, 1e-9);
  EXPECT_EQ(weight_streaming_text(25'600'000, 50e9),
            "fp32 2.05 ms, fp16 1.02 ms, int8 0.512 ms, int4 0.256 ms");
  EXPECT_EQ(weight_forms_text(50'000'000), "fp32 200 MB, fp16 100 MB, int8 50.0 MB, int4 25.0 MB");
}

/// Two nodes that differ in what bounds them: 200 and 0.5 FLOPs per byte.
class TwoLayers : public ::testing::Test {
 protected:
  TwoLayers() {
    GraphBuilder builder("g");
    const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{}));
    const ValueId y = builder.add_value("y");
    const ValueId z = builder.add_value("z");
    add_relu(builder, "dense", x, y);
    add_relu(builder, "thin", y, z);
    builder.add_output(z);
    auto graph = builder.finish();
    EXPECT_TRUE(graph) << graph.error().message;
    graph_ = std::make_unique<Graph>(*std::move(graph));
    cost_.macs = 1010;
    cost_.nodes.push_back({.node = 0, .output = {}, .macs = 1000, .parameters = 7, .bytes = 10});
    cost_.nodes.push_back({.node = 1, .output = {}, .macs = 10, .parameters = 0, .bytes = 40});
  }

  static void add_relu(GraphBuilder& builder, const std::string& name, ValueId from, ValueId to) {
    Node node;
    node.name = name;
    node.op_type = "Relu";
    node.opset = 17;
    node.inputs = {from};
    node.outputs = {to};
    builder.add_node(std::move(node));
  }

  std::unique_ptr<Graph> graph_;
  GraphCost cost_;
};

TEST_F(TwoLayers, SidesShareAndIntensity) {
  const KnownRoofline known{{.flops_per_s = 60e9, .bytes_per_s = 10e9}, "--roofline"};
  const Json layers = json_layers(*graph_, cost_, known);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0]["side"], "compute");
  EXPECT_EQ(layers[1]["side"], "memory");
  EXPECT_EQ(layers[0]["flops"], 2000);
  EXPECT_DOUBLE_EQ(layers[0]["arithmetic_intensity"], 200);
  EXPECT_DOUBLE_EQ(layers[1]["arithmetic_intensity"], 0.5);
  EXPECT_DOUBLE_EQ(layers[1]["flops_share"], 10.0 / 1010);
  EXPECT_EQ(layers[0]["weight_bytes_at"]["int4"], 4);
  const std::string text = layers_text(*graph_, cost_, known);
  EXPECT_NE(text.find("side"), std::string::npos) << text;
  EXPECT_NE(text.find("99.0 %"), std::string::npos) << text;
}

TEST_F(TwoLayers, WithoutARooflineThereIsNoSide) {
  const Json layers = json_layers(*graph_, cost_, std::nullopt);
  EXPECT_TRUE(layers[0]["side"].is_null());
  EXPECT_EQ(layers_text(*graph_, cost_, std::nullopt).find("side"), std::string::npos);
}

TEST(InspectLayers, TheMachinesFileServesWhereNoneIsGiven) {
  const TempDirForTest dir;
  const char* const before = getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", dir.path().c_str(), 1);
  std::string why;
  auto found = find_roofline("", 0, why);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_NE(why.find("run trivet bench --machine once, or give --roofline"), std::string::npos);

  MachinePeaks peaks;
  peaks.cpu = cpu_model_name();
  peaks.caches = {.l1 = {1, 1}, .l2 = {1, 1}, .l3 = {0, 1}, .last_level_bytes = 1};
  peaks.threads.push_back({.threads = 1,
                           .fma_gflops = 80,
                           .int8_gops = 1,
                           .bf16_gflops = {},
                           .l1_gb_s = 1,
                           .l2_gb_s = {},
                           .l3_gb_s = {},
                           .dram_gb_s = 20,
                           .dram_copy_gb_s = 1});
  const std::string path = *default_machine_file();
  ASSERT_TRUE(write_machine_file(peaks, path, true));
  found = find_roofline("", 0, why);
  ASSERT_TRUE(found && *found) << why;
  EXPECT_DOUBLE_EQ((*found)->ridge(), 4);
  EXPECT_NE((*found)->source.find(path), std::string::npos);

  peaks.cpu += " II";
  ASSERT_TRUE(write_machine_file(peaks, path, true));
  found = find_roofline("", 0, why);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_NE(why.find("holds the peaks of"), std::string::npos) << why;
  EXPECT_DOUBLE_EQ((*find_roofline("9,3", 0, why))->ridge(), 3);

  saved.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

}  // namespace
}  // namespace trivet::cli

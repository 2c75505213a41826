#include "check/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "check/embedded.h"
#include "ops/registry.h"

namespace trivet::check {
namespace {

using Json = nlohmann::json;

// ---- graphs of one operator ----

struct Wire {
  DType dtype = DType::kFloat32;
  std::optional<SymbolicShape> shape = SymbolicShape{1, 8, 8, 8};
  Tensor constant = {};
};

struct OneNode {
  std::string op;
  int opset = 17;
  std::vector<Wire> inputs = {Wire{}};
  std::vector<std::pair<std::string, AttributeValue>> attributes = {};
  std::size_t outputs = 1;
  std::string domain = "";
  std::int64_t ir = 8;
};

Model model_of(const OneNode& what) {
  GraphBuilder builder("g");
  Node node{.name = "n", .op_type = what.op, .domain = what.domain, .opset = what.opset};
  for (std::size_t i = 0; i < what.inputs.size(); ++i) {
    const Wire& wire = what.inputs[i];
    const std::string name = cat("x", i);
    node.inputs.push_back(wire.constant.defined()
                              ? builder.add_constant(name, wire.constant)
                              : builder.add_input(name, ValueType::tensor(wire.dtype, wire.shape)));
  }
  for (std::size_t i = 0; i < what.outputs; ++i) {
    node.outputs.push_back(builder.add_value(cat("y", i)));
  }
  for (const auto& [name, value] : what.attributes) node.attributes.set(name, value);
  const std::vector<ValueId> outputs = node.outputs;
  builder.add_node(std::move(node));
  for (const ValueId output : outputs) builder.add_output(output);
  Model model;
  model.ir_version = what.ir;
  model.opsets[what.domain] = what.opset;
  model.graph = std::make_shared<const Graph>(*builder.finish());
  return model;
}

Findings findings_of(const Model& model, std::string_view target) {
  Findings out;
  check_target(subject_of(model, {}), *find_target(target), out);
  return out;
}

/// "rule rule ...", in the order of the report.
std::string rules_of(const OneNode& what, std::string_view target) {
  std::string out;
  for (const Finding& finding : findings_of(model_of(what), target)) {
    out += cat(out.empty() ? "" : " ", finding.rule.substr(std::string_view("target-").size()));
  }
  return out;
}

Wire of(DType dtype) { return {.dtype = dtype}; }
Wire with_shape(std::optional<SymbolicShape> shape) { return {.shape = std::move(shape)}; }
Wire indices() { return {.dtype = DType::kInt64, .shape = SymbolicShape{2}}; }
Wire constant(const std::vector<std::int64_t>& values) {
  return {.constant = Tensor::from_vector(values)};
}

// ---- names and versions ----

TEST(Targets, NamesAliasesAndVersions) {
  EXPECT_EQ(find_target("onnxruntime@1.16")->title(), "ONNX Runtime 1.16");
  EXPECT_EQ(find_target("ORT@1.16.3")->title(), "ONNX Runtime 1.16.3");
  EXPECT_EQ(find_target("trt@10")->title(), "TensorRT 10.15");
  EXPECT_EQ(find_target("tflite")->table->name, "litert");
  EXPECT_EQ(find_target("core-ml")->table->name, "coreml");
  EXPECT_EQ(find_target("ov")->limits, &find_target("openvino")->table->versions.back());
  EXPECT_EQ(find_target("ort@1.12")->limits->opset, 17);
}

TEST(Targets, AVersionBetweenKnownOnesHasTheLimitsOfTheOlder) {
  const Target between = *find_target("tensorrt@10.3");
  EXPECT_EQ(between.limits->opset, 19);
  EXPECT_NE(between.note.find("9.2"), std::string::npos) << between.note;
  EXPECT_NE(find_target("ort@9.9")->note, "");
  EXPECT_EQ(find_target("ort@1.16.3")->note, "");
}

TEST(Targets, WhatIsNotKnownIsAnErrorThatListsWhatIs) {
  EXPECT_NE(find_target("abacus").error().message.find("openvino"), std::string::npos);
  EXPECT_NE(find_target("").error().message.find("openvino"), std::string::npos);
  EXPECT_NE(find_target("ort@0.9").error().message.find("1.10"), std::string::npos);
  EXPECT_NE(find_target("ort@new").error().message.find("1.10"), std::string::npos);
  EXPECT_FALSE(find_target("ort@"));
  EXPECT_FALSE(find_target("ort@1..2"));
  EXPECT_FALSE(find_target("ort@-1"));
}

// ---- rules: a graph that has the fault, and a near twin that has not ----

TEST(TargetRules, Opset) {
  EXPECT_EQ(rules_of({.op = "Relu", .opset = 18}, "ort@1.13"), "opset");
  EXPECT_EQ(rules_of({.op = "Relu", .opset = 17}, "ort@1.13"), "");
  const Findings found = findings_of(model_of({.op = "Relu", .opset = 18}), "ort@1.13");
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].fix, "trivet convert MODEL --opset 17 -o OUT");
  // TensorRT's parser goes on with a warning.
  EXPECT_EQ(findings_of(model_of({.op = "Relu", .opset = 18}), "trt@8.6")[0].severity,
            Severity::kWarning);
}

TEST(TargetRules, OpsetOfAiOnnxMl) {
  const OneNode newer = {.op = "Scaler", .opset = 4, .domain = "ai.onnx.ml"};
  EXPECT_EQ(rules_of(newer, "ort@1.16"), "opset");
  EXPECT_EQ(rules_of(newer, "ort@1.17"), "");
}

TEST(TargetRules, IrVersion) {
  const Findings found = findings_of(model_of({.op = "Relu", .ir = 10}), "ort@1.16");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "target-ir");
  EXPECT_TRUE(found[0].fixable);
  EXPECT_EQ(rules_of({.op = "Relu", .ir = 9}, "ort@1.16"), "");
  EXPECT_EQ(rules_of({.op = "Relu", .ir = 10}, "ort@1.18"), "");
  EXPECT_EQ(rules_of({.op = "Relu", .ir = 14}, "tensorrt"), "");
}

TEST(TargetRules, AnIrVersionThatTheModelNeedsIsNotFixable) {
  const Findings found = findings_of(model_of({.op = "Relu", .opset = 22, .ir = 10}), "ort@1.17");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].rule, "target-ir");
  EXPECT_FALSE(found[1].fixable);
}

TEST(TargetRules, OperatorsThatWereMeasuredAsRefused) {
  const OneNode deform = {.op = "DeformConv", .opset = 19};
  EXPECT_EQ(rules_of(deform, "ort@1.24"), "operator");
  EXPECT_EQ(rules_of(deform, "ort@1.25"), "");
  const Findings found = findings_of(model_of(deform), "ort@1.24");
  EXPECT_NE(found[0].fix.find("1.25 or newer"), std::string::npos) << found[0].fix;
  EXPECT_EQ(found[0].where, "node 'n' (DeformConv)");
  EXPECT_EQ(rules_of({.op = "Det"}, "openvino"), "operator");
  EXPECT_EQ(rules_of({.op = "Trilu"}, "openvino@2022.1"), "opset operator");
  EXPECT_EQ(rules_of({.op = "Trilu"}, "openvino"), "");
}

TEST(TargetRules, AnOperatorThatIsRefusedInOneOpsetOnly) {
  const OneNode align = {.op = "RoiAlign", .opset = 22, .ir = 10};
  const Findings found = findings_of(model_of(align), "ort@1.21");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fix, "trivet convert MODEL --opset 21 -o OUT");
  EXPECT_EQ(rules_of({.op = "RoiAlign", .opset = 21, .ir = 10}, "ort@1.21"), "");
}

TEST(TargetRules, OperatorsThatAListDoesNotHave) {
  EXPECT_EQ(rules_of({.op = "Gelu", .opset = 20}, "tensorrt@10.15"), "");
  EXPECT_EQ(rules_of({.op = "Gelu", .opset = 20}, "tensorrt@10.6"), "operator");
  EXPECT_EQ(rules_of({.op = "Hardmax"}, "tensorrt@8.6"), "operator");
  EXPECT_EQ(rules_of({.op = "Hardmax"}, "tensorrt@9.2"), "");
  // Core ML's provider leaves the rest to the CPU.
  const Findings found = findings_of(model_of({.op = "Hardmax"}), "coreml");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(rules_of({.op = "Bernoulli"}, "litert"), "");
  EXPECT_EQ(rules_of({.op = "SequenceMap"}, "litert"), "operator");
}

TEST(TargetRules, WhatIsComputedAtLoadNeedsNoOperatorWhereThereIsAFallback) {
  const OneNode flat = {.op = "Flatten", .inputs = {constant({1, 2})}};
  EXPECT_EQ(rules_of(flat, "coreml"), "");
  EXPECT_EQ(rules_of({.op = "Flatten"}, "coreml"), "operator");
}

TEST(TargetRules, DomainsOfAVendor) {
  const OneNode fused = {.op = "FusedMatMul", .opset = 1, .domain = "com.microsoft"};
  EXPECT_EQ(rules_of(fused, "ort"), "");
  EXPECT_EQ(rules_of(fused, "tensorrt"), "operator");
  EXPECT_EQ(rules_of(fused, "openvino"), "operator");
  EXPECT_EQ(rules_of({.op = "Mine", .opset = 1, .domain = "my.domain"}, "ort"), "operator");
}

TEST(TargetRules, ElementTypesWithoutAKernel) {
  const OneNode max8 = {.op = "Max", .opset = 13, .inputs = {of(DType::kInt8), of(DType::kInt8)}};
  EXPECT_EQ(rules_of(max8, "ort@1.23"), "dtype");
  EXPECT_EQ(rules_of(max8, "ort@1.24"), "");
  OneNode conv = {.op = "Conv", .inputs = {of(DType::kFloat64), of(DType::kFloat64)}};
  EXPECT_EQ(rules_of(conv, "ort@1.20"), "dtype dtype");
  conv.inputs = {Wire{}, Wire{}};
  EXPECT_EQ(rules_of(conv, "ort@1.20"), "");
}

TEST(TargetRules, HalvesAreSlowWhereTheyAreCast) {
  const OneNode half = {.op = "MatMul", .inputs = {of(DType::kFloat16), of(DType::kFloat16)}};
  EXPECT_EQ(rules_of(half, "ort@1.20"), "slow");
  EXPECT_EQ(rules_of({.op = "MatMul", .inputs = {Wire{}, Wire{}}}, "ort@1.20"), "");
  EXPECT_EQ(rules_of(half, "tensorrt"), "");
}

TEST(TargetRules, OpenAxes) {
  const OneNode open = {.op = "Relu", .inputs = {with_shape(SymbolicShape{Dim::symbol("n"), 8})}};
  for (const char* target : {"tensorrt", "coreml", "litert", "openvino"}) {
    EXPECT_EQ(rules_of(open, target), "dynamic") << target;
    EXPECT_EQ(rules_of({.op = "Relu"}, target), "") << target;
  }
  EXPECT_EQ(rules_of(open, "ort"), "");
  const OneNode unranked = {.op = "Relu", .inputs = {with_shape(std::nullopt)}};
  EXPECT_EQ(findings_of(model_of(unranked), "openvino")[0].severity, Severity::kError);
}

TEST(TargetRules, ElementTypesThatARuntimeNarrowsOrLacks) {
  const OneNode wide = {.op = "Abs", .inputs = {of(DType::kFloat64)}};
  EXPECT_EQ(rules_of(wide, "tensorrt"), "dtype");
  EXPECT_EQ(rules_of({.op = "Abs"}, "tensorrt"), "");
  const OneNode long_ids = {.op = "Abs", .inputs = {of(DType::kInt64)}};
  EXPECT_EQ(rules_of(long_ids, "tensorrt@8.6"), "dtype");
  EXPECT_EQ(rules_of(long_ids, "tensorrt@9.2"), "");
  EXPECT_EQ(rules_of({.op = "Add", .inputs = {of(DType::kUInt8), of(DType::kUInt8)}}, "trt"),
            "dtype");
  EXPECT_EQ(
      rules_of(
          {.op = "Cast", .inputs = {of(DType::kUInt8)}, .attributes = {{"to", std::int64_t{1}}}},
          "trt"),
      "");
}

TEST(TargetRules, Ranks) {
  const OneNode volume = {.op = "GridSample",
                          .inputs = {with_shape(SymbolicShape{1, 2, 4, 4, 4}),
                                     with_shape(SymbolicShape{1, 4, 4, 4, 3})}};
  const OneNode plane = {
      .op = "GridSample",
      .inputs = {with_shape(SymbolicShape{1, 2, 4, 4}), with_shape(SymbolicShape{1, 4, 4, 2})}};
  EXPECT_EQ(rules_of(volume, "openvino"), "restriction");
  EXPECT_EQ(rules_of(plane, "openvino"), "");
  const OneNode high = {.op = "Relu", .inputs = {with_shape(SymbolicShape{1, 2, 2, 2, 2, 2})}};
  EXPECT_EQ(rules_of(high, "coreml"), "restriction");
  EXPECT_EQ(
      rules_of({.op = "Relu", .inputs = {with_shape(SymbolicShape{1, 2, 2, 2, 2})}}, "coreml"), "");
}

TEST(TargetRules, InputsThatHaveToBeConstant) {
  const OneNode computed = {.op = "Unsqueeze", .inputs = {Wire{}, indices()}};
  const OneNode fixed = {.op = "Unsqueeze", .inputs = {Wire{}, constant({0, 1})}};
  EXPECT_EQ(rules_of(computed, "trt@10.15"), "restriction");
  EXPECT_EQ(rules_of(fixed, "trt@10.15"), "");
  EXPECT_EQ(rules_of(fixed, "openvino"), "");
}

TEST(TargetRules, AttributesAndTheirDefaults) {
  const auto resize = [](std::string name, AttributeValue value) {
    return OneNode{.op = "Resize", .attributes = {{std::move(name), std::move(value)}}};
  };
  EXPECT_EQ(rules_of(resize("mode", std::string("cubic")), "trt"), "restriction");
  EXPECT_EQ(rules_of(resize("mode", std::string("linear")), "trt"), "");
  EXPECT_EQ(rules_of({.op = "Resize"}, "trt"), "");
  EXPECT_EQ(rules_of(resize("antialias", std::int64_t{1}), "trt"), "restriction");
  EXPECT_EQ(rules_of(resize("antialias", std::int64_t{0}), "trt"), "");
  const auto pool = [](std::int64_t dilation) {
    return OneNode{.op = "MaxPool",
                   .attributes = {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                                  {"dilations", std::vector<std::int64_t>{1, dilation}}}};
  };
  EXPECT_EQ(rules_of(pool(2), "trt"), "restriction");
  EXPECT_EQ(rules_of(pool(1), "trt"), "");
  const OneNode mod = {.op = "Mod", .inputs = {Wire{}, Wire{}}};
  OneNode fmod = mod;
  fmod.attributes = {{"fmod", std::int64_t{1}}};
  EXPECT_EQ(rules_of(mod, "openvino"), "restriction");
  EXPECT_EQ(rules_of(fmod, "openvino"), "");
}

TEST(TargetRules, OutputsThatAreNotImported) {
  OneNode pool = {.op = "MaxPool",
                  .attributes = {{"kernel_shape", std::vector<std::int64_t>{2, 2}}},
                  .outputs = 2};
  EXPECT_EQ(rules_of(pool, "trt"), "restriction");
  pool.outputs = 1;
  EXPECT_EQ(rules_of(pool, "trt"), "");
}

TEST(TargetRules, ZeroPoints) {
  const auto quantize = [](std::int8_t zero) {
    return OneNode{.op = "QuantizeLinear",
                   .inputs = {Wire{},
                              {.constant = Tensor::scalar<float>(0.5F)},
                              {.constant = Tensor::scalar<std::int8_t>(zero)}}};
  };
  EXPECT_EQ(rules_of(quantize(3), "trt"), "restriction");
  EXPECT_EQ(rules_of(quantize(0), "trt"), "");
}

TEST(TargetRules, SizesThatDependOnDataAreSlow) {
  EXPECT_EQ(rules_of({.op = "NonZero"}, "trt"), "slow");
  EXPECT_EQ(rules_of({.op = "NonZero"}, "ort"), "");
}

TEST(TargetRules, BodiesAreLookedInto) {
  GraphBuilder inner("branch");
  const ValueId taken = inner.add_capture("x", 1, ValueType::tensor(DType::kFloat32, {{1, 4}}));
  const ValueId out = inner.add_value("inner_out");
  inner.add_node(
      {.name = "deep", .op_type = "Det", .opset = 17, .inputs = {taken}, .outputs = {out}});
  inner.add_output(out);
  const GraphPtr branch = std::make_shared<Graph>(*inner.finish());
  GraphBuilder outer("g");
  const ValueId condition = outer.add_input("c", ValueType::tensor(DType::kBool, SymbolicShape{}));
  outer.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{1, 4}));
  const ValueId result = outer.add_value("y");
  Node node{
      .name = "choose", .op_type = "If", .opset = 17, .inputs = {condition}, .outputs = {result}};
  node.attributes.set("then_branch", branch);
  node.attributes.set("else_branch", branch);
  outer.add_node(std::move(node));
  outer.add_output(result);
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 17;
  model.graph = std::make_shared<const Graph>(*outer.finish());
  const Findings found = findings_of(model, "openvino");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].where, "node 'deep' (Det) and 1 more");
}

TEST(TargetRules, AFindingNamesItsTargetAndItsSource) {
  for (const char* target : {"ort@1.13", "trt@8.4", "coreml", "litert", "openvino@2022.1"}) {
    const Findings found = findings_of(
        model_of({.op = "SequenceMap", .opset = 30, .inputs = {with_shape(std::nullopt)}}), target);
    ASSERT_FALSE(found.empty()) << target;
    for (const Finding& finding : found) {
      EXPECT_NE(finding.cause.find(find_target(target)->table->title), std::string::npos);
      EXPECT_NE(finding.consequence.find("(https://"), std::string::npos) << finding.consequence;
      EXPECT_FALSE(finding.fix.empty());
    }
  }
}

// ---- the tables ----

const std::map<std::string_view, std::string_view>& files() {
  static const std::map<std::string_view, std::string_view> out = {
      {"onnxruntime", embedded::check_target_onnxruntime},
      {"openvino", embedded::check_target_openvino},
      {"tensorrt", embedded::check_target_tensorrt},
      {"coreml", embedded::check_target_coreml},
      {"litert", embedded::check_target_litert},
  };
  return out;
}

TEST(TargetTables, EverySourceIsAnAddressAndIsUsed) {
  for (const auto& [name, text] : files()) {
    const Json json = Json::parse(text);
    std::set<std::string> used;
    for (const char* key : {"operators_source", "types_source"}) {
      if (json.contains(key)) used.insert(json.at(key));
    }
    for (const char* list : {"versions", "restrictions"}) {
      for (const Json& row : json.at(list)) used.insert(row.at("source"));
    }
    std::set<std::string> known;
    for (const auto& [key, address] : json.at("sources").items()) {
      known.insert(key);
      EXPECT_EQ(address.get<std::string>().rfind("https://", 0), 0u) << name << " " << key;
    }
    EXPECT_EQ(used, known) << name;
  }
}

TEST(TargetTables, VersionsAscendAndCeilingsDoNotFall) {
  for (const TargetTable& table : target_tables()) {
    ASSERT_FALSE(table.versions.empty()) << table.name;
    for (std::size_t i = 1; i < table.versions.size(); ++i) {
      const TargetLimits& before = table.versions[i - 1];
      const TargetLimits& after = table.versions[i];
      EXPECT_LT(before.version, after.version) << table.name;
      EXPECT_TRUE(after.opset == 0 || before.opset <= after.opset) << table.name;
      EXPECT_TRUE(after.ml_opset == 0 || before.ml_opset <= after.ml_opset) << table.name;
      EXPECT_TRUE(after.ir == 0 || before.ir <= after.ir) << table.name;
    }
  }
}

TEST(TargetTables, NamesAreUnique) {
  std::set<std::string> names;
  for (const TargetTable& table : target_tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    for (const std::string& alias : table.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

/// Operators of ONNX that Trivet's registry does not have.
const std::set<std::string>& other_operators() {
  static const std::set<std::string> out = {
      "ConcatFromSequence",
      "ImageDecoder",
      "MaxRoiPool",
      "Optional",
      "OptionalGetElement",
      "OptionalHasElement",
      "SequenceAt",
      "SequenceConstruct",
      "SequenceEmpty",
      "SequenceErase",
      "SequenceInsert",
      "SequenceLength",
      "SequenceMap",
      "SplitToSequence",
      "SwiGLU",
      "ai.onnx.ml:Imputer",
      "ai.onnx.ml:LinearRegressor",
      "ai.onnx.ml:OneHotEncoder",
      "ai.onnx.ml:SVMRegressor",
      "ai.onnx.ml:TreeEnsembleRegressor",
      "com.microsoft:FusedConv",
      "com.microsoft:QuickGelu",
  };
  return out;
}

bool is_operator(const std::string& key) {
  if (other_operators().contains(key)) return true;
  const std::size_t colon = key.find(':');
  const std::string domain = colon == std::string::npos ? "" : key.substr(0, colon);
  const std::string name = colon == std::string::npos ? key : key.substr(colon + 1);
  return std::ranges::any_of(
      all_ops(), [&](const OpDef& op) { return op.name == name && op.domain == domain; });
}

TEST(TargetTables, EveryOperatorIsOneOfOnnx) {
  for (const TargetTable& table : target_tables()) {
    for (const auto& [op, since] : table.supported) EXPECT_TRUE(is_operator(op)) << op;
    for (const auto& [op, spans] : table.refused) EXPECT_TRUE(is_operator(op)) << op;
    for (const auto& [op, rows] : table.types) EXPECT_TRUE(is_operator(op)) << op;
    for (const Restriction& restriction : table.restrictions) {
      for (const std::string& op : restriction.ops) EXPECT_TRUE(is_operator(op)) << op;
      for (const std::string& op : restriction.except) EXPECT_TRUE(is_operator(op)) << op;
    }
  }
}

/// Each word of every "dtype" condition, in all files.
TEST(TargetTables, EveryElementTypeIsKnown) {
  for (const auto& [name, text] : files()) {
    const Json table = Json::parse(text);
    for (const Json& row : table.at("restrictions")) {
      if (!row.at("when").contains("dtype")) continue;
      std::istringstream words(row.at("when").at("dtype").at("is").get<std::string>());
      for (std::string word; words >> word;)
        EXPECT_TRUE(dtype_from_name(word)) << name << " " << word;
    }
  }
}

/// A misspelt condition would hold of every node.
TEST(TargetTables, EveryConditionIsOneThatIsRead) {
  const std::set<std::string> keys = {"not_constant", "nonzero", "output",   "open",
                                      "rank",         "dtype",   "attribute"};
  for (const auto& [name, text] : files()) {
    const Json table = Json::parse(text);
    for (const Json& row : table.at("restrictions")) {
      for (const auto& [key, value] : row.at("when").items()) {
        EXPECT_TRUE(keys.contains(key)) << name << " " << key;
      }
    }
  }
}

TEST(TargetTables, RangesOfVersionsAndOpsetsAreNotEmpty) {
  for (const TargetTable& table : target_tables()) {
    for (const Restriction& restriction : table.restrictions) {
      const VersionRange& range = restriction.versions;
      EXPECT_TRUE(range.from.empty() || range.until.empty() || range.from < range.until);
    }
    for (const auto& [op, spans] : table.refused) {
      for (const Refusal& span : spans) {
        EXPECT_TRUE(span.last_opset == 0 || span.first_opset <= span.last_opset) << op;
        EXPECT_LT(span.lower_opset, span.first_opset) << op;
      }
    }
  }
}

}  // namespace
}  // namespace trivet::check

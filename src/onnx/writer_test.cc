#include "onnx/writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "base/temp_dir_for_test.h"
#include "onnx/reader.h"

namespace trivet {
namespace {

Node make_node(std::string op, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
               int opset = 17) {
  Node node;
  node.op_type = std::move(op);
  node.opset = opset;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

ValueType floats() {
  return ValueType::tensor(DType::kFloat32, SymbolicShape{Dim::symbol("n"), 2});
}

Model model_of(GraphBuilder builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  Model model;
  model.opsets[""] = 17;
  model.graph = std::make_shared<const Graph>(*std::move(graph));
  return model;
}

Model written_and_read(const Model& model) {
  const auto bytes = serialize_model(model);
  EXPECT_TRUE(bytes) << bytes.error().message;
  auto read = read_model(nullptr, *bytes);
  EXPECT_TRUE(read) << read.error().message;
  return *std::move(read);
}

TEST(Writer, KeepsEveryKindOfAttribute) {
  GraphBuilder builder("g");
  const ValueId x = builder.add_input("x", floats());
  const ValueId y = builder.add_value("y", floats());
  Node node = make_node("Neg", {x, kNoValue, x}, {y});
  node.attributes.set("i", std::int64_t{-3});
  node.attributes.set("f", 1.5F);
  node.attributes.set("s", std::string("a\0b", 3));
  node.attributes.set("t", Tensor::from_vector<std::int64_t>({1, 2}));
  node.attributes.set("is", std::vector<std::int64_t>{});
  node.attributes.set("fs", std::vector<float>{1, 2});
  node.attributes.set("ss", std::vector<std::string>{"", "b"});
  node.attributes.set("ts", std::vector<Tensor>{Tensor::scalar(2.0F)});
  node.attributes.set("o", OpaqueAttribute{13, 14, {"\x0a\x02\x08\x01"}});
  builder.add_node(std::move(node));
  builder.add_output(y);
  const Model model = written_and_read(model_of(std::move(builder)));
  const Attributes& read = model.graph->node(0).attributes;
  EXPECT_EQ(read.int_or("i", 0), -3);
  EXPECT_EQ(read.float_or("f", 0), 1.5F);
  EXPECT_EQ(read.string_or("s", ""), std::string("a\0b", 3));
  EXPECT_EQ(elements_as_int64(*read.get<Tensor>("t")), (std::vector<std::int64_t>{1, 2}));
  ASSERT_NE(read.get<std::vector<std::int64_t>>("is"), nullptr);
  EXPECT_EQ(read.floats("fs"), (std::vector<float>{1, 2}));
  EXPECT_EQ(read.strings("ss"), (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(read.get<std::vector<Tensor>>("ts")->size(), 1u);
  EXPECT_EQ(*read.get<OpaqueAttribute>("o"), (OpaqueAttribute{13, 14, {"\x0a\x02\x08\x01"}}));
  EXPECT_EQ(model.graph->node(0).inputs, (std::vector<ValueId>{0, kNoValue, 0}));
  EXPECT_EQ(to_string(model.graph->value(0).type), "float32 nx2");
}

TEST(Writer, MakesNamesUniqueAndKeepsThoseOfInputsAndOutputs) {
  GraphBuilder inner("inner");
  const ValueId captured = inner.add_capture("anything", 0, floats());
  const ValueId same = inner.add_value("x", floats());
  inner.add_node(make_node("Neg", {captured}, {same}));
  inner.add_output(same);
  inner.add_output(captured);
  auto branch = inner.finish();
  ASSERT_TRUE(branch);
  GraphBuilder builder("g");
  const ValueId x = builder.add_input("x", floats());
  const ValueId hidden = builder.add_value("y", floats());
  const ValueId unnamed = builder.add_value("", floats());
  const ValueId y = builder.add_value("y", floats());
  const ValueId z = builder.add_value("z", floats());
  builder.add_node(make_node("Neg", {x}, {hidden}));
  builder.add_node(make_node("Neg", {hidden}, {unnamed}));
  Node node = make_node("If", {unnamed}, {y, z});
  node.attributes.set("then_branch", std::make_shared<Graph>(*branch));
  node.attributes.set("else_branch", std::make_shared<Graph>(*branch));
  builder.add_node(std::move(node));
  builder.add_output(y);
  builder.add_output(z);
  const Model model = written_and_read(model_of(std::move(builder)));
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x");
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
  std::set<std::string> names;
  for (const Value& value : graph.values())
    EXPECT_TRUE(names.insert(value.name).second) << value.name;
  const Graph& read = *subgraphs(graph.node(2))[0];
  ASSERT_EQ(read.captures().size(), 1u);
  EXPECT_EQ(read.captures()[0].outer, graph.inputs()[0]);
  ASSERT_EQ(read.nodes().size(), 2u);
  EXPECT_EQ(read.node(1).op_type, "Identity");
  EXPECT_NE(read.value(read.outputs()[0]).name, "x");
}

TEST(Writer, NodesOfAnotherOpsetKeepIt) {
  GraphBuilder builder("g");
  const ValueId x = builder.add_input("x", floats());
  const ValueId h = builder.add_value("h", floats());
  const ValueId y = builder.add_value("y", floats());
  Node old = make_node("Softmax", {x, kNoValue}, {h}, 11);
  old.attributes.set("axis", std::int64_t{1});
  builder.add_node(std::move(old));
  builder.add_node(make_node("Softmax", {h}, {y}));
  builder.add_output(y);
  const Model model = written_and_read(model_of(std::move(builder)));
  ASSERT_EQ(model.graph->nodes().size(), 2u);
  EXPECT_EQ(model.graph->node(0).op_type, "Softmax");
  EXPECT_EQ(model.graph->node(0).opset, 11);
  EXPECT_EQ(model.graph->node(0).attributes.int_or("axis", 0), 1);
  EXPECT_EQ(model.graph->node(1).opset, 17);
}

TEST(Writer, TakesTheIrVersionThatTheContentNeeds) {
  GraphBuilder builder("g");
  builder.add_output(builder.add_constant("w", *Tensor::allocate(DType::kInt4, {2})));
  Model model = model_of(std::move(builder));
  model.ir_version = 3;
  EXPECT_EQ(written_and_read(model).ir_version, 10);
}

TEST(Writer, KeepsWhatStandsAroundTheGraph) {
  GraphBuilder builder("name");
  builder.set_doc("doc of graph");
  builder.add_output(builder.add_input("x", floats()));
  Model model = model_of(std::move(builder));
  model.ir_version = 8;
  model.producer_name = "p";
  model.model_version = 3;
  model.doc = "doc";
  model.metadata["k"] = "v";
  model.opsets["com.microsoft"] = 1;
  const Model read = written_and_read(model);
  EXPECT_EQ(read.ir_version, 8);
  EXPECT_EQ(read.producer_name, "p");
  EXPECT_EQ(read.model_version, 3);
  EXPECT_EQ(read.doc, "doc");
  EXPECT_EQ(read.metadata, model.metadata);
  EXPECT_EQ(read.opsets, model.opsets);
  EXPECT_EQ(read.graph->name(), "name");
  EXPECT_EQ(read.graph->doc(), "doc of graph");
}

TEST(Writer, PutsLargeWeightsBesideTheModel) {
  const TempDirForTest dir;
  GraphBuilder builder("g");
  const std::vector<float> large(5000, 2.5F);
  builder.add_output(builder.add_constant("large", Tensor::from_vector(large)));
  builder.add_output(builder.add_constant("also", Tensor::from_vector(large)));
  builder.add_output(builder.add_constant("small", Tensor::scalar(1.0F)));
  const Model model = model_of(std::move(builder));
  WriteOptions options;
  options.external_threshold = 100;
  ASSERT_TRUE(write_model(model, dir.file("m.onnx"), options));
  EXPECT_EQ(std::filesystem::file_size(dir.file("m.onnx.data")), 20032u + 20000u);
  EXPECT_FALSE(write_model(model, dir.file("m.onnx"), options));
  options.overwrite = true;
  EXPECT_TRUE(write_model(model, dir.file("m.onnx"), options));
  const auto read = read_model(dir.file("m.onnx"));
  ASSERT_TRUE(read) << read.error().message;
  for (const char* name : {"large", "also"}) {
    const auto values = read->graph->value(*read->graph->find_value(name)).constant.data<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), large);
  }
  options.external_threshold.reset();
  ASSERT_TRUE(write_model(model, dir.file("inside.onnx"), options));
  EXPECT_FALSE(std::filesystem::exists(dir.file("inside.onnx.data")));
}

}  // namespace
}  // namespace trivet

#include "onnx/reader.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/temp_dir_for_test.h"
#include "onnx/proto_for_test.h"
#include "onnx/writer.h"

namespace trivet {
namespace {

using onnx::function_for_test;
using onnx::graph_attribute_for_test;
using onnx::graph_for_test;
using onnx::model_for_test;
using onnx::node_for_test;
using onnx::opset_for_test;
using onnx::Proto;
using onnx::tensor_for_test;
using onnx::value_for_test;

Result<Model> read(const std::string& bytes) {
  const auto owner = std::make_shared<std::string>(bytes);
  return read_model(owner, *owner);
}
Result<Model> read(const Proto& proto) { return read(proto.bytes); }

std::string error_of(const Proto& proto) {
  const auto model = read(proto);
  return model ? "" : model.error().message;
}

const std::string kFloats(8, '\0');

/// A little of everything: an If whose branches capture, an initializer, a function.
Proto sample() {
  const Proto branch_a =
      graph_for_test({node_for_test("Relu", {"h"}, {"a"})}, {}, {value_for_test("a", {"n"})});
  const Proto branch_b = graph_for_test({node_for_test("local_op", {"h"}, {"b"}, "call", "local")},
                                        {}, {value_for_test("b", {"n"})});
  Proto choose = node_for_test("If", {"c"}, {"y"}, "choose");
  choose.message(5, graph_attribute_for_test("then_branch", branch_a));
  choose.message(5, graph_attribute_for_test("else_branch", branch_b));
  return model_for_test(
      graph_for_test({node_for_test("Add", {"x", "w"}, {"h"}, "add"), choose},
                     {value_for_test("x", {"n"})}, {value_for_test("y", {"n"})},
                     {tensor_for_test("w", {2}, 1, kFloats), tensor_for_test("c", {}, 9, "\x01")}),
      {function_for_test(
          "local_op", {"p"}, {"q"},
          {node_for_test("Neg", {"p"}, {"t"}), node_for_test("Abs", {"t"}, {"q"})})});
}

TEST(Reader, ReadsASmallModel) {
  const auto model = read(sample());
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = *model->graph;
  ASSERT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.node(0).op_type, "Add");
  EXPECT_EQ(graph.node(0).opset, 17);
  EXPECT_EQ(to_string(graph.value(graph.inputs()[0]).type), "float32 n");
  const auto branches = subgraphs(graph.node(1));
  ASSERT_EQ(branches.size(), 2u);
  ASSERT_EQ(branches[1]->nodes().size(), 2u);
  EXPECT_EQ(branches[1]->node(0).name, "");
  EXPECT_EQ(branches[1]->node(1).op_type, "Abs");
  ASSERT_EQ(branches[1]->captures().size(), 1u);
  EXPECT_EQ(graph.value(branches[1]->captures()[0].outer).name, "h");
}

TEST(Reader, SortsNodes) {
  const auto model = read(model_for_test(
      graph_for_test({node_for_test("Abs", {"h"}, {"y"}), node_for_test("Neg", {"x"}, {"h"})},
                     {value_for_test("x", {})}, {value_for_test("y", {})})));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph->node(0).op_type, "Neg");
}

TEST(Reader, CapturesThroughEveryGraphBetween) {
  const Proto inner =
      graph_for_test({node_for_test("Neg", {"x"}, {"i"})}, {}, {value_for_test("i", {})});
  Proto nested = node_for_test("If", {"c"}, {"m"}, "nested");
  nested.message(5, graph_attribute_for_test("then_branch", inner));
  nested.message(5, graph_attribute_for_test("else_branch", inner));
  const Proto middle = graph_for_test({nested}, {}, {value_for_test("m", {})});
  Proto outer = node_for_test("If", {"c"}, {"y"}, "outer");
  outer.message(5, graph_attribute_for_test("then_branch", middle));
  outer.message(5, graph_attribute_for_test("else_branch", middle));
  const auto model = read(model_for_test(graph_for_test(
      {outer}, {value_for_test("x", {}), value_for_test("c", {})}, {value_for_test("y", {})})));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(subgraphs(model->graph->node(0))[0]->captures().size(), 2u);
}

TEST(Reader, AnInitializerThatIsAnInputTooIsAConstant) {
  const auto model = read(model_for_test(graph_for_test(
      {node_for_test("Add", {"x", "w"}, {"y"})}, {value_for_test("x", {}), value_for_test("w", {})},
      {value_for_test("y", {})}, {tensor_for_test("w", {2}, 1, kFloats)})));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph->inputs().size(), 1u);
}

TEST(Reader, NamesWhatIsWrong) {
  const Proto x = value_for_test("x", {});
  const Proto y = value_for_test("y", {});
  const auto graph = [&](const std::vector<Proto>& nodes) {
    return model_for_test(graph_for_test(nodes, {x}, {y}));
  };
  const struct {
    Proto model;
    const char* expected;
  } cases[] = {
      {graph({node_for_test("Neg", {"b"}, {"a"}, "n1"), node_for_test("Neg", {"a"}, {"b"}, "n2"),
              node_for_test("Neg", {"a"}, {"y"})}),
       "cycle"},
      {graph({node_for_test("Neg", {"x"}, {"y"}, "n1"), node_for_test("Abs", {"x"}, {"y"}, "n2")}),
       "n2"},
      {graph({node_for_test("Neg", {"x"}, {"x"}, "n1")}), "n1"},
      {graph({node_for_test("Neg", {"lost"}, {"y"}, "n1")}), "'lost'"},
      {graph({node_for_test("Neg", {"x"}, {"z"}, "n1")}), "'y'"},
      {graph({node_for_test("Neg", {"x"}, {"y"}, "n1", "nowhere")}), "nowhere"},
      {graph({node_for_test("", {"x"}, {"y"}, "n1")}), "op_type"},
      {Proto().integer(1, 99).message(8, opset_for_test("", 17)), "IR version 99"},
      {Proto().integer(1, 8).message(8, opset_for_test("", 99)), "opset 99"},
      {Proto().integer(1, 8).message(8, opset_for_test("ai.onnx", 17)), "no graph"},
      {Proto().integer(1, 8).message(7, Proto()), "opset_import"},
      {Proto().message(7, Proto()), "not an ONNX model"},
      {model_for_test(graph_for_test({}, {x, x}, {})), "'x' is defined twice"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(error_of(c.model).find(c.expected), std::string::npos)
        << c.expected << ": " << error_of(c.model);
  }
}

TEST(Reader, ErrorsAreOneLineOfBoundedLength) {
  const Proto model = model_for_test(
      graph_for_test({node_for_test("Neg", {std::string(100'000, 'a') + "\n"}, {"y"})}, {},
                     {value_for_test("y", {})}));
  const std::string message = error_of(model);
  EXPECT_LT(message.size(), 1100u);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Reader, AttributesOfFunctionsComeFromTheCall) {
  const auto reference = [](const char* name, const char* to) {
    return Proto().text(1, name).text(21, to).integer(20, 2);
  };
  Proto body = node_for_test("Softmax", {"p"}, {"q"}, "softmax");
  body.message(5, reference("axis", "axis")).message(5, reference("other", "absent"));
  Proto function = function_for_test("f", {"p"}, {"q"}, {body});
  function.message(11, Proto().text(1, "axis").integer(3, 1).integer(20, 2)).text(6, "absent");
  Proto call = node_for_test("f", {"x"}, {"h"}, "first", "local");
  Proto second = node_for_test("f", {"h"}, {"y"}, "second", "local");
  second.message(5, Proto().text(1, "axis").integer(3, -1).integer(20, 2));
  const auto model = read(model_for_test(
      graph_for_test({call, second}, {value_for_test("x", {})}, {value_for_test("y", {})}),
      {function}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph->node(0).name, "first/softmax");
  EXPECT_EQ(model->graph->node(0).attributes.int_or("axis", 9), 1);
  EXPECT_EQ(model->graph->node(1).attributes.int_or("axis", 9), -1);
  EXPECT_FALSE(model->graph->node(1).attributes.has("other"));
}

TEST(Reader, FunctionsMayHandParametersThrough) {
  const auto model = read(model_for_test(
      graph_for_test({node_for_test("f", {"x"}, {"y", "z"}, "call", "local")},
                     {value_for_test("x", {})}, {value_for_test("y", {}), value_for_test("z", {})}),
      {function_for_test("f", {"p"}, {"p", "p"}, {})}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph->node(1).op_type, "Identity");
  EXPECT_FALSE(
      read(model_for_test(graph_for_test({node_for_test("f", {}, {"y", "z"}, "call", "local")}, {},
                                         {value_for_test("y", {})}),
                          {function_for_test("f", {}, {"q", "q"}, {})})));
}

TEST(Reader, RefusesRecursionAndExplosionOfFunctions) {
  const auto call = [](const std::string& name) {
    return node_for_test(name, {"p"}, {"q"}, "", "local");
  };
  const auto model = [&](const std::vector<Proto>& functions) {
    return model_for_test(graph_for_test({node_for_test("f0", {"x"}, {"y"}, "", "local")},
                                         {value_for_test("x", {})}, {value_for_test("y", {})}),
                          functions);
  };
  EXPECT_NE(error_of(model({function_for_test("f0", {"p"}, {"q"}, {call("f1")}),
                            function_for_test("f1", {"p"}, {"q"}, {call("f0")})}))
                .find("calls itself"),
            std::string::npos);
  std::vector<Proto> doubling;
  for (int i = 0; i < 35; ++i) {
    const std::string next = cat("f", i + 1);
    doubling.push_back(function_for_test(cat("f", i), {"p"}, {"q"},
                                         {node_for_test(next, {"p"}, {"h"}, "", "local"),
                                          node_for_test(next, {"h"}, {"q"}, "", "local")}));
  }
  doubling.push_back(function_for_test("f35", {"p"}, {"q"}, {node_for_test("Neg", {"p"}, {"q"})}));
  EXPECT_NE(error_of(model(doubling)).find("expand to more"), std::string::npos);
}

TEST(Reader, RefusesDeepNesting) {
  Proto graph = graph_for_test({node_for_test("Neg", {"x"}, {"y"})}, {}, {value_for_test("y", {})});
  for (int i = 0; i < 200; ++i) {
    Proto node = node_for_test("If", {"x"}, {"y"});
    node.message(5, graph_attribute_for_test("then_branch", graph));
    const bool outermost = i == 199;
    const std::vector<Proto> inputs(outermost ? 1 : 0, value_for_test("x", {}));
    graph = graph_for_test({node}, inputs, {value_for_test("y", {})});
  }
  EXPECT_NE(error_of(model_for_test(graph)).find("nested more than"), std::string::npos);
  Proto type;
  for (int i = 0; i < 10'000; ++i) type = Proto().message(4, Proto().message(1, type));
  EXPECT_NE(
      error_of(model_for_test(graph_for_test({}, {Proto().text(1, "x").message(2, type)}, {})))
          .find("nested too deeply"),
      std::string::npos);
}

TEST(Reader, NamesTheFile) {
  const TempDirForTest dir;
  for (const std::string& path : {dir.file("absent.onnx"), dir.write("empty.onnx", ""),
                                  dir.write("noise.onnx", "this is no model")}) {
    const auto model = read_model(path);
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find(path), std::string::npos);
  }
}

TEST(Reader, AlignedWeightsStayWhereTheyAre) {
  const auto bytes = std::make_shared<std::string>(sample().bytes);
  const auto model = read_model(bytes, *bytes);
  ASSERT_TRUE(model) << model.error().message;
  const Value& flag = model->graph->value(*model->graph->find_value("c"));
  EXPECT_EQ(flag.constant.owner(), bytes);  // a bool is aligned anywhere
  const auto copied = read_model(nullptr, *bytes);
  ASSERT_TRUE(copied);
  EXPECT_NE(copied->graph->value(*copied->graph->find_value("c")).constant.owner(), nullptr);
}

/// Damaged files are refused or read; what is read can be written and read again.
void expect_sound(const std::string& bytes) {
  const auto model = read(bytes);
  if (!model) {
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  ASSERT_TRUE(verify(*model->graph));
  const auto written = serialize_model(*model);
  if (!written) return;
  const auto again = read(*written);
  ASSERT_TRUE(again) << again.error().message;
}

TEST(DamagedModels, TruncatedAtEveryByte) {
  const std::string bytes = sample().bytes;
  for (std::size_t n = 0; n < bytes.size(); ++n) expect_sound(bytes.substr(0, n));
  // Cut inside the graph, it is always an error: its length says more.
  const std::size_t inside = bytes.find("then_branch");
  EXPECT_FALSE(read(bytes.substr(0, inside)));
}

TEST(DamagedModels, EveryBitFlipped) {
  const std::string bytes = sample().bytes;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    expect_sound(flipped);
  }
}

TEST(DamagedModels, EveryByteEveryValueOfTheFirstHundred) {
  const std::string bytes = sample().bytes;
  for (std::size_t i = 0; i < 100; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      expect_sound(changed);
    }
  }
}

/// Every field of every message with every encoding.
TEST(DamagedModels, EveryWrongEncoding) {
  const std::string payloads[] = {
      std::string("\x05", 1), std::string(8, '\1'), std::string("\x02\x08\x01", 3), "", "",
      std::string(4, '\1')};
  for (std::uint32_t field = 1; field < 32; ++field) {
    for (std::uint32_t type = 0; type < 6; ++type) {
      Proto wrong;
      wrong.bytes = std::string{static_cast<char>(0x80 | ((field << 3 | type) & 0x7f)),
                                static_cast<char>(field >> 4)} +
                    payloads[type];
      Proto node = node_for_test("Neg", {"x"}, {"y"});
      node.bytes += wrong.bytes;
      Proto attribute = Proto().text(1, "a");
      attribute.bytes += wrong.bytes;
      Proto with_attribute = node_for_test("Neg", {"x"}, {"y"});
      with_attribute.message(5, attribute);
      Proto graph = graph_for_test({node}, {value_for_test("x", {})}, {value_for_test("y", {})});
      graph.bytes += wrong.bytes;
      Proto model = sample();
      model.bytes += wrong.bytes;
      expect_sound(model.bytes);
      expect_sound(model_for_test(graph).bytes);
      expect_sound(
          model_for_test(graph_for_test({with_attribute}, {value_for_test("x", {})}, {})).bytes);
      expect_sound(
          model_for_test(graph_for_test({wrong}, {wrong}, {wrong}, {wrong}), {wrong}).bytes);
    }
  }
}

}  // namespace
}  // namespace trivet

// What the cpu provider says that a model needs, and --max-memory and --memory low by it.
#include <gtest/gtest.h>

#include <string>

#include "base/memory_info.h"
#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet::cpu {
namespace {

constexpr std::int64_t kChannels = 64;

Model conv_model(const Dim& batch) {
  GraphBuilder builder("conv");
  const SymbolicShape shape = {batch, kChannels, 28, 28};
  const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, shape));
  const Shape weights = {kChannels, kChannels, 3, 3};
  std::vector<float> values(static_cast<std::size_t>(element_count(weights)), 0.01F);
  const ValueId w = builder.add_constant("w", Tensor::from_values(weights, values));
  const ValueId y = builder.add_value("y");
  Node node{.op_type = "Conv", .opset = 17, .inputs = {x, w}, .outputs = {y}};
  node.attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  builder.add_node(std::move(node));
  builder.add_output(y);
  Model model;
  model.graph = std::make_shared<const Graph>(builder.finish().value());
  return model;
}

Result<std::unique_ptr<Session>> load(const Model& model, const EngineSettings& settings,
                                      const TrvProvider& provider = cpu_provider()) {
  return Session::create(model, {.providers = {&provider}, .threads = 1, .settings = settings});
}

Tensor images(std::int64_t batch) {
  const Shape shape = {batch, kChannels, 28, 28};
  return Tensor::from_values(
      shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 0.5F));
}

std::string description(const Session& session) { return session.describe().value()[0]; }

/// The first number that the description gives under the key.
std::size_t number(const Session& session, const std::string& key) {
  const std::string text = description(session);
  const std::size_t place = text.find('"' + key + "\": ");
  if (place == std::string::npos) return 0;
  return std::stoul(text.substr(place + key.size() + 4));
}

int plans(const Session& session) {
  const std::string text = description(session);
  int count = 0;
  for (auto at = text.find("arena_bytes"); at != std::string::npos; ++count)
    at = text.find("arena_bytes", at + 1);
  return count;
}

TEST(CpuMemory, FixedShapesArePlannedAtLoad) {
  const auto fixed = load(conv_model(1), {});
  ASSERT_TRUE(fixed) << fixed.error().message;
  EXPECT_EQ(plans(**fixed), 1);
  const auto open = load(conv_model(Dim::symbol("n")), {});
  ASSERT_TRUE(open);
  EXPECT_EQ(plans(**open), 0);
  ASSERT_TRUE((*open)->prepare(std::vector{images(2)}));
  ASSERT_TRUE((*open)->run(std::vector{images(2)}));
  EXPECT_EQ(plans(**open), 1);
}

/// What a test program may take meanwhile; sanitizers keep freed memory for a while.
constexpr std::size_t kSlack = 400'000'000;

TEST(CpuMemory, TheBoundIsOfThePlanBeforeItIsMade) {
  const Model model = conv_model(1);
  const auto session = load(model, {});
  ASSERT_TRUE(session) << session.error().message;
  const std::size_t planned =
      number(**session, "packed_weight_bytes") + number(**session, "arena_bytes");
  const auto enough = load(model, {.max_memory = resident_bytes() + planned + kSlack});
  ASSERT_TRUE(enough) << enough.error().message;
  EXPECT_EQ(number(**enough, "packed_weight_bytes"), number(**session, "packed_weight_bytes"));
  const auto refused = load(model, {.max_memory = resident_bytes()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(refused.error().message.find("--memory low"), std::string::npos);
}

TEST(CpuMemory, LowPacksLittleMoreThanTheWeights) {
  const auto low = load(conv_model(1), {.low_memory = true});
  ASSERT_TRUE(low) << low.error().message;
  EXPECT_LE(number(**low, "packed_weight_bytes"), 13U * kChannels * kChannels * 9 * 4 / 10);
}

/// What no room can be made for is refused, and the session goes on with other shapes.
TEST(CpuMemory, RefusesAShapeAndGoesOn) {
  const auto session =
      load(conv_model(Dim::symbol("n")), {.max_memory = resident_bytes() + kSlack});
  ASSERT_TRUE(session);
  for (const std::int64_t batch : {1, 2, 4}) {
    const auto out = (*session)->run(std::vector{images(batch)});
    ASSERT_TRUE(out) << batch << ": " << out.error().message;
  }
  const float nothing = 0;  // only the shape is looked at
  const Shape large = {8192, kChannels, 28, 28};
  const Tensor view = Tensor::view(DType::kFloat32, large, &nothing, nullptr);
  const auto refused = (*session)->prepare(std::vector{view});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_TRUE((*session)->run(std::vector{images(1)}));
}

TEST(CpuMemory, AnEngineThatCannotPromiseRefuses) {
  const auto session = load(conv_model(1), {.max_memory = 1'000'000'000}, reference_provider());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace trivet::cpu

#include "schema/schema.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "onnx/versions.h"
#include "schema/table.h"

namespace trivet::schema {
namespace {

using Kind = Misfit::Kind;

/// A node of this operator over values of these types, and what does not fit.
class Fit {
 public:
  Fit(std::string op, int opset) : opset_(opset) { node_.op_type = std::move(op); }
  Fit& input(DType dtype) {
    node_.inputs.push_back(add(dtype));
    return *this;
  }
  Fit& omitted() {
    node_.inputs.push_back(kNoValue);
    return *this;
  }
  Fit& output(DType dtype) {
    node_.outputs.push_back(add(dtype));
    return *this;
  }
  Fit& attribute(std::string name, AttributeValue value) {
    node_.attributes.set(std::move(name), std::move(value));
    return *this;
  }
  std::multiset<Kind> misfits() {
    const Schema* schema = find_schema("", node_.op_type, opset_);
    EXPECT_NE(schema, nullptr);
    std::multiset<Kind> out;
    const auto type = [this](ValueId id) { return &types_[id]; };
    for (const Misfit& misfit : fits(node_, *schema, type)) {
      EXPECT_FALSE(misfit.message.empty());
      out.insert(misfit.kind);
    }
    return out;
  }

 private:
  ValueId add(DType dtype) {
    const auto id = static_cast<ValueId>(types_.size());
    types_[id] = ValueType::tensor(dtype, std::nullopt);
    return id;
  }
  Node node_;
  int opset_;
  std::map<ValueId, ValueType> types_;
};

constexpr DType kFloat = DType::kFloat32;
constexpr DType kInt = DType::kInt64;

TEST(Schema, FindsTheVersionThatAnOpsetMeans) {
  EXPECT_EQ(find_schema("", "Softmax", 12)->since, 11);
  EXPECT_EQ(find_schema("", "Softmax", 13)->since, 13);
  EXPECT_EQ(find_schema("", "Softmax", 99)->since, 13);
  EXPECT_EQ(find_schema("", "Gelu", 19), nullptr);
  EXPECT_EQ(find_schema("", "Gelu", 20)->since, 20);
  EXPECT_EQ(find_schema("", "NoSuchOperator", 20), nullptr);
  EXPECT_EQ(find_schema("ai.onnx.ml", "Scaler", 3)->since, 1);
  EXPECT_EQ(find_schema("", "Scaler", 3), nullptr);
  EXPECT_TRUE(find_schema("", "Upsample", 10)->deprecated);
  EXPECT_FALSE(find_schema("", "Upsample", 9)->deprecated);
}

TEST(Schema, ReadsEveryLineOfTheData) {
  std::size_t count = 0;
  int newest = 0;
  for (const auto& [key, schemas] : table().operators) {
    for (std::size_t i = 0; i < schemas.size(); ++i) {
      const Schema& schema = schemas[i];
      ++count;
      EXPECT_GT(schema.since, i == 0 ? 0 : schemas[i - 1].since) << schema.name;
      if (schema.domain.empty()) newest = std::max(newest, schema.since);
      for (const PortSchema& port : schema.inputs) EXPECT_LT(port.type, schema.types.size());
      for (const PortSchema& port : schema.outputs) EXPECT_LT(port.type, schema.types.size());
      for (const AttributeSchema& attribute : schema.attributes) {
        EXPECT_FALSE(attribute.type.empty()) << schema.name << " " << attribute.name;
      }
    }
  }
  EXPECT_GT(count, 600U);
  EXPECT_EQ(newest, onnx::kNewestOpset);
}

TEST(Schema, LinesInAnotherFormAreLeftOut) {
  const Table table =
      parse_table("what\n\ntypes 0 float32\nop . A 1 - | x:int! | *2~/X:T | ?Y:T | T=0\n");
  ASSERT_EQ(table.operators.size(), 1U);
  const Schema& schema = table.operators.begin()->second.front();
  EXPECT_TRUE(schema.attributes.at(0).required);
  EXPECT_EQ(schema.inputs.at(0).least, 2);
  EXPECT_FALSE(schema.inputs.at(0).same_type);
  EXPECT_EQ(schema.outputs.at(0).option, PortSchema::Option::kOptional);
  EXPECT_TRUE(schema.types.at(0).allowed->allows(ValueType::tensor(kFloat, {})));
  EXPECT_FALSE(schema.types.at(0).allowed->allows(ValueType::tensor(kInt, {})));
}

TEST(Fits, AttributesThatAVersionLacks) {
  EXPECT_TRUE(Fit("Squeeze", 11)
                  .input(kFloat)
                  .output(kFloat)
                  .attribute("axes", std::vector<std::int64_t>{0})
                  .misfits()
                  .empty());
  EXPECT_EQ(Fit("Squeeze", 13)
                .input(kFloat)
                .output(kFloat)
                .attribute("axes", std::vector<std::int64_t>{0})
                .misfits(),
            std::multiset{Kind::kUnknownAttribute});
  EXPECT_EQ(Fit("Cast", 13).input(kFloat).output(kInt).misfits(),
            std::multiset{Kind::kMissingAttribute});
  EXPECT_TRUE(Fit("Cast", 13)
                  .input(kFloat)
                  .output(kInt)
                  .attribute("to", std::int64_t{7})
                  .misfits()
                  .empty());
  EXPECT_EQ(Fit("Cast", 13).input(kFloat).output(kInt).attribute("to", 7.0F).misfits(),
            std::multiset{Kind::kAttributeType});
}

TEST(Fits, InputsThatAVersionLacks) {
  EXPECT_EQ(Fit("Clip", 6).input(kFloat).input(kFloat).output(kFloat).misfits(),
            std::multiset{Kind::kInputs});
  EXPECT_TRUE(Fit("Clip", 6).input(kFloat).omitted().omitted().output(kFloat).misfits().empty());
  EXPECT_TRUE(
      Fit("Clip", 13).input(kFloat).omitted().input(kFloat).output(kFloat).misfits().empty());
  EXPECT_EQ(Fit("Slice", 13).input(kFloat).input(kInt).output(kFloat).misfits(),
            std::multiset{Kind::kInputs});
  EXPECT_EQ(Fit("Concat", 13).output(kFloat).attribute("axis", std::int64_t{0}).misfits(),
            std::multiset{Kind::kInputs});
}

TEST(Fits, TypesThatAVersionLacks) {
  EXPECT_TRUE(Fit("Add", 14)
                  .input(DType::kInt8)
                  .input(DType::kInt8)
                  .output(DType::kInt8)
                  .misfits()
                  .empty());
  EXPECT_EQ(Fit("Add", 13)
                .input(DType::kInt8)
                .input(DType::kInt8)
                .output(DType::kInt8)
                .misfits()
                .count(Kind::kType),
            3U);
  EXPECT_EQ(Fit("Add", 13).input(kFloat).input(kInt).output(kFloat).misfits(),
            std::multiset{Kind::kType});
  EXPECT_TRUE(Fit("Pow", 13).input(kFloat).input(kInt).output(kFloat).misfits().empty());
  EXPECT_EQ(Fit("Pow", 7).input(kFloat).input(DType::kFloat64).output(kFloat).misfits(),
            std::multiset{Kind::kType});
  EXPECT_TRUE(Fit("Add", 13)
                  .input(DType::kUndefined)
                  .input(kInt)
                  .output(DType::kUndefined)
                  .misfits()
                  .empty());
}

TEST(Fits, DefaultsAreCompared) {
  const Schema* cast = find_schema("", "Cast", 19);
  EXPECT_TRUE(is_default(*cast->attribute("saturate"), std::int64_t{1}));
  EXPECT_FALSE(is_default(*cast->attribute("saturate"), std::int64_t{0}));
  EXPECT_FALSE(is_default(*cast->attribute("to"), std::int64_t{1}));
  const Schema* selu = find_schema("", "Selu", 6);
  EXPECT_TRUE(is_default(*selu->attribute("alpha"), 1.67326319217681884765625F));
  EXPECT_FALSE(is_default(*selu->attribute("alpha"), 1.6732F));
}

}  // namespace
}  // namespace trivet::schema

#include "ops/support/attribute_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trivet {
namespace {

Node with(const std::string& name, AttributeValue value) {
  Node node;
  node.op_type = "Softmax";
  node.attributes.set(name, std::move(value));
  return node;
}

TEST(AttributeTypes, AnotherTypeThanTheSpecificationsIsAnError) {
  const auto text = check_attribute_types(with("axis", std::string("foo")));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "attribute 'axis' is a string, expected an integer");
  EXPECT_FALSE(check_attribute_types(with("axis", 1.0F)));
  EXPECT_FALSE(check_attribute_types(with("axis", std::vector<std::int64_t>{1})));
  EXPECT_FALSE(check_attribute_types(with("pads", std::int64_t{1})));
  EXPECT_FALSE(check_attribute_types(with("epsilon", std::int64_t{0})));
  EXPECT_FALSE(check_attribute_types(with("mode", std::vector<std::string>{"linear"})));
  EXPECT_FALSE(check_attribute_types(with("body", OpaqueAttribute{})));
}

TEST(AttributeTypes, WhatFitsAndWhatIsNotKnownPasses) {
  EXPECT_TRUE(check_attribute_types(with("axis", std::int64_t{1})));
  EXPECT_TRUE(check_attribute_types(with("pads", std::vector<std::int64_t>{})));
  EXPECT_TRUE(check_attribute_types(with("p", 2.0F)));
  EXPECT_TRUE(check_attribute_types(with("p", std::int64_t{2})));
  EXPECT_TRUE(check_attribute_types(with("of_tomorrow", std::string())));
  Node other = with("axis", std::string("foo"));
  other.domain = "com.example";
  EXPECT_TRUE(check_attribute_types(other));
}

}  // namespace
}  // namespace trivet

#include "base/error.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace trivet {
namespace {

Result<std::unique_ptr<int>> make(int value) {
  if (value < 0) return invalid_argument("expected at least ", 0, ", found ", value, '.');
  return std::make_unique<int>(value);
}

Result<int> doubled(int value) {
  TRIVET_ASSIGN(const std::unique_ptr<int> held, make(value));
  return *held * 2;
}

Result<void> check(int value) {
  TRIVET_TRY(doubled(value));
  return {};
}

TEST(Error, AssignUnwrapsAMoveOnlyValueOrReturnsTheError) {
  EXPECT_EQ(*doubled(4), 8);
  const auto failed = doubled(-3);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(failed.error().message, "expected at least 0, found -3.");
}

TEST(Error, TryReturnsTheError) {
  EXPECT_TRUE(check(1));
  EXPECT_EQ(check(-1).error().message, "expected at least 0, found -1.");
}

TEST(Error, AtPutsThePlaceInFront) {
  EXPECT_EQ((Error{ErrorCode::kIo, "cut short"}.at("model.onnx").message), "model.onnx: cut short");
}

}  // namespace
}  // namespace trivet

#include "io/idx.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace trivet {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(Idx, BytesAndBigEndianNumbers) {
  const auto images = parse_idx(bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4}));
  ASSERT_TRUE(images);
  EXPECT_EQ(images->shape(), (Shape{2, 2}));
  EXPECT_EQ(images->data<std::uint8_t>()[3], 4);
  const auto numbers = parse_idx(bytes_of({0, 0, 0x0C, 1, 0, 0, 0, 1, 0, 0, 1, 2}));
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->data<std::int32_t>()[0], 258);
}

TEST(Idx, Gzipped) {
  // gzip.compress of 0 0 8 1 0 0 0 2 7 9 as one stored block.
  const auto file = bytes_of({0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 10, 0,  0xF5, 0xFF, 0, 0,
                              8,    1,    0, 0, 0, 2, 7, 9, 0, 0, 0, 0,  10, 0,    0,    0});
  ASSERT_TRUE(looks_like_idx(file));
  const auto labels = parse_idx(file);
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(elements_as_int64(*labels), (std::vector<std::int64_t>{7, 9}));
}

TEST(Idx, DamageIsAnError) {
  EXPECT_FALSE(parse_idx({}));
  EXPECT_FALSE(parse_idx(bytes_of({0, 0, 8, 1})));
  EXPECT_FALSE(parse_idx(bytes_of({0, 0, 8, 1, 0, 0, 0, 3, 1, 2})));
  EXPECT_FALSE(parse_idx(bytes_of({0, 0, 8, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})));
  EXPECT_FALSE(parse_idx(bytes_of({0, 0, 7, 0})));
  auto gzip = bytes_of({0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_FALSE(parse_idx(gzip));  // the name never ends
  gzip[3] = std::byte{0};
  gzip[16] = gzip[17] = gzip[18] = gzip[19] = std::byte{0xFF};
  EXPECT_FALSE(parse_idx(gzip));  // 4 GB out of 20 bytes
}

}  // namespace
}  // namespace trivet

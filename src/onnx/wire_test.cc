#include "onnx/wire.h"

#include <gtest/gtest.h>

#include "onnx/proto_for_test.h"

namespace trivet::onnx {
namespace {

TEST(Message, ReadsEveryEncodingOfNumbers) {
  const Proto proto = Proto().integer(1, -5).packed(1, {1, 300}).text(2, "name");
  Message message(proto.bytes, "Test");
  std::vector<std::int64_t> numbers;
  std::string_view name;
  while (message.next()) {
    if (message.field() == 1) message.append_to(numbers);
    if (message.field() == 2) name = message.text();
  }
  ASSERT_TRUE(message.status());
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{-5, 1, 300}));
  EXPECT_EQ(name, "name");
}

TEST(Message, RefusesTheWrongEncoding) {
  const Proto proto = Proto().text(1, "not a number");
  Message message(proto.bytes, "Test");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.integer(), 0);
  EXPECT_FALSE(message.next());
  ASSERT_FALSE(message.status());
  EXPECT_EQ(message.status().error().message,
            "expected a varint, found bytes with a length, as field 1 of a Test");
}

TEST(Message, RefusesLengthsBeyondTheEnd) {
  // 2^32 + 1 is 1 when it is cut to 32 bits.
  const std::string huge("\x0a\x81\x80\x80\x80\x10zzz", 9);
  Message message(huge, "Test");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.bytes(), "");
  EXPECT_FALSE(message.status());
  Message skipped(huge, "Test");
  ASSERT_TRUE(skipped.next());
  EXPECT_FALSE(skipped.next());
  EXPECT_FALSE(skipped.status());
}

TEST(Message, RefusesVarintsThatAreTooLong) {
  const std::string endless = "\x08" + std::string(20, '\xff') + "\x01";
  Message message(endless, "Test");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.integer(), 0);
  EXPECT_FALSE(message.status());
}

TEST(Message, SkipsWhatIsNotRead) {
  const Proto proto = Proto().text(1, "skipped").integer(2, 3).integer(9, 4);
  Message message(proto.bytes, "Test");
  std::int64_t nine = 0;
  while (message.next()) {
    if (message.field() == 9) nine = message.integer();
  }
  ASSERT_TRUE(message.status());
  EXPECT_EQ(nine, 4);
}

TEST(Utf8, AcceptsOnlyWellFormedText) {
  for (const char* good : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

}  // namespace
}  // namespace trivet::onnx

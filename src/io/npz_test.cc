#include "io/npz.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "base/output_file.h"
#include "base/temp_dir_for_test.h"
#include "io/zip.h"

namespace trivet {
namespace {

std::string corpus(const char* name) {
  return cat(TRIVET_SOURCE_DIR, "/tests/corpus/npz_fuzz/", name);
}

Result<std::vector<NamedArray>> parse(std::string_view text) {
  return parse_npz(std::as_bytes(std::span(text)));
}

TEST(Npz, StoredAndDeflatedMembersOfNumpy) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto arrays = read_npz(corpus(name));
    ASSERT_TRUE(arrays) << arrays.error().message;
    ASSERT_EQ(arrays->size(), 2U);
    EXPECT_EQ((*arrays)[0].name, "x:0");
    EXPECT_EQ((*arrays)[0].tensor.shape(), (Shape{2, 3}));
    EXPECT_EQ((*arrays)[1].name, "y");
    EXPECT_TRUE((*arrays)[1].tensor.data<bool>()[0]);
  }
}

TEST(Npz, WhatIsWrittenReadsBack) {
  const TempDirForTest dir;
  const std::string path = dir.file("a.npz");
  const std::vector<NamedArray> arrays = {{"/layer/out:0", Tensor::from_vector<float>({1, 2})},
                                          {"ž", Tensor::scalar<std::int64_t>(7)},
                                          {"", Tensor::from_values<std::string>({1}, {"text"})}};
  ASSERT_TRUE(write_npz(path, arrays, false));
  EXPECT_FALSE(write_npz(path, arrays, false)) << "the file exists";
  const auto back = read_npz(path);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*back)[i].name, arrays[i].name);
    EXPECT_EQ((*back)[i].tensor.dtype(), arrays[i].tensor.dtype());
    EXPECT_EQ((*back)[i].tensor.shape(), arrays[i].tensor.shape());
  }
  EXPECT_EQ((*back)[1].tensor.data<std::int64_t>()[0], 7);
}

TEST(Npz, NoArraysAtAll) {
  const TempDirForTest dir;
  ASSERT_TRUE(write_npz(dir.file("none.npz"), {}, false));
  const auto back = read_npz(dir.file("none.npz"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->empty());
}

TEST(Npz, EveryCutAndEveryFlippedByteIsAnErrorOrHarmless) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto whole = read_text_file(corpus(name), 1 << 20);
    ASSERT_TRUE(whole);
    for (std::size_t size = 0; size < whole->size(); ++size) {
      EXPECT_FALSE(parse(whole->substr(0, size))) << name << " cut to " << size;
    }
    for (std::size_t at = 0; at < whole->size(); ++at) {
      std::string flipped = *whole;
      flipped[at] = static_cast<char>(~flipped[at]);
      (void)parse(flipped);
    }
  }
}

TEST(Npz, AWrongChecksumIsFound) {
  auto text = read_text_file(corpus("stored.npz"), 1 << 20);
  ASSERT_TRUE(text);
  const std::size_t at = text->find("{'descr'");
  ASSERT_NE(at, std::string::npos);
  (*text)[at + 20] = 'x';
  const auto arrays = parse(*text);
  ASSERT_FALSE(arrays);
  EXPECT_NE(arrays.error().message.find("checksum"), std::string::npos) << arrays.error().message;
}

TEST(Npz, AMemberCannotClaimMoreThanDeflateGives) {
  auto text = read_text_file(corpus("deflated.npz"), 1 << 20);
  ASSERT_TRUE(text);
  const std::size_t directory = text->find("PK\x01\x02");
  ASSERT_NE(directory, std::string::npos);
  for (const std::size_t i : {24U, 25U, 26U}) (*text)[directory + i] = '\xff';
  const auto arrays = parse(*text);
  ASSERT_FALSE(arrays);
  EXPECT_NE(arrays.error().message.find("claims"), std::string::npos) << arrays.error().message;
}

TEST(Npz, OverlappingMembersAreRefused) {
  auto text = read_text_file(corpus("stored.npz"), 1 << 20);
  ASSERT_TRUE(text);
  const std::size_t directory = text->find("PK\x01\x02");
  const std::size_t end = text->find("PK\x05\x06");
  const std::string entries = text->substr(directory, end - directory);
  std::string bomb = text->substr(0, directory);
  std::string many;
  for (int i = 0; i < 100; ++i) many += entries;
  std::string record = text->substr(end);
  for (std::size_t i = 0; i < 4; ++i)
    record[12 + i] = static_cast<char>(many.size() >> (8 * i) & 0xff);
  const auto arrays = parse(bomb + many + record);
  ASSERT_FALSE(arrays);
  EXPECT_NE(arrays.error().message.find("overlap"), std::string::npos) << arrays.error().message;
}

TEST(Npz, ChecksumOfKnownText) {
  const std::string_view text = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(text))), 0xCBF43926U);  // the check value of CRC-32
  EXPECT_EQ(crc32(std::as_bytes(std::span(text.substr(4))),
                  crc32(std::as_bytes(std::span(text.substr(0, 4))))),
            0xCBF43926U);
}

}  // namespace
}  // namespace trivet

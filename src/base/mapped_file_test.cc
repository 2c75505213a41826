#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ReadsTheFile) {
  const TempDirForTest dir;
  const auto file = MappedFile::open(dir.write("a.txt", "hello"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(text_of(**file), "hello");
  EXPECT_EQ((*file)->path(), dir.file("a.txt"));
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  const TempDirForTest dir;
  const auto file = MappedFile::open(dir.write("empty", ""));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE((*file)->bytes().empty());
  (*file)->release_pages(0, 100);
}

TEST(MappedFile, WhatIsNoFileIsAnError) {
  const TempDirForTest dir;
  const auto missing = MappedFile::open(dir.file("missing.onnx"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_NE(missing.error().message.find("missing.onnx': No such file"), std::string::npos);

  const auto folder = MappedFile::open(dir.path());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a directory"), std::string::npos);

  ASSERT_EQ(mkfifo(dir.file("fifo").c_str(), 0600), 0);
  const auto fifo = MappedFile::open(dir.file("fifo"));
  ASSERT_FALSE(fifo);
  EXPECT_NE(fifo.error().message.find("not a regular file"), std::string::npos);
}

TEST(MappedFile, ReleasedPagesReadTheSameAgain) {
  const TempDirForTest dir;
  std::string text(100'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  const auto file = MappedFile::open(dir.write("big", text));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(text_of(**file), text);
  (*file)->release_pages(1, 50'000);
  (*file)->release_pages(10, 20);                  // no whole page: nothing happens
  (*file)->release_pages(90'000, SIZE_MAX);        // cut at the end, without overflow
  (*file)->release_pages(SIZE_MAX - 5, SIZE_MAX);  // outside
  EXPECT_EQ(text_of(**file), text);
}

TEST(MappedFile, ReleasesByAddressWhereverThatIs) {
  const TempDirForTest dir;
  const std::string text(100'000, 'x');
  const auto file = MappedFile::open(dir.write("big", text));
  ASSERT_TRUE(file) << file.error().message;
  std::string heap(50'000, 'h');
  MappedFile::release_mapped((*file)->bytes().data() + 5'000, 90'000);
  MappedFile::release_mapped(heap.data(), heap.size());  // no file's: left alone
  MappedFile::release_mapped(nullptr, 100);
  EXPECT_EQ(text_of(**file), text);
  EXPECT_EQ(heap, std::string(50'000, 'h'));
}

}  // namespace
}  // namespace trivet

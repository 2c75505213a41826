#include "base/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

std::string content_of(const std::string& path) { return *read_text_file(path, 1 << 24); }

std::size_t file_count(const TempDirForTest& dir) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path()))
    ++count;
  return count;
}

TEST(OutputFile, TheTargetAppearsAtCommit) {
  const TempDirForTest dir;
  auto file = OutputFile::create(dir.file("out"), false);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write("one "));
  ASSERT_TRUE(file->write("two"));
  EXPECT_FALSE(std::filesystem::exists(dir.file("out")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(dir.file("out")), "one two");
  EXPECT_EQ(file_count(dir), 1u);

  EXPECT_FALSE(file->write("more"));
  EXPECT_FALSE(file->commit());
}

TEST(OutputFile, WithoutCommitNothingIsLeft) {
  const TempDirForTest dir;
  {
    auto file = OutputFile::create(dir.file("out"), false);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("lost"));
    OutputFile moved = std::move(*file);
    ASSERT_TRUE(moved.write("too"));
    EXPECT_EQ(file_count(dir), 1u);
  }
  EXPECT_EQ(file_count(dir), 0u);
}

TEST(OutputFile, AnExistingTargetNeedsOverwrite) {
  const TempDirForTest dir;
  const std::string path = dir.write("out", "old");
  const auto refused = OutputFile::create(path, false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);

  auto file = OutputFile::create(path, true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  EXPECT_EQ(content_of(path), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(path), "new");
}

TEST(OutputFile, ATargetThatAppearsMeanwhileIsKept) {
  const TempDirForTest dir;
  auto file = OutputFile::create(dir.file("out"), false);
  ASSERT_TRUE(file);
  dir.write("out", "from someone else");
  const auto committed = file->commit();
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().message.find("--force"), std::string::npos);
  EXPECT_EQ(content_of(dir.file("out")), "from someone else");
  EXPECT_EQ(file_count(dir), 1u);
}

TEST(OutputFile, ALinkIsFollowed) {
  const TempDirForTest dir;
  const std::string real = dir.write("real", "old");
  std::filesystem::create_symlink(real, dir.file("link"));
  auto file = OutputFile::create(dir.file("link"), true);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  ASSERT_TRUE(file->commit());
  EXPECT_TRUE(std::filesystem::is_symlink(dir.file("link")));
  EXPECT_EQ(content_of(real), "new");
}

TEST(OutputFile, LargeContentPassesTheBuffer) {
  const TempDirForTest dir;
  std::string expected;
  auto file = OutputFile::create(dir.file("out"), false);
  ASSERT_TRUE(file);
  for (const std::size_t size : {1u, 300'000u, 100'000u, 200'000u, 262'144u, 7u}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    expected += piece;
    ASSERT_TRUE(file->write(piece));
  }
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(dir.file("out")), expected);
}

TEST(OutputFile, BadTargetsAreErrors) {
  const TempDirForTest dir;
  EXPECT_FALSE(OutputFile::create("", true));
  EXPECT_FALSE(OutputFile::create(dir.path(), true));
  const auto no_folder = OutputFile::create(dir.file("no/such/folder"), false);
  ASSERT_FALSE(no_folder);
  EXPECT_NE(no_folder.error().message.find("No such file"), std::string::npos);
  const auto device = OutputFile::create("/dev/null", true);
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("not a regular file"), std::string::npos);
}

TEST(ReadTextFile, LimitsAndErrors) {
  const TempDirForTest dir;
  const std::string path = dir.write("text", "12345");
  EXPECT_EQ(*read_text_file(path, 5), "12345");
  EXPECT_EQ(*read_text_file(path, SIZE_MAX), "12345");
  EXPECT_EQ(*read_text_file(dir.write("empty", ""), 0), "");
  const auto too_long = read_text_file(path, 4);
  ASSERT_FALSE(too_long);
  EXPECT_NE(too_long.error().message.find("longer than the 4 bytes"), std::string::npos);
  EXPECT_FALSE(read_text_file(dir.file("missing"), 10));
  EXPECT_FALSE(read_text_file(dir.path(), 10));
  const std::string big(200'000, 'b');
  EXPECT_EQ(*read_text_file(dir.write("big", big), 1 << 20), big);
}

}  // namespace
}  // namespace trivet

#include "io/image.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/output_file.h"
#include "base/temp_dir_for_test.h"
#include "io/picture_for_test.h"

namespace trivet {
namespace {

std::string corpus(const char* name) {
  return cat(TRIVET_SOURCE_DIR, "/tests/corpus/image_fuzz/", name);
}

TEST(Image, LosslessFormatsGiveThePixels) {
  for (const char* name : {"rgb.png", "rgb.bmp", "rgba.png"}) {
    const auto image = read_image(corpus(name));
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->width, 7);
    EXPECT_EQ(image->height, 5);
    EXPECT_EQ(image->pixels, picture_for_test(7, 5).pixels) << name;
  }
}

TEST(Image, GreyBecomesThreeEqualChannels) {
  const auto image = read_image(corpus("gray.png"));
  ASSERT_TRUE(image) << image.error().message;
  ASSERT_EQ(image->pixels.size(), 7U * 5U * 3U);
  EXPECT_EQ(image->pixels[3], image->pixels[4]);
  EXPECT_EQ(image->pixels[3], image->pixels[5]);
}

TEST(Image, JpegIsCloseToWhatWentIn) {
  const auto image = read_image(corpus("plain.jpg"));
  ASSERT_TRUE(image) << image.error().message;
  ASSERT_EQ(image->pixels.size(), 8U * 8U * 3U);
  EXPECT_NEAR(image->pixels[0], 200, 3);
  EXPECT_NEAR(image->pixels[1], 30, 3);
  EXPECT_NEAR(image->pixels[2], 60, 3);
  EXPECT_TRUE(read_image(corpus("progressive.jpg")));
}

TEST(Image, DamagedFilesAreErrors) {
  for (const char* text : {"", "hello", "\x89PNG\r\n\x1a\n", "BM", "\xff\xd8\xff\xe0"}) {
    EXPECT_FALSE(decode_image(std::as_bytes(std::span(std::string_view(text)))));
  }
  EXPECT_FALSE(read_image(corpus("there_is_no_such.png")));
}

TEST(Image, AHugePictureIsRefusedByItsHeader) {
  auto text = read_text_file(corpus("rgb.png"), 1 << 20);
  ASSERT_TRUE(text);
  for (const std::size_t size : {16U, 20U}) {  // width and height of IHDR: 16384 each
    (*text)[size + 2] = '\x40';
    (*text)[size + 3] = 0;
  }
  const auto image = decode_image(std::as_bytes(std::span(*text)));
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("pixels"), std::string::npos) << image.error().message;
}

TEST(Image, AFolderIsListedInOrder) {
  const TempDirForTest dir;
  dir.write("b.JPG", "");
  dir.write("a.png", "");
  dir.write("notes.txt", "");
  dir.write("below/c.png", "");
  const auto names = list_images(dir.path());
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(*names, (std::vector<std::string>{dir.file("a.png"), dir.file("b.JPG")}));
  EXPECT_FALSE(list_images(dir.file("nowhere")));
  const TempDirForTest empty;
  EXPECT_FALSE(list_images(empty.path()));
}

}  // namespace
}  // namespace trivet

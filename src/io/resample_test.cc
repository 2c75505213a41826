// The expected pixels come from Pillow 13: Image.resize with BILINEAR and BICUBIC.
#include "io/resample.h"

#include <gtest/gtest.h>

#include "io/picture_for_test.h"

namespace trivet {
namespace {

struct Case {
  int width, height;  ///< of picture_for_test
  int out_width, out_height;
  Interpolation interpolation;
  std::vector<std::uint8_t> pixels;
};

const Case kCases[] = {
    {7,
     5,
     3,
     2,
     Interpolation::kBilinear,
     {43, 6, 131, 122, 15, 137, 201, 32, 143, 65, 16, 136, 144, 25, 155, 194, 42, 174}},
    {7, 5, 4, 9, Interpolation::kBilinear, {19, 1,  128, 77,  5,  128, 145, 16, 128, 203, 30, 128,
                                            23, 3,  129, 81,  7,  130, 149, 18, 132, 207, 32, 133,
                                            29, 5,  130, 87,  9,  133, 155, 20, 139, 213, 34, 142,
                                            35, 8,  130, 93,  12, 137, 161, 23, 145, 219, 37, 152,
                                            41, 11, 131, 99,  15, 140, 167, 26, 152, 225, 40, 161,
                                            47, 14, 132, 105, 18, 144, 173, 29, 158, 231, 43, 170,
                                            53, 17, 133, 111, 21, 148, 179, 32, 164, 222, 46, 179,
                                            59, 19, 134, 117, 23, 151, 185, 34, 171, 154, 48, 188,
                                            63, 21, 134, 121, 25, 153, 189, 36, 175, 113, 50, 194}},
    {7,
     5,
     3,
     2,
     Interpolation::kBicubic,
     {36, 5, 130, 120, 13, 136, 207, 32, 142, 62, 17, 135, 148, 25, 156, 196, 44, 178}},
    {5, 7, 8, 3, Interpolation::kBicubic, {5,   4,  128, 21,  4,  129, 47,  5,  130, 70,  7,  131,
                                           94,  9,  133, 117, 13, 134, 143, 17, 136, 159, 21, 137,
                                           30,  15, 127, 46,  15, 131, 72,  16, 138, 95,  18, 143,
                                           119, 20, 149, 142, 24, 154, 168, 28, 161, 184, 32, 165,
                                           55,  26, 127, 71,  26, 134, 97,  27, 145, 120, 29, 155,
                                           144, 31, 165, 167, 35, 175, 193, 39, 186, 209, 43, 192}},
};

TEST(Resample, GivesWhatPillowGives) {
  for (const Case& c : kCases) {
    const auto image =
        resize(picture_for_test(c.width, c.height), c.out_width, c.out_height, c.interpolation);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->width, c.out_width);
    EXPECT_EQ(image->height, c.out_height);
    ASSERT_EQ(image->pixels.size(), c.pixels.size());
    for (std::size_t i = 0; i < c.pixels.size(); ++i) {
      EXPECT_NEAR(image->pixels[i], c.pixels[i], 1)
          << interpolation_name(c.interpolation) << " at " << i;
    }
  }
}

TEST(Resample, TheAxisThatShrinksMoreGoesFirst) {
  const Image image = picture_for_test(6, 9);
  const auto at_once = resize(image, 7, 4, Interpolation::kBicubic);
  const auto lower = resize(image, 6, 4, Interpolation::kBicubic);
  ASSERT_TRUE(at_once && lower);
  const auto then_wider = resize(*lower, 7, 4, Interpolation::kBicubic);
  ASSERT_TRUE(then_wider);
  EXPECT_EQ(at_once->pixels, then_wider->pixels);
}

TEST(Resample, TheSameSizeIsTheSamePicture) {
  const Image image = picture_for_test(4, 3);
  const auto same = resize(image, 4, 3, Interpolation::kBicubic);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->pixels, image.pixels);
}

TEST(Resample, WithoutAntialiasingTwoPixelsCount) {
  Image image{4, 1, {}};
  for (const int value : {0, 100, 200, 40})
    image.pixels.insert(image.pixels.end(), 3, static_cast<std::uint8_t>(value));
  const auto half = resize(image, 2, 1, Interpolation::kBilinearNoAntialias);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->pixels[0], 50);
  EXPECT_EQ(half->pixels[3], 120);
}

TEST(Resample, SizesThatCannotBeAreErrors) {
  const Image image = picture_for_test(4, 3);
  EXPECT_FALSE(resize(image, 0, 3, Interpolation::kBilinear));
  EXPECT_FALSE(resize(image, 4, -1, Interpolation::kBilinear));
  EXPECT_FALSE(resize(image, 60000, 60000, Interpolation::kBilinear));
  EXPECT_FALSE(resize(Image{}, 1, 1, Interpolation::kBilinear));
}

TEST(Resample, NamesGoBothWays) {
  for (const Interpolation one :
       {Interpolation::kBilinear, Interpolation::kBilinearNoAntialias, Interpolation::kBicubic}) {
    const auto back = interpolation_from_name(interpolation_name(one));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, one);
  }
  EXPECT_FALSE(interpolation_from_name("lanczos"));
}

}  // namespace
}  // namespace trivet

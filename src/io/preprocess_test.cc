#include "io/preprocess.h"

#include <gtest/gtest.h>

#include "io/picture_for_test.h"

namespace trivet {
namespace {

Preprocess parsed(const PreprocessText& text) {
  const auto out = parse_preprocess(text);
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or(Preprocess{});
}

TEST(Preprocess, TextGoesBothWays) {
  const PreprocessText texts[] = {
      {},
      {{"resize", "256"}, {"crop", "224x224"}, {"mean", "127"}, {"std", "128"}},
      {{"resize", "320x240"},
       {"interpolation", "bicubic"},
       {"scale", "0.00392156862745098"},
       {"mean", "0.485,0.456,0.406"},
       {"std", "0.229,0.224,0.225"}},
      {{"layout", "nhwc"}, {"channels", "bgr"}},
      {{"channels", "gray"}, {"interpolation", "bilinear-no-antialias"}},
  };
  for (const PreprocessText& text : texts) EXPECT_EQ(preprocess_text(parsed(text)), text);
  EXPECT_EQ(parsed({{"scale", "1/255"}}).scale, 1.0 / 255);
  EXPECT_EQ(parsed({{"crop", "224"}}).crop, (PixelSize{224, 224}));
  EXPECT_EQ(parsed({{"resize", "320x240"}}).resize, (PixelSize{320, 240}));
}

TEST(Preprocess, WrongTextIsAnErrorThatNamesTheOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"resize", "0"},   {"resize", "-5"},       {"resize", "10x"},
      {"resize", "1e3"}, {"resize", "99999999"}, {"crop", "x224"},
      {"scale", "1/0"},  {"scale", "fast"},      {"scale", "nan"},
      {"mean", "1,2"},   {"mean", "1,,2"},       {"std", "1,0,1"},
      {"layout", "chw"}, {"channels", "yuv"},    {"interpolation", "nearest"},
      {"rotate", "90"},
  };
  for (const auto& [key, value] : cases) {
    const auto out = parse_preprocess({{key, value}});
    ASSERT_FALSE(out) << key << ' ' << value;
    EXPECT_NE(out.error().message.find(key), std::string::npos) << out.error().message;
  }
}

/// Made with Pillow and numpy: Resize(4), CenterCrop(3x2), (x/255 − mean)/std, planes.
TEST(Preprocess, TheUsualStepsGiveTheUsualNumbers) {
  const Preprocess steps = parsed({{"resize", "4"},
                                   {"crop", "3x2"},
                                   {"scale", "1/255"},
                                   {"mean", "0.485,0.456,0.406"},
                                   {"std", "0.229,0.224,0.225"}});
  const auto tensor = apply(steps, picture_for_test(9, 6));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{1, 3, 2, 3}));
  const float expected[] = {0.262437F,  1.255673F, 0.70768F,   0.519308F,  1.358421F,  0.159688F,
                            -1.685574F, -1.47549F, -1.195378F, -1.563025F, -1.352941F, -1.072829F,
                            0.722789F,  0.879651F, 1.001656F,  0.966797F,  1.228235F,  1.472244F};
  const float one_level = 1.001F / 255 / 0.224F;
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_NEAR(tensor->data<float>()[i], expected[i], one_level) << i;
  }
}

TEST(Preprocess, LayoutAndChannels) {
  const Image image = picture_for_test(3, 2);
  const auto last = apply(parsed({{"layout", "nhwc"}, {"channels", "bgr"}}), image);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->shape(), (Shape{1, 2, 3, 3}));
  EXPECT_EQ(last->data<float>()[0], image.pixels[2]);
  EXPECT_EQ(last->data<float>()[2], image.pixels[0]);
  const auto gray = apply(parsed({{"channels", "gray"}}), image, DType::kUInt8);
  ASSERT_TRUE(gray);
  EXPECT_EQ(gray->shape(), (Shape{1, 1, 2, 3}));
  const std::vector<std::uint8_t> luma = {15, 26, 39, 21, 33, 46};  // Pillow's convert("L")
  EXPECT_EQ(std::vector<std::uint8_t>(gray->data<std::uint8_t>().begin(),
                                      gray->data<std::uint8_t>().end()),
            luma);
}

TEST(Preprocess, BytesAreRoundedAndCut) {
  const Image image{2, 1, {0, 3, 255, 255, 255, 255}};
  const auto tensor =
      apply(parsed({{"scale", "0.5"}, {"mean", "-1"}, {"std", "0.4"}}), image, DType::kUInt8);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->data<std::uint8_t>()[0], 2);    // 2.5, to even
  EXPECT_EQ(tensor->data<std::uint8_t>()[1], 255);  // 321
}

TEST(Preprocess, WhatDoesNotFitIsAnError) {
  const Image image = picture_for_test(8, 8);
  EXPECT_FALSE(apply(parsed({{"crop", "9x8"}}), image));
  EXPECT_FALSE(apply({}, image, DType::kInt64));
  Preprocess uneven;
  uneven.mean = {1, 2};
  EXPECT_FALSE(apply(uneven, image));
}

}  // namespace
}  // namespace trivet

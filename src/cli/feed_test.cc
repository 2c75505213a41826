#include "cli/feed.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir_for_test.h"
#include "io/npy.h"
#include "io/npz.h"

namespace trivet::cli {
namespace {

const Dim kBatch = Dim::symbol("batch");

std::vector<Port> one_picture() {
  return {{"input", ValueType::tensor(DType::kFloat32, SymbolicShape{kBatch, 3, Dim::symbol("H"),
                                                                     Dim::symbol("W")})}};
}

std::vector<Port> two_inputs() {
  return {{"a:0", ValueType::tensor(DType::kFloat32, SymbolicShape{kBatch, 4})},
          {"b=1", ValueType::tensor(DType::kInt64, SymbolicShape{kBatch})}};
}

ShapeBindings bound(const std::vector<Port>& ports, const std::vector<std::string>& texts) {
  const auto out = parse_shapes(ports, texts);
  EXPECT_TRUE(out) << out.error().message;
  return out.value_or(ShapeBindings{});
}

std::string fault(const Result<Feed>& feed) { return feed ? "" : feed.error().message; }

TEST(SplitInput, TheLastEqualsSignWithAFileBehindIt) {
  const TempDirForTest dir;
  const std::string plain = dir.write("x.npy", "");
  const std::string tricky = dir.write("a=b.npy", "");
  const auto expect = [](const std::string& text, const std::string& name,
                         const std::string& file) {
    const NamedFile split = split_input(text);
    EXPECT_EQ(split.name, name) << text;
    EXPECT_EQ(split.file, file) << text;
  };
  expect("x=" + plain, "x", plain);
  expect("x:0=" + plain, "x:0", plain);
  expect("a=b=" + plain, "a=b", plain);
  expect("x=" + tricky, "x", tricky);
  expect(plain, "", plain);
  expect(tricky, "", tricky);
  expect("x=missing=1.npy", "x", "missing=1.npy");
  expect("missing.npy", "", "missing.npy");
  expect("", "", "");
}

TEST(ParseShapes, AllForms) {
  const Shape shape = {2, 3, 8, 9};
  EXPECT_EQ(bound(one_picture(), {"input=2x3x8x9"}).inputs.at("input"), shape);
  EXPECT_EQ(bound(one_picture(), {"input:2x3x8x9"}).inputs.at("input"), shape);
  EXPECT_EQ(bound(one_picture(), {"2x3x8x9"}).inputs.at("input"), shape);
  EXPECT_EQ(bound(one_picture(), {"input=2x3x8x9"}).symbols.at("W"), 9);
  EXPECT_EQ(bound(one_picture(), {"batch=5"}).symbols.at("batch"), 5);
  EXPECT_EQ(bound(two_inputs(), {"a:0:2x4"}).inputs.at("a:0"), (Shape{2, 4}));
  EXPECT_EQ(bound(two_inputs(), {"b=1=7"}).inputs.at("b=1"), (Shape{7}));
}

TEST(ParseShapes, WhatFitsNothingIsAnError) {
  for (const char* text :
       {"", "input=", "input=2x", "input=2xx3", "input=-1x3x8x9", "input=2x3x8", "input=2x4x8x9",
        "other=1x2", "other=3", "batch=2x3", "input=99999999999999999999x3x8x9", "=3"}) {
    EXPECT_FALSE(parse_shapes(one_picture(), std::vector<std::string>{text})) << text;
  }
  EXPECT_FALSE(parse_shapes(two_inputs(), std::vector<std::string>{"2x4"})) << "which of the two?";
  const std::vector<std::string> contradiction = {"a:0=2x4", "b=1=3"};
  EXPECT_FALSE(parse_shapes(two_inputs(), contradiction));
}

TEST(ResolveShapes, OpenDimensionsAreOneUnlessTheyArePictures) {
  const auto two = resolve_shapes(two_inputs(), {}, OpenDims::kDefault);
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(constant_shape(*(*two)[0].shape), (Shape{1, 4}));
  const auto picture = resolve_shapes(one_picture(), {}, OpenDims::kDefault);
  ASSERT_FALSE(picture);
  EXPECT_NE(picture.error().message.find("--shape input=1x3x224x224"), std::string::npos)
      << picture.error().message;
  const auto given =
      resolve_shapes(one_picture(), bound(one_picture(), {"H=8", "W=9"}), OpenDims::kDefault);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(constant_shape(*(*given)[0].shape), (Shape{1, 3, 8, 9}));
  const auto open =
      resolve_shapes(one_picture(), bound(one_picture(), {"H=8"}), OpenDims::kSymbolic);
  ASSERT_TRUE(open);
  EXPECT_EQ(shape_to_string(*(*open)[0].shape), "batchx3x8xW");
}

TEST(BuildFeed, FilesOfEveryKind) {
  const TempDirForTest dir;
  const Tensor a = Tensor::from_values<float>({1, 4}, {1, 2, 3, 4});
  const Tensor b = Tensor::from_vector<std::int64_t>({7});
  ASSERT_TRUE(write_npy(dir.file("a.npy"), a, false));
  const std::vector<NamedArray> arrays = {{"a:0", a}, {"b=1", b}};
  ASSERT_TRUE(write_npz(dir.file("both.npz"), arrays, false));

  FeedFlags flags;
  flags.inputs = {"a:0=" + dir.file("a.npy"), "b=1=" + dir.file("both.npz")};
  const auto named = build_feed(two_inputs(), flags);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->at("a:0").shape(), (Shape{1, 4}));
  EXPECT_EQ(named->at("b=1").data<std::int64_t>()[0], 7);

  flags.inputs = {dir.file("both.npz")};
  EXPECT_TRUE(build_feed(two_inputs(), flags));
  flags.inputs = {dir.file("a.npy")};
  EXPECT_NE(fault(build_feed(two_inputs(), flags)), "");
  flags.inputs = {"c=" + dir.file("a.npy")};
  EXPECT_NE(fault(build_feed(two_inputs(), flags)).find("'c'"), std::string::npos);
  flags.inputs = {"a:0=" + dir.file("none.npy")};
  EXPECT_NE(fault(build_feed(two_inputs(), flags)).find("none.npy"), std::string::npos);
  flags.inputs = {"a:0=" + dir.write("a.txt", "")};
  EXPECT_NE(fault(build_feed(two_inputs(), flags)).find(".npy"), std::string::npos);
}

TEST(BuildFeed, APictureWithoutAName) {
  FeedFlags flags;
  flags.inputs = {TRIVET_SOURCE_DIR "/tests/corpus/image_fuzz/rgb.png"};
  flags.preprocess.values = {{"crop", "4x2"}, {"scale", ""}};
  const auto feed = build_feed(one_picture(), flags);
  ASSERT_TRUE(feed) << feed.error().message;
  EXPECT_EQ(feed->at("input").shape(), (Shape{1, 3, 2, 4}));

  const std::vector<Port> fixed = {
      {"x", ValueType::tensor(DType::kFloat32, SymbolicShape{1, 3, 224, 224})}};
  EXPECT_NE(fault(build_feed(fixed, flags)).find("--resize"), std::string::npos);
}

TEST(BuildFeed, WhatHasNoFileIsMadeUpOnRequest) {
  const TempDirForTest dir;
  ASSERT_TRUE(write_npy(dir.file("a.npy"),
                        Tensor::from_values<float>({3, 4}, std::vector<float>(12)), false));
  FeedFlags flags;
  flags.inputs = {"a:0=" + dir.file("a.npy")};
  EXPECT_NE(fault(build_feed(two_inputs(), flags)).find("--random"), std::string::npos);
  flags.random = true;
  const auto feed = build_feed(two_inputs(), flags);
  ASSERT_TRUE(feed) << feed.error().message;
  EXPECT_EQ(feed->at("b=1").shape(), (Shape{3})) << "the batch of the other input";
}

TEST(BuildFeed, GiantSizesAreRefusedBeforeMemoryIsTaken) {
  FeedFlags flags;
  flags.random = true;
  for (const char* shape : {"input=1x3x1000000x1000000", "input=1x3x9000000000000000000x2"}) {
    flags.shapes = {shape};
    const auto feed = build_feed(one_picture(), flags);
    ASSERT_FALSE(feed) << shape;
    EXPECT_EQ(feed.error().code, ErrorCode::kOutOfMemory) << feed.error().message;
  }
}

}  // namespace
}  // namespace trivet::cli

#include "cli/dataset.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir_for_test.h"
#include "cli/shipping.h"
#include "io/npy.h"
#include "io/npz.h"

namespace trivet::cli {
namespace {

const std::vector<Port> kPorts = {
    {"x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim::symbol("batch"), Dim(2)})}};

class DatasetTest : public ::testing::Test {
 protected:
  void add_input(const std::string& name, float value) {
    const std::string path = dir_.file(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(write_npy(path, Tensor::from_values<float>({1, 2}, {value, value}), false));
  }
  Result<Dataset> open(const std::string& data, const std::string& truth = "",
                       const std::vector<std::string>& labels = {}) {
    DataFlags flags;
    flags.data = dir_.file(data);
    if (!truth.empty()) flags.truth = dir_.file(truth);
    return Dataset::open(flags, kPorts, labels);
  }
  static std::vector<std::int64_t> truths(const Dataset& data) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < data.size(); ++i) out.push_back(data.sample(i)->truth.value_or(-1));
    return out;
  }

  TempDirForTest dir_;
};

TEST_F(DatasetTest, AFolderInTheOrderOfItsNames) {
  add_input("d/b.npy", 2);
  add_input("d/a.npy", 1);
  dir_.write("d/notes.txt", "no input");
  const auto data = open("d");
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->size(), 2u);
  EXPECT_FALSE(data->labelled());
  EXPECT_EQ(data->sample(0)->name, "a.npy");
  EXPECT_EQ(data->sample(1)->feed.at("x").data<float>()[0], 2);
}

TEST_F(DatasetTest, ClassesByPlaceByNumberAndByLabel) {
  add_input("d/cat/1.npy", 1);
  add_input("d/dog/1.npy", 2);
  add_input("d/dog/2.npy", 3);
  EXPECT_EQ(truths(*open("d")), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(truths(*open("d", "", {"dog", "fox", "cat"})), (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_FALSE(open("d", "", {"dog", "fox"})) << "cat is no label, though dog is";
  add_input("n/30/1.npy", 1);
  add_input("n/7/1.npy", 1);
  EXPECT_EQ(truths(*open("n", "", {"dog", "fox"})), (std::vector<std::int64_t>{30, 7}));
}

TEST_F(DatasetTest, TruthFromATable) {
  add_input("d/a.npy", 1);
  add_input("d/b.npy", 2);
  dir_.write("t.csv", "file,label\na.npy,4\nd/b.npy,dog\n");
  EXPECT_EQ(truths(*open("d", "t.csv", {"cat", "dog"})), (std::vector<std::int64_t>{4, 1}));
  EXPECT_FALSE(open("d", "t.csv"));
  dir_.write("short.txt", "a.npy 4\r\n");
  EXPECT_FALSE(open("d", "short.txt"));
}

TEST_F(DatasetTest, ManyInputsInOneArray) {
  const std::vector<NamedArray> arrays = {
      {"images", Tensor::from_values<float>({2, 2}, {1, 2, 3, 4})},
      {"labels", Tensor::from_vector<std::int64_t>({5, 6})}};
  ASSERT_TRUE(write_npz(dir_.file("many.npz"), arrays, false));
  const auto data = open("many.npz");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(truths(*data), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(data->sample(1)->feed.at("x").shape(), (Shape{1, 2}));
  EXPECT_EQ(data->sample(1)->feed.at("x").data<float>()[0], 3);
}

TEST_F(DatasetTest, WhatIsNoDataIsAnError) {
  EXPECT_FALSE(open("nothing"));
  std::filesystem::create_directories(dir_.file("empty"));
  EXPECT_FALSE(open("empty"));
  dir_.write("text.txt", "hello");
  EXPECT_FALSE(open("text.txt"));
  const std::vector<NamedArray> wrong = {
      {"x", Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6})}};
  ASSERT_TRUE(write_npz(dir_.file("wrong.npz"), wrong, false));
  const auto data = open("wrong.npz");
  ASSERT_TRUE(data);
  EXPECT_FALSE(data->sample(0));
}

TEST(ParseBytes, NumbersWithUnits) {
  EXPECT_EQ(parse_bytes("1000"), 1000u);
  EXPECT_EQ(parse_bytes("64M"), 64'000'000u);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1'500'000'000u);
  EXPECT_EQ(parse_bytes("2k"), 2000u);
  for (const char* text : {"", "M", "64X", "64MM", "-1M", "0", "nan", "1e30"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

}  // namespace
}  // namespace trivet::cli

#include "onnx/tensor_proto.h"

#include <gtest/gtest.h>

#include "base/temp_dir_for_test.h"
#include "onnx/proto_for_test.h"
#include "onnx/source.h"
#include "onnx/tensor_reader.h"

namespace trivet {
namespace {

using onnx::Proto;
using onnx::tensor_for_test;

Result<Tensor> parse(const Proto& proto) {
  auto named = parse_tensor(std::as_bytes(std::span(proto.bytes)));
  if (!named) return tl::unexpected(named.error());
  return named->tensor;
}

Proto header(DType dtype, const std::vector<std::int64_t>& dims) {
  Proto out;
  for (const std::int64_t d : dims) out.integer(1, d);
  return out.integer(2, static_cast<int>(dtype));
}

TEST(TensorProto, DecodesNumbersOfEveryWidth) {
  const struct {
    DType dtype;
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> expected;
  } cases[] = {
      {DType::kInt8, {-1, 5}, {-1, 5}},
      {DType::kUInt8, {255, 5}, {255, 5}},
      {DType::kInt16, {-300, 5}, {-300, 5}},
      {DType::kUInt16, {65535, 5}, {65535, 5}},
      {DType::kInt32, {-70000, 5}, {-70000, 5}},
      {DType::kBool, {7, 0}, {1, 0}},
      {DType::kFloat16, {0x3c00, 0xc000}, {1, -2}},
      {DType::kBFloat16, {0x3f80, 0xc000}, {1, -2}},
      {DType::kInt4, {0x7f}, {-1, 7}},
      {DType::kUInt4, {0x7f}, {15, 7}},
      {DType::kInt2, {0x7}, {-1, 1}},
      {DType::kUInt2, {0x7}, {3, 1}},
  };
  for (const auto& c : cases) {
    const auto tensor = parse(header(c.dtype, {2}).packed(5, c.numbers));
    ASSERT_TRUE(tensor) << dtype_name(c.dtype) << ": " << tensor.error().message;
    EXPECT_EQ(elements_as_int64(*tensor), c.expected) << dtype_name(c.dtype);
  }
  const auto wide = parse(header(DType::kUInt32, {2}).packed(11, {4294967295, 1}));
  ASSERT_TRUE(wide);
  EXPECT_EQ(elements_as_int64(*wide), (std::vector<std::int64_t>{4294967295, 1}));
  const auto single = parse(header(DType::kInt64, {2}).integer(7, -9).integer(7, 3));
  ASSERT_TRUE(single);
  EXPECT_EQ(elements_as_int64(*single), (std::vector<std::int64_t>{-9, 3}));
}

TEST(TensorProto, DecodesFloatsPackedAndNot) {
  Proto packed = header(DType::kFloat32, {2});
  packed.text(4, std::string_view("\0\0\x80\x3f\0\0\0\xc0", 8));
  Proto single = header(DType::kFloat32, {2});
  protozero::pbf_writer(single.bytes).add_float(4, 1.0F);
  protozero::pbf_writer(single.bytes).add_float(4, -2.0F);
  for (const Proto& proto : {packed, single}) {
    const auto tensor = parse(proto);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(elements_as_int64(*tensor), (std::vector<std::int64_t>{1, -2}));
  }
}

TEST(TensorProto, RefusesSizesThatDoNotMatchTheData) {
  const std::string four(4, '\0');
  const Proto bad[] = {
      tensor_for_test("t", {1'000'000, 1'000'000}, 1, ""),
      tensor_for_test("t", {std::int64_t{1} << 62, 4}, 1, four),
      tensor_for_test("t", {std::int64_t{1} << 62, 8, 0}, 1, ""),
      tensor_for_test("t", {-1}, 1, four),
      tensor_for_test("t", {2}, 1, four),
      tensor_for_test("t", {1}, 0, four),
      tensor_for_test("t", {1}, 99, four),
      tensor_for_test("t", {1}, 8, four),
      header(DType::kFloat32, {1'000'000'000'000}),
      header(DType::kString, {1'000'000'000'000}),
      header(DType::kInt64, {1'000'000'000'000}).packed(7, {1}),
      header(DType::kFloat32, {1}).packed(7, {1}),
      header(DType::kInt64, {1}).packed(7, {1}).text(9, "12345678"),
  };
  for (const Proto& proto : bad) EXPECT_FALSE(parse(proto));
}

TEST(TensorProto, ReadsEmptyTensorsScalarsAndStrings) {
  EXPECT_TRUE(parse(header(DType::kFloat32, {0, 3})));
  EXPECT_TRUE(parse(tensor_for_test("t", {3, 0}, 1, "")));
  const auto scalar = parse(tensor_for_test("t", {}, 1, std::string(4, '\0')));
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->rank(), 0);
  const auto strings = parse(header(DType::kString, {2}).text(6, "").text(6, "b"));
  ASSERT_TRUE(strings);
  EXPECT_EQ(strings->data<std::string>()[1], "b");
}

TEST(TensorProto, NormalisesBooleans) {
  const auto tensor = parse(tensor_for_test("t", {2}, 9, "\x02\x01"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(static_cast<const char*>(tensor->raw())[0], 1);
}

TEST(TensorProto, FilesComeBackAsTheyWereWritten) {
  const TempDirForTest dir;
  const Tensor tensor = Tensor::from_values<float>({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(write_tensor_file(tensor, "x", dir.file("x.pb")));
  EXPECT_FALSE(write_tensor_file(tensor, "x", dir.file("x.pb")));
  const auto read = read_named_tensor_file(dir.file("x.pb"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "x");
  EXPECT_EQ(read->tensor.shape(), (Shape{2, 2}));
  EXPECT_EQ(elements_as_int64(read->tensor), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST(TensorProto, NamesSequencesAndOptionals) {
  const TempDirForTest dir;
  const Proto sequence = Proto().text(1, "seq").integer(2, 1).message(3, header(DType::kInt8, {}));
  const Proto none = Proto().text(1, "opt").integer(2, 0);
  for (const Proto& proto : {sequence, none}) {
    const auto read = read_tensor_file(dir.write("s.pb", proto.bytes));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
  }
}

class ExternalData : public ::testing::Test {
 protected:
  Result<onnx::TensorRecord> read(const std::vector<std::pair<std::string, std::string>>& entries) {
    Proto proto;
    proto.integer(1, 2).integer(2, 1).text(8, "w").integer(14, 1);
    for (const auto& [key, value] : entries) {
      proto.message(13, Proto().text(1, key).text(2, value));
    }
    bytes_ = proto.bytes;
    onnx::ExternalFiles files(dir_.file("model"));
    return onnx::read_tensor_proto({bytes_, nullptr, nullptr}, files);
  }

  TempDirForTest dir_;
  std::string bytes_;
};

TEST_F(ExternalData, StaysInPlaceWhereAligned) {
  dir_.write("model/w.bin", std::string(16, 'x'));
  const auto aligned = read({{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}});
  ASSERT_TRUE(aligned) << aligned.error().message;
  EXPECT_EQ(aligned->tensor.size(), 2);
  const auto unaligned = read({{"location", "w.bin"}, {"offset", "3"}});
  ASSERT_TRUE(unaligned);
  EXPECT_EQ(static_cast<const char*>(unaligned->tensor.raw())[7], 'x');
}

TEST_F(ExternalData, RefusesPlacesOutsideTheFile) {
  dir_.write("model/w.bin", std::string(16, 'x'));
  for (const char* offset :
       {"9", "16", "17", "18446744073709551615", "18446744073709551616", "-1", "", "1x", "0x10"}) {
    EXPECT_FALSE(read({{"location", "w.bin"}, {"offset", offset}})) << offset;
  }
  EXPECT_FALSE(read({{"location", "w.bin"}, {"length", "18446744073709551612"}}));
  EXPECT_FALSE(read({{"location", "w.bin"}, {"length", "4"}}));
  EXPECT_FALSE(read({{"offset", "0"}}));
}

TEST_F(ExternalData, RefusesFilesOutsideTheFolder) {
  dir_.write("secret.bin", std::string(16, 'x'));
  dir_.write("model/sub/w.bin", std::string(16, 'x'));
  std::filesystem::create_symlink("../secret.bin", dir_.file("model/link.bin"));
  for (const std::string& location :
       {std::string("../secret.bin"), dir_.file("secret.bin"), std::string("sub/../../secret.bin"),
        std::string("link.bin"), std::string("sub"), std::string("."),
        std::string("sub/w.bin\0", 10)}) {
    EXPECT_FALSE(read({{"location", location}})) << location;
  }
  EXPECT_TRUE(read({{"location", "sub/w.bin"}}));
}

TEST_F(ExternalData, SaysWhichFileIsMissing) {
  dir_.write("model/other", "");
  const auto result = read({{"location", "w.bin"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_NE(result.error().message.find("tensor 'w'"), std::string::npos);
  EXPECT_NE(result.error().message.find("w.bin"), std::string::npos);
}

}  // namespace
}  // namespace trivet

#include "io/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string_view>

#include "base/temp_dir_for_test.h"
#include "io/npy_header.h"
#include "tensor/half.h"

namespace trivet {
namespace {

std::string corpus(const char* name) {
  return cat(TRIVET_SOURCE_DIR, "/tests/corpus/npy_fuzz/", name);
}

Result<Tensor> parse(std::string_view text) { return parse_npy(std::as_bytes(std::span(text))); }

/// A file of version 1 with this dictionary.
std::string file_with(const std::string& dictionary, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  return out + dictionary + data;
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

TEST(Npy, ColumnsFirstAndMostSignificantByteFirst) {
  const auto tensor = read_npy(corpus("fortran_big_endian.npy"));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
  EXPECT_EQ(values<std::int16_t>(*tensor), (std::vector<std::int16_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, ComplexNumbersAreTurnedPartByPart) {
  const auto tensor = read_npy(corpus("complex_big_endian.npy"));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->dtype(), DType::kComplex64);
  const auto* parts = static_cast<const float*>(tensor->raw());
  EXPECT_EQ(parts[0], 1);
  EXPECT_EQ(parts[1], 2);
  EXPECT_EQ(parts[3], -3.5F);
}

TEST(Npy, OtherTypesAndShapes) {
  const auto half = read_npy(corpus("float16.npy"));
  ASSERT_TRUE(half);
  EXPECT_EQ(element_as_double(*half, 1), -2);
  EXPECT_TRUE(std::isinf(element_as_double(*half, 2)));
  const auto boolean = read_npy(corpus("bool.npy"));
  ASSERT_TRUE(boolean);
  EXPECT_EQ(boolean->shape(), (Shape{2, 1}));
  EXPECT_TRUE(boolean->data<bool>()[0]);
  const auto scalar = read_npy(corpus("scalar.npy"));
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->shape().empty());
  EXPECT_EQ(scalar->data<double>()[0], 2.5);
  const auto empty = read_npy(corpus("empty.npy"));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->shape(), (Shape{0, 3}));
  const auto version2 = read_npy(corpus("version2.npy"));
  ASSERT_TRUE(version2);
  EXPECT_EQ(version2->size(), 3);
}

TEST(Npy, Text) {
  const auto text = read_npy(corpus("text.npy"));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(values<std::string>(*text), (std::vector<std::string>{"a", "žluť", "", "😀"}));
  const auto turned = read_npy(corpus("text_big_endian.npy"));
  ASSERT_TRUE(turned);
  EXPECT_EQ(values<std::string>(*turned), (std::vector<std::string>{"ab", "ž"}));
  const auto bytes = read_npy(corpus("bytes.npy"));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(values<std::string>(*bytes), (std::vector<std::string>{"ab", "c"}));
}

TEST(Npy, WhatIsWrittenReadsBack) {
  const TempDirForTest dir;
  const std::string path = dir.file("a.npy");
  const Tensor tensors[] = {
      Tensor::from_values<float>({2, 2}, {1, -2, 3, 4}),
      Tensor::from_vector<std::uint64_t>({1, 1ULL << 63}),
      Tensor::scalar<bool>(true),
      Tensor::from_values<std::string>({1, 2}, {"ž😀", ""}),
      Tensor::from_vector<Float16>({Float16(0.5F)}),
      Tensor::from_values<std::int8_t>({0, 4}, {}),
  };
  for (const Tensor& tensor : tensors) {
    ASSERT_TRUE(write_npy(path, tensor, true));
    const auto back = read_npy(path);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->dtype(), tensor.dtype());
    EXPECT_EQ(back->shape(), tensor.shape());
    if (tensor.dtype() == DType::kString) {
      EXPECT_EQ(values<std::string>(*back), values<std::string>(tensor));
    } else {
      EXPECT_EQ(std::string_view(static_cast<const char*>(back->raw()), back->bytes()),
                std::string_view(static_cast<const char*>(tensor.raw()), tensor.bytes()));
    }
  }
}

TEST(Npy, TypesThatNumpyDoesNotNameAreWidened) {
  const auto brain = npy_content(Tensor::from_vector<BFloat16>({BFloat16(1.5F)}));
  ASSERT_TRUE(brain);
  EXPECT_EQ(values<float>(brain->tensor), std::vector<float>{1.5F});
  const std::uint8_t packed[] = {0xF1};
  const auto nibbles = npy_content(Tensor::view(DType::kInt4, {2}, packed, nullptr));
  ASSERT_TRUE(nibbles);
  EXPECT_EQ(values<std::int8_t>(nibbles->tensor), (std::vector<std::int8_t>{1, -1}));
}

TEST(Npy, TheHeaderEndsAtAMultipleOf64) {
  for (std::size_t rank = 0; rank < 20; ++rank) {
    const std::string header = write_npy_header("<f4", Shape(rank, 3));
    EXPECT_EQ(header.size() % 64, 0U);
    const auto back = parse_npy_header(std::as_bytes(std::span(header)));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->shape, Shape(rank, 3));
    EXPECT_EQ(back->data_offset, header.size());
  }
}

TEST(Npy, AnExistingFileStays) {
  const TempDirForTest dir;
  const std::string path = dir.write("a.npy", "mine");
  EXPECT_FALSE(write_npy(path, Tensor::scalar(1.0F), false));
}

TEST(Npy, ABoolIsZeroOrOne) {
  const auto tensor = parse(
      file_with("{'descr':'|b1','fortran_order':False,'shape':(2,)}", std::string("\x07\x00", 2)));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(static_cast<const unsigned char*>(tensor->raw())[0], 1);
}

TEST(Npy, DamagedFilesAreErrors) {
  const std::string cases[] = {
      "",
      "\x93NUMPY",
      "PK\x03\x04 something else",
      std::string("\x93NUMPY\x07\x00\x02\x00{}", 12),
      std::string("\x93NUMPY\x01\x00\xff\xff{}", 12),
      file_with("", ""),
      file_with("{}", ""),
      file_with("{'descr':'<f4','fortran_order':False,'shape':(2,)}", "1234567"),
      file_with("{'descr':'<f4','fortran_order':False,'shape':(-1,)}", "1234"),
      file_with("{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}", ""),
      file_with("{'descr':'<f8','fortran_order':False,'shape':(4611686018427387904,4)}", ""),
      file_with("{'descr':'<U0','fortran_order':False,'shape':(1000000000000,)}", ""),
      file_with("{'descr':'<f3','fortran_order':False,'shape':()}", "1234"),
      file_with("{'descr':'|O','fortran_order':False,'shape':()}", "12345678"),
      file_with("{'descr':'<f4','fortran_order':Maybe,'shape':()}", "1234"),
      file_with("{'descr':'<f4','fortran_order':False}", "1234"),
      file_with("{'descr':'<f4', 'fortran_order':False, 'shape':(1", "1234"),
      file_with("{'descr':'<U1','fortran_order':False,'shape':(1,)}", "\xff\xff\xff\xff"),
  };
  for (const std::string& text : cases) {
    const auto tensor = parse(text);
    ASSERT_FALSE(tensor) << text;
    EXPECT_FALSE(tensor.error().message.empty());
  }
  EXPECT_FALSE(read_npy(corpus("structured.npy")));
  EXPECT_FALSE(read_npy(corpus("there_is_no_such_file.npy")));
}

}  // namespace
}  // namespace trivet

#include "cli/format.h"

#include <gtest/gtest.h>

#include <limits>

#include "cli/summary.h"
#include "cli/table.h"

namespace trivet::cli {
namespace {

TEST(Format, Numbers) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(13'594'211), "13.6 MB");
  EXPECT_EQ(format_bytes(999'999), "1.00 MB");
  EXPECT_EQ(format_scaled(0), "0");
  EXPECT_EQ(format_scaled(999), "999");
  EXPECT_EQ(format_scaled(21'700'000), "21.7 M");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(56'510'400), "56,510,400");
  EXPECT_EQ(format_ms(0.4123), "0.412 ms");
  EXPECT_EQ(format_ms(12.34), "12.3 ms");
  EXPECT_EQ(format_ms(4100), "4.10 s");
  EXPECT_EQ(format_number(1.0 / 3), "0.333333");
  EXPECT_EQ(format_percent(0.931), "93.1 %");
}

TEST(Format, TextIsOneLineAndNotEndless) {
  EXPECT_EQ(format_text("a\nb\x1b[31m"), "a b\\x1b[31m");
  EXPECT_EQ(format_text("abcdef", 3), "abc...");
  EXPECT_EQ(format_text("žluť", 3), "žl...");
}

TEST(Table, ColumnsLineUp) {
  Table table({{"name"}, {"n", Align::kRight}, {"note"}});
  table.add_row({"ž", "1", ""});
  table.add_row({"long name", "1000", "x"});
  EXPECT_EQ(table.to_string(),
            "name          n  note\n"
            "ž             1\n"
            "long name  1000  x\n");
}

TEST(Summary, WhatIsNotFiniteIsCountedApart) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto summary = summarize(Tensor::from_vector<float>({1, -inf, 3}));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->min, 1);
  EXPECT_EQ(summary->max, 3);
  EXPECT_EQ(summary->mean, 2);
  EXPECT_EQ(summary->not_finite, 1);
  EXPECT_FALSE(summarize(Tensor::from_vector<std::string>({"a"})));
  EXPECT_EQ(first_values(Tensor::from_vector<bool>({true, false, true}), 2),
            (std::vector<std::string>{"true", "false"}));
}

}  // namespace
}  // namespace trivet::cli

#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/html.h"
#include "report/svg.h"
#include "report/thumbnail.h"

namespace trivet {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Report sample_report() {
  Report report;
  report.trivet_version = "1.2.3";
  report.model_name = "<script>alert(1)</script>";
  report.source_file = "a\"b.onnx";
  report.cpu = "A & B";
  report.threads = 2;
  ReportRow row;
  row.name = "shipped";
  row.precision = "float32";
  row.file_bytes = 18'600'000;
  row.latency.samples_ms = {1, 2, 3, 4, 5};
  row.memory = {.before = 1000, .peak = 51'000, .after_load = 2000};
  row.agreement = Proportion{49, 50};
  report.rows = {row};
  const std::vector<std::string> names = {"y"};
  ParityReport parity = ParityReport::create(names, names, {}).value();
  const Tensor tensor = Tensor::from_vector<float>({1, 2});
  parity.add(std::vector{tensor}, std::vector{tensor});
  report.parity = {{"shipped on cpu", "original on reference", parity}};
  report.predictions = {{"<b>.jpg", "", {{"cat & dog", 0.5}}, std::nullopt}};
  report.operators = {{"Conv", 3, 2}};
  return report;
}

TEST(Html, EscapesWhatCouldBeMarkup) {
  EXPECT_EQ(html::escape("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(html::escape("ä\t€\n😀"), "ä\t€\n😀");
  EXPECT_EQ(html::escape(std::string("\x01\xff\xc3", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(html::escape("\xC0\x80<"), "\xEF\xBF\xBD\xEF\xBF\xBD&lt;");
}

TEST(Html, Numbers) {
  EXPECT_EQ(html::bytes(0), "0 B");
  EXPECT_EQ(html::bytes(999), "999 B");
  EXPECT_EQ(html::bytes(1000), "1.00 kB");
  EXPECT_EQ(html::bytes(18'600'000), "18.6 MB");
  EXPECT_EQ(html::bytes(999'600'000), "1.00 GB");
  EXPECT_EQ(html::milliseconds(12.345), "12.3");
  EXPECT_EQ(html::milliseconds(0.12345), "0.123");
  EXPECT_EQ(html::grouped(4652008), "4,652,008");
  EXPECT_EQ(html::grouped(-100), "-100");
  EXPECT_EQ(html::percent(0.98), "98.0 %");
  EXPECT_EQ(html::scientific(0), "0");
  EXPECT_EQ(html::scientific(1.234e-6), "1.23e-06");
}

TEST(Report, TheHtmlEscapesEveryNameAndStandsAlone) {
  const std::string page = to_html(sample_report());
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<b>.jpg"));
  EXPECT_TRUE(contains(page, "&lt;b&gt;.jpg"));
  EXPECT_TRUE(contains(page, "cat &amp; dog"));
  EXPECT_TRUE(contains(page, "A &amp; B"));
  EXPECT_FALSE(contains(page, "http"));
  for (const char* tag : {"section", "table", "tr", "td", "div", "svg", "figure", "dl"}) {
    EXPECT_EQ(count(page, std::string("<") + tag + ">") + count(page, std::string("<") + tag + " "),
              count(page, std::string("</") + tag + ">"))
        << tag;
  }
}

TEST(Report, JsonHasTheStableKeys) {
  const ReportJson json = to_json(sample_report());
  EXPECT_EQ(json["passed"], true);
  const ReportJson& row = json["rows"][0];
  EXPECT_EQ(row["latency"]["p50_ms"], 3.0);
  EXPECT_EQ(row["latency"]["p99_is_max"], true);
  EXPECT_EQ(row["memory"]["peak_rss_bytes"], 50'000);
  EXPECT_EQ(row["file_bytes"], 18'600'000);
  EXPECT_EQ(row["agreement"]["value"], 0.98);
  EXPECT_EQ(json["parity"][0]["max_abs_diff"], 0.0);
  EXPECT_EQ(json["operators"][0]["after"], 2);
  EXPECT_FALSE(row["latency"].contains("samples_ms"));
  EXPECT_EQ(to_json(sample_report().rows[0].latency, true)["samples_ms"].size(), 5u);
}

TEST(Report, AMissedBudgetFailsIt) {
  Report report = sample_report();
  EXPECT_TRUE(report.passed());
  report.budgets = {{"fps", "", 30, 31, false, "", ""}};
  EXPECT_TRUE(report.passed());
  report.budgets.push_back({"peak_rss_bytes", "", 10, 11, true, "", ""});
  EXPECT_FALSE(report.passed());
}

TEST(Charts, DrawEverySample) {
  std::vector<double> samples(100, 2.0);
  EXPECT_TRUE(contains(svg::latency_histogram_chart(samples), "100 runs"));
  const std::string timeline = svg::latency_timeline_chart(samples);
  EXPECT_EQ(count(timeline.substr(timeline.find(" d=\"M")), "L"), 99u);
  EXPECT_EQ(svg::latency_histogram_chart({}), "");
  EXPECT_FALSE(contains(svg::latency_histogram_chart(std::vector<double>{0.0}), "nan"));
}

TEST(Thumbnail, Base64) {
  const auto of = [](const std::string& text) {
    return base64(std::vector<std::uint8_t>(text.begin(), text.end()));
  };
  EXPECT_EQ(of(""), "");  // the values of RFC 4648
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

TEST(Thumbnail, IsAJpegAndRefusesABadSize) {
  const std::vector<std::uint8_t> pixels(40 * 20 * 3, 200);
  EXPECT_TRUE(thumbnail_data_uri(pixels, 40, 20, 16).starts_with("data:image/jpeg;base64,/9j/"));
  EXPECT_EQ(thumbnail_data_uri(pixels, 41, 20, 16), "");
  EXPECT_EQ(thumbnail_data_uri({}, 0, 0, 16), "");
}

}  // namespace
}  // namespace trivet

#include "report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "report/html.h"

namespace trivet::svg {
namespace {

// Units of the picture; the page scales it.
constexpr double kWidth = 560;
constexpr double kHeight = 210;
constexpr double kLeft = 46;
constexpr double kRight = 12;
constexpr double kTop = 26;
constexpr double kBottom = 36;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;

/// A linear map from values to a side of the picture.
struct Scale {
  double low;
  double high;
  double from;
  double to;
  [[nodiscard]] double at(double value) const {
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    return from + share * (to - from);
  }
};

std::string num(double value) { return html::fixed(value, 1); }

std::string text(double x, double y, const char* anchor, const std::string& content,
                 const char* css = "tick") {
  return cat("<text class=\"", css, "\" x=\"", num(x), "\" y=\"", num(y), "\" text-anchor=\"",
             anchor, "\">", html::escape(content), "</text>");
}

std::string line(double x1, double y1, double x2, double y2, const char* css) {
  return cat("<line class=\"", css, "\" x1=\"", num(x1), "\" y1=\"", num(y1), "\" x2=\"", num(x2),
             "\" y2=\"", num(y2), "\"/>");
}

std::string open(const char* label) {
  return cat("<svg viewBox=\"0 0 ", num(kWidth), " ", num(kHeight), "\" role=\"img\" aria-label=\"",
             label, "\">");
}

/// A step of 1, 2 or 5 times a power of ten that cuts `range` into at most `parts`.
double nice_step(double range, double parts) {
  const double rough = range / parts;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

int decimals_of(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
}

/// Values at nice steps inside the scale, with their text.
std::vector<std::pair<double, std::string>> ticks(const Scale& scale, double parts) {
  std::vector<std::pair<double, std::string>> out;
  if (!(scale.high > scale.low)) return {{scale.low, html::milliseconds(scale.low)}};
  const double step = nice_step(scale.high - scale.low, parts);
  const double first = std::ceil(scale.low / step - 1e-9);
  const double last = std::floor(scale.high / step + 1e-9);
  for (double i = first; i <= last; ++i) {
    const double value = i * step + 0.0;  // no minus before zero
    out.emplace_back(value, html::fixed(value, decimals_of(step)));
  }
  return out;
}

std::string x_axis(const Scale& x, const std::string& title) {
  const double base = kTop + kPlotHeight;
  std::string out = line(kLeft, base, kLeft + kPlotWidth, base, "axis");
  for (const auto& [value, label] : ticks(x, 8)) {
    out += line(x.at(value), base, x.at(value), base + 4, "axis");
    out += text(x.at(value), base + 15, "middle", label);
  }
  return out + text(kLeft + kPlotWidth, base + 30, "end", title);
}

std::string y_axis(const Scale& y, const std::string& title) {
  std::string out;
  for (const auto& [value, label] : ticks(y, 4)) {
    out += line(kLeft, y.at(value), kLeft + kPlotWidth, y.at(value), "grid");
    out += text(kLeft - 6, y.at(value) + 4, "end", label);
  }
  return out + text(kLeft - 34, 12, "start", title);
}

struct Mark {
  const char* name;
  double value;
};

std::array<Mark, 3> marks_of(const LatencyStats& stats) {
  return {{{"p50", stats.p50}, {"p95", stats.p95}, {"p99", stats.p99}}};
}

/// Vertical lines at the quantiles; labels that would overlap move one line down.
std::string quantile_lines(const Scale& x, const LatencyStats& stats) {
  constexpr double kLabelWidth = 30;
  std::string out;
  double last = -1e9;
  double label_y = kTop - 6;
  for (const Mark& mark : marks_of(stats)) {
    const double at = x.at(mark.value);
    label_y = at - last < kLabelWidth ? label_y + 12 : kTop - 6;
    last = at;
    out += line(at, kTop, at, kTop + kPlotHeight, "mark");
    const bool near_edge = at > kLeft + kPlotWidth - kLabelWidth;
    out +=
        text(near_edge ? at - 3 : at + 3, label_y, near_edge ? "end" : "start", mark.name, "label");
  }
  return out;
}

}  // namespace

std::string latency_histogram_chart(std::span<const double> samples_ms) {
  if (samples_ms.empty()) return "";
  constexpr std::size_t kMaxBins = 48;
  const LatencyStats stats = summarize_latency(samples_ms);
  // One outlier must not squeeze the rest into one column: what is beyond is counted in the last.
  const double upper = std::min(stats.max, std::max(stats.p99, stats.p50 * 2)) * 1.0001;
  const auto by_count = static_cast<std::size_t>(3 * std::sqrt(static_cast<double>(stats.count)));
  const std::size_t bins = std::clamp<std::size_t>(by_count, 8, kMaxBins);
  const std::vector<std::size_t> counts = latency_histogram(samples_ms, stats.min, upper, bins);
  const Scale x{stats.min, upper, kLeft, kLeft + kPlotWidth};
  const auto most = static_cast<double>(*std::ranges::max_element(counts));
  const Scale y{0, most * 1.05, kTop + kPlotHeight, kTop};
  std::string out = open("Histogram of latencies") + y_axis(y, "runs");
  const double width = kPlotWidth / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    const double top = y.at(static_cast<double>(counts[i]));
    out += cat("<rect class=\"bar\" x=\"", num(kLeft + width * static_cast<double>(i) + 0.5),
               "\" y=\"", num(top), "\" width=\"", num(std::max(1.0, width - 1)), "\" height=\"",
               num(kTop + kPlotHeight - top), "\"><title>", counts[i], " runs</title></rect>");
  }
  const bool cut = stats.max > upper;
  out += quantile_lines(x, stats);
  return out + x_axis(x, cut ? "ms (the last column holds all slower runs)" : "ms") + "</svg>\n";
}

std::string latency_timeline_chart(std::span<const double> samples_ms) {
  if (samples_ms.empty()) return "";
  const LatencyStats stats = summarize_latency(samples_ms);
  const Scale x{0, static_cast<double>(std::max<std::size_t>(1, stats.count - 1)), kLeft,
                kLeft + kPlotWidth};
  const Scale y{0, stats.max * 1.08, kTop + kPlotHeight, kTop};
  std::string out = open("Latency of every run") + y_axis(y, "ms");
  out += line(kLeft, y.at(stats.p50), kLeft + kPlotWidth, y.at(stats.p50), "mark");
  out += text(kLeft + kPlotWidth, y.at(stats.p50) - 4, "end", "p50", "label");
  std::string path;
  for (std::size_t i = 0; i < samples_ms.size(); ++i) {
    path +=
        cat(i == 0 ? "M" : "L", num(x.at(static_cast<double>(i))), " ", num(y.at(samples_ms[i])));
  }
  out += cat("<path class=\"trace\" d=\"", path, "\"/>");
  return out + x_axis(x, "run") + "</svg>\n";
}

}  // namespace trivet::svg

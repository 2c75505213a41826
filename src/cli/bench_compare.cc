// trivet bench --compare A B: whether B is slower, or it is noise.
#include <algorithm>
#include <cmath>

#include "base/output_file.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/table.h"
#include "measure/compare.h"

namespace trivet::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

/// One result of a saved file.
struct Saved {
  std::string model;
  std::int64_t batch = 1;
  int threads = 1;
  std::vector<double> samples_ms;

  [[nodiscard]] bool same_case(const Saved& other) const {
    return model == other.model && batch == other.batch && threads == other.threads;
  }
  [[nodiscard]] std::string title() const {
    return cat(format_text(model, 40), ", batch ", batch, ", ", threads,
               threads == 1 ? " thread" : " threads");
  }
};

tl::unexpected<Error> not_a_result(const std::string& path) {
  return invalid_argument("'", path, "' is not a result of bench --save with its samples");
}

Result<Saved> saved_result(const Json& entry, const std::string& path) {
  Saved out;
  const auto samples =
      entry.contains("latency") ? entry["latency"].value("samples_ms", Json()) : Json();
  if (!samples.is_array() || samples.empty()) return not_a_result(path);
  for (const Json& sample : samples) {
    if (!sample.is_number() || !(sample.get<double>() > 0)) return not_a_result(path);
    out.samples_ms.push_back(sample.get<double>());
  }
  const auto integer = [&](const char* key) {
    return entry.contains(key) && entry[key].is_number_integer();
  };
  if (!integer("batch") || !integer("threads") || !entry.contains("model") ||
      !entry["model"].is_string()) {
    return not_a_result(path);
  }
  out.model = entry["model"].get<std::string>();
  out.batch = entry["batch"].get<std::int64_t>();
  out.threads = entry["threads"].get<int>();
  return out;
}

Result<std::vector<Saved>> read_saved(const std::string& path) {
  TRIVET_ASSIGN(const std::string text, read_text_file(path, kMostBytes));
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("results")) return not_a_result(path);
  const Json& results = document["results"];
  if (!results.is_array() || results.empty()) return not_a_result(path);
  std::vector<Saved> out;
  for (const Json& entry : results) {
    if (!entry.is_object()) return not_a_result(path);
    TRIVET_ASSIGN(Saved saved, saved_result(entry, path));
    out.push_back(std::move(saved));
  }
  return out;
}

struct Pair {
  Saved a, b;
  MedianRatio ratio;
  Verdict verdict;
};

/// The cases of both files. With one result each these are compared whatever they are called.
Result<std::vector<Pair>> pairs_of(const std::vector<Saved>& a, const std::vector<Saved>& b,
                                   double threshold) {
  std::vector<Pair> out;
  for (const Saved& left : a) {
    for (const Saved& right : b) {
      const bool single = a.size() == 1 && b.size() == 1;
      if (!single && !left.same_case(right)) continue;
      const MedianRatio ratio = median_ratio(left.samples_ms, right.samples_ms);
      out.push_back({left, right, ratio, judge(ratio, threshold)});
    }
  }
  if (!out.empty()) return out;
  return invalid_argument("the two files have no model with the same batch and threads in common");
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSlower: return "slower";
    case Verdict::kFaster: return "faster";
    case Verdict::kSame: break;
  }
  return "same";
}

double smallest(const Saved& saved) { return *std::ranges::min_element(saved.samples_ms); }

Json pairs_json(const std::vector<Pair>& pairs) {
  Json out = Json::array();
  for (const Pair& pair : pairs) {
    out.push_back({{"model", pair.a.model},
                   {"batch", pair.a.batch},
                   {"threads", pair.a.threads},
                   {"a_p50_ms", summarize_latency(pair.a.samples_ms).p50},
                   {"b_p50_ms", summarize_latency(pair.b.samples_ms).p50},
                   {"ratio", pair.ratio.ratio},
                   {"low", pair.ratio.low},
                   {"high", pair.ratio.high},
                   {"min_ratio", smallest(pair.b) / smallest(pair.a)},
                   {"verdict", verdict_name(pair.verdict)}});
  }
  return {{"comparisons", out}};
}

std::string pairs_text(const std::vector<Pair>& pairs, double threshold_percent) {
  Table table({{"case"},
               {"A p50", Align::kRight},
               {"B p50", Align::kRight},
               {"B / A", Align::kRight},
               {"95 % interval"},
               {"of the minima", Align::kRight},
               {"B is"}});
  const auto ratio_text = [](double x) { return format_number(std::round(x * 1000) / 1000); };
  for (const Pair& pair : pairs) {
    table.add_row({pair.a.title(), format_ms(summarize_latency(pair.a.samples_ms).p50),
                   format_ms(summarize_latency(pair.b.samples_ms).p50),
                   ratio_text(pair.ratio.ratio),
                   ratio_text(pair.ratio.low) + " to " + ratio_text(pair.ratio.high),
                   ratio_text(smallest(pair.b) / smallest(pair.a)), verdict_name(pair.verdict)});
  }
  return table.to_string() + cat("slower or faster: the whole interval lies beyond ",
                                 format_number(threshold_percent),
                                 " %; bootstrap over blocks of runs\n");
}

}  // namespace

Result<int> run_bench_compare(const BenchOptions& options) {
  if (!options.models.empty()) {
    return invalid_argument(
        "--compare takes two results of --save and no MODEL, as in bench --compare A.json B.json");
  }
  TRIVET_ASSIGN(const std::vector<Saved> a, read_saved(options.compare[0]));
  TRIVET_ASSIGN(const std::vector<Saved> b, read_saved(options.compare[1]));
  TRIVET_ASSIGN(const std::vector<Pair> pairs, pairs_of(a, b, options.threshold_percent / 100));
  if (options.json) {
    print_json(pairs_json(pairs));
  } else {
    print(pairs_text(pairs, options.threshold_percent));
  }
  const auto slower = [](const Pair& pair) { return pair.verdict == Verdict::kSlower; };
  return std::ranges::any_of(pairs, slower) ? kCheckFailed : kPassed;
}

}  // namespace trivet::cli

// trivet bench --end-to-end: what a frame costs besides the inference.
#include <array>
#include <chrono>
#include <cmath>

#include "base/mapped_file.h"
#include "cli/assignment.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/feed.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "io/image.h"
#include "io/preprocess.h"
#include "measure/accuracy.h"

namespace trivet::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTopClasses = 5;
constexpr std::array<const char*, 5> kStages = {"decode", "resize", "normalise", "inference",
                                                "postprocess"};

/// The times of each stage, and of the whole, over all frames, in milliseconds.
struct StageTimes {
  std::array<std::vector<double>, kStages.size()> stages;
  std::vector<double> whole;
};

/// One picture through all stages.
class Pipeline {
 public:
  Pipeline(BenchCase& c, std::vector<std::byte> file, Preprocess preprocess)
      : case_(c), file_(std::move(file)), preprocess_(std::move(preprocess)) {}

  /// Adds the times where `times` is not null.
  Result<void> frame(StageTimes* times) {
    std::array<Clock::time_point, kStages.size() + 1> marks;
    std::size_t stage = 0;
    marks[stage++] = Clock::now();
    TRIVET_ASSIGN(const Image picture, decode_image(file_));
    marks[stage++] = Clock::now();
    TRIVET_ASSIGN(const Image ready, resize_and_crop(preprocess_, picture));
    marks[stage++] = Clock::now();
    TRIVET_ASSIGN(case_.inputs.front(),
                  normalize(preprocess_, ready, case_.inputs.front().dtype()));
    marks[stage++] = Clock::now();
    TRIVET_ASSIGN(const std::vector<Tensor> outputs, case_.session->run(case_.inputs));
    marks[stage++] = Clock::now();
    TRIVET_TRY(postprocess(outputs));
    marks[stage] = Clock::now();
    if (times == nullptr) return {};
    const auto ms = [&](std::size_t from, std::size_t to) {
      return std::chrono::duration<double, std::milli>(marks[to] - marks[from]).count();
    };
    for (std::size_t i = 0; i < kStages.size(); ++i) times->stages[i].push_back(ms(i, i + 1));
    times->whole.push_back(ms(0, kStages.size()));
    return {};
  }

  [[nodiscard]] const std::vector<ClassScore>& best() const { return best_; }

 private:
  /// The best classes of a classifier; of other models the outputs are what they are.
  Result<void> postprocess(const std::vector<Tensor>& outputs) {
    for (const Tensor& output : outputs) {
      const auto rows = class_score_rows(output);
      if (!rows || rows->count == 0) continue;
      best_ = top_classes(output, *rows, 0, kTopClasses);
      return {};
    }
    return {};
  }

  BenchCase& case_;
  std::vector<std::byte> file_;
  Preprocess preprocess_;
  std::vector<ClassScore> best_;
};

Result<std::vector<std::byte>> read_picture_file(const BenchOptions& options) {
  if (options.feed.inputs.size() == 1) {
    const NamedFile input = split_input(options.feed.inputs.front());
    if (has_image_extension(input.file)) {
      TRIVET_ASSIGN(const auto file, MappedFile::open(input.file));
      return std::vector<std::byte>(file->bytes().begin(), file->bytes().end());
    }
  }
  return invalid_argument(
      "--end-to-end needs one picture: --input PICTURE.jpg, with --resize and the like");
}

Json stages_json(const BenchCase& c, const StageTimes& times) {
  const auto entry = [](const char* name, const std::vector<double>& samples) {
    const LatencyStats stats = summarize_latency(samples);
    return Json{{"stage", name},       {"p50_ms", stats.p50},   {"p95_ms", stats.p95},
                {"p99_ms", stats.p99}, {"mean_ms", stats.mean}, {"min_ms", stats.min},
                {"max_ms", stats.max}, {"samples_ms", samples}};
  };
  Json stages = Json::array();
  for (std::size_t i = 0; i < kStages.size(); ++i)
    stages.push_back(entry(kStages[i], times.stages[i]));
  return {{"model", c.name},
          {"path", c.path},
          {"threads", c.session->threads()},
          {"machine", machine_json()},
          {"frames", times.whole.size()},
          {"stages", stages},
          {"whole", entry("whole", times.whole)}};
}

std::string stages_text(const StageTimes& times) {
  Table table({{"stage"},
               {"p50", Align::kRight},
               {"p95", Align::kRight},
               {"p99", Align::kRight},
               {"mean", Align::kRight},
               {"share of the mean", Align::kRight}});
  const LatencyStats whole = summarize_latency(times.whole);
  const auto add = [&](const char* name, const std::vector<double>& samples) {
    const LatencyStats stats = summarize_latency(samples);
    table.add_row({name, format_ms(stats.p50), format_ms(stats.p95),
                   format_ms(stats.p99) + (stats.p99_is_max ? "*" : ""), format_ms(stats.mean),
                   format_percent(stats.mean / whole.mean)});
  };
  for (std::size_t i = 0; i < kStages.size(); ++i) add(kStages[i], times.stages[i]);
  add("whole", times.whole);
  return table.to_string() +
         (whole.p99_is_max ? "* the slowest run: too few runs for a p99\n" : "");
}

}  // namespace

Result<int> run_bench_end_to_end(const BenchOptions& options) {
  TRIVET_ASSIGN(std::vector<std::byte> file, read_picture_file(options));
  TRIVET_ASSIGN(const LoadedModel loaded, load_model(options.models.front()));
  TRIVET_ASSIGN(const Preprocess preprocess, merged(options.feed.preprocess, loaded).parse());
  TRIVET_ASSIGN(BenchCase c, prepare_case(options.models.front(), options, std::nullopt));
  if (c.inputs.size() != 1) {
    return unsupported("--end-to-end is for models with one input, a picture; this one has ",
                       c.inputs.size());
  }
  Pipeline pipeline(c, std::move(file), preprocess);
  for (int i = 0; i < options.warmup + 1; ++i) TRIVET_TRY(pipeline.frame(nullptr));
  StageTimes times;
  Progress progress("frames", options.seconds ? 0 : options.runs);
  const Clock::time_point start = Clock::now();
  const auto more = [&] {
    if (!options.seconds) return times.whole.size() < static_cast<std::size_t>(options.runs);
    return std::chrono::duration<double>(Clock::now() - start).count() < *options.seconds;
  };
  while (more()) {
    TRIVET_TRY(pipeline.frame(&times));
    progress.advance();
  }
  if (options.json) {
    print_json(stages_json(c, times));
    return kPassed;
  }
  print(
      cat(format_text(c.name, 40), ": ", assignment_text(*c.session), "\n\n", stages_text(times)));
  return kPassed;
}

}  // namespace trivet::cli

#include "cli/shipping.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/cpu_info.h"
#include "base/timestamp.h"
#include "base/version.h"
#include "cli/format.h"
#include "cli/labels.h"
#include "cli/measure_memory.h"
#include "cli/progress.h"
#include "cli/staging_guard.h"
#include "cli/summary.h"
#include "measure/cost.h"
#include "measure/timer.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/pipeline.h"
#include "report/thumbnail.h"

namespace trivet::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPredictions = 8;  ///< pictures that the report shows
constexpr std::size_t kTopClasses = 3;
constexpr int kThumbnailSide = 200;
constexpr std::size_t kRandomInputs = 20;    ///< without --data
constexpr int kOriginalRuns = 50;            ///< the original is timed for comparison only
constexpr double kMaxLatencySeconds = 10;    ///< for each model
constexpr double kMaxReferenceSeconds = 15;  ///< no further input is begun after this

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// The size of the model's file. One that is smaller than its weights has these beside it, and they
/// count too.
std::uint64_t model_bytes(const std::string& path, std::uint64_t weight_bytes) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return 0;
  return bytes < weight_bytes ? bytes + weight_bytes : bytes;
}

/// A session with the time that reading and preparing took.
struct Loaded {
  std::unique_ptr<Session> session;
  double load_ms = 0;
};

Result<Loaded> load(const std::string& path, const SessionOptions& options) {
  const Clock::time_point start = Clock::now();
  TRIVET_ASSIGN(const Model model, read_model(path));
  Loaded loaded;
  TRIVET_ASSIGN(loaded.session, Session::create(model, options));
  loaded.load_ms = 1000 * seconds_since(start);
  return loaded;
}

std::vector<std::string> output_names(const Session& session) {
  std::vector<std::string> names;
  for (const Port& port : session.outputs()) names.push_back(port.name);
  return names;
}

/// The first output that looks like class scores, as its place.
std::optional<std::size_t> scores_output(const std::vector<Tensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (class_score_rows(outputs[i])) return i;
  }
  return std::nullopt;
}

/// Bytes of the weights, and the type that most of them have. Returns how many weights there are.
Result<std::int64_t> describe_weights(const Graph& graph, ReportRow& row) {
  std::vector<ValueType> types;
  for (const ValueId id : graph.inputs()) types.push_back(graph.value(id).type);
  TRIVET_ASSIGN(const GraphCost cost, count_cost(graph, types));
  row.weight_bytes = static_cast<std::uint64_t>(cost.weight_bytes);
  row.precision = "none";
  std::int64_t most = 0;
  for (const auto& [dtype, bytes] : cost.weight_bytes_by_dtype) {
    if (bytes <= most) continue;
    most = bytes;
    row.precision = dtype_name(dtype);
  }
  return cost.parameters;
}

Result<void> check_labels(const std::vector<std::string>& labels,
                          const std::vector<Tensor>& outputs) {
  std::string shapes;
  for (const Tensor& output : outputs) {
    const auto rows = class_score_rows(output);
    if (rows && rows->classes == static_cast<std::int64_t>(labels.size())) return {};
    shapes += (shapes.empty() ? "" : ", ") + shape_to_string(output.shape());
  }
  return invalid_argument("--labels has ", labels.size(), " lines, and no output is of shape Nx",
                          labels.size(), "; the outputs are ", shapes);
}

/// Empty where the input is no picture.
std::string thumbnail_of(const Sample& sample) {
  std::optional<Image> picture = sample.picture;
  if (!picture && has_image_extension(sample.file)) {
    if (auto read = read_image(sample.file)) picture = *std::move(read);
  }
  if (!picture) return "";
  return thumbnail_data_uri(picture->pixels, picture->width, picture->height, kThumbnailSide);
}

/// Everything on the way from the model to the bundle. Each step fills its part of the report.
class Shipping {
 public:
  Shipping(const ShipOptions& options, LoadedModel source, BundleWriter writer)
      : options_(options), source_(std::move(source)), writer_(std::move(writer)) {}

  /// The report, and whether the bundle was written.
  Result<std::pair<Report, bool>> run(bool replaces);

 private:
  Result<void> describe_source();
  Result<void> optimize_and_write();
  Result<void> open_sessions();
  Result<void> open_data();
  Result<void> compare_on_data();
  Result<void> compare_with_reference();
  Result<void> measure(ReportRow& row, Loaded& loaded, const std::string& path,
                       const SessionFlags& flags, int runs);
  Result<void> measure_all();
  Result<void> check_budgets();
  Result<void> write_bundle();
  void judge(const Sample& sample, const std::vector<Tensor>& shipped,
             const std::vector<Tensor>& original);
  void add_prediction(const Sample& sample, const Tensor& scores);
  [[nodiscard]] std::string label(std::int64_t index) const;
  [[nodiscard]] SessionFlags original_flags() const;
  [[nodiscard]] std::string on_provider(const std::string& what) const;

  const ShipOptions& options_;
  LoadedModel source_;
  BundleWriter writer_;
  Report report_;
  ReportRow original_row_;
  ReportRow shipped_row_;
  std::string shipped_path_;
  Loaded original_;
  Loaded shipped_;
  std::optional<Dataset> data_;
  std::int64_t not_finite_ = 0;  ///< elements of the shipped model's outputs on the data
  Feed first_feed_;
  PreprocessText preprocess_;
};

Result<std::pair<Report, bool>> Shipping::run(bool replaces) {
  TRIVET_TRY(describe_source());
  TRIVET_TRY(optimize_and_write());
  TRIVET_TRY(open_sessions());
  TRIVET_TRY(open_data());
  TRIVET_TRY(compare_on_data());
  TRIVET_TRY(compare_with_reference());
  TRIVET_TRY(measure_all());
  TRIVET_TRY(check_budgets());
  const bool write = report_.passed() || !replaces;
  if (write) TRIVET_TRY(write_bundle());
  return std::pair(std::move(report_), write);
}

Result<void> Shipping::describe_source() {
  report_.trivet_version = kVersion;
  report_.created = utc_timestamp();
  report_.model_name = source_.name;
  report_.source_file = file_name(source_.path);
  TRIVET_ASSIGN(report_.source_sha256, sha256_of_file(source_.path));
  report_.cpu = cpu_model_name();
  report_.physical_cores = physical_core_count();
  TRIVET_ASSIGN(const Isa isa, selected_isa());
  report_.isa = isa_name(isa);
  return {};
}

Result<void> Shipping::optimize_and_write() {
  const Graph& before = *source_.model.graph;
  Graph graph = before;
  TRIVET_ASSIGN(const std::vector<PassRecord> records, optimize(graph));
  for (const PassRecord& record : records) {
    report_.passes.push_back({std::string(record.name), record.changes, record.milliseconds});
  }
  report_.nodes_before = before.nodes().size();
  report_.nodes_after = graph.nodes().size();
  auto after_counts = count_operators(graph);
  for (const auto& [op, count] : count_operators(before)) {
    report_.operators.push_back(
        {op, static_cast<std::size_t>(count), static_cast<std::size_t>(after_counts[op])});
    after_counts.erase(op);
  }
  for (const auto& [op, count] : after_counts)
    report_.operators.push_back({op, 0, static_cast<std::size_t>(count)});
  std::ranges::stable_sort(report_.operators, [](const OperatorCount& a, const OperatorCount& b) {
    return std::max(a.before, a.after) > std::max(b.before, b.after);
  });
  original_row_.name = "original";
  shipped_row_.name = "shipped";
  TRIVET_TRY(describe_weights(before, original_row_));
  TRIVET_ASSIGN(report_.parameters, describe_weights(graph, shipped_row_));

  Model shipped = source_.model;
  shipped.graph = std::make_shared<const Graph>(std::move(graph));
  shipped_path_ = writer_.file("model.onnx");
  return write_model(shipped, shipped_path_);
}

SessionFlags Shipping::original_flags() const {
  SessionFlags flags = options_.session.of_yardstick();
  flags.no_optimize = true;
  return flags;
}

std::string Shipping::on_provider(const std::string& what) const {
  return cat(what, " on ", report_.assignment.front().provider);
}

Result<void> Shipping::open_sessions() {
  TRIVET_ASSIGN(const SessionOptions session_options, options_.session.to_options());
  TRIVET_ASSIGN(shipped_, load(shipped_path_, session_options));
  TRIVET_ASSIGN(const SessionOptions plain_options, original_flags().to_options());
  TRIVET_ASSIGN(original_, load(source_.path, plain_options));
  const Session& session = *shipped_.session;
  report_.assignment = session.assignment().parts;
  report_.threads = session.threads();
  for (const Port& port : session.inputs()) report_.inputs.emplace_back(port.name, port.type);
  for (const Port& port : session.outputs()) report_.outputs.emplace_back(port.name, port.type);
  original_row_.file_bytes = model_bytes(source_.path, original_row_.weight_bytes);
  shipped_row_.file_bytes = model_bytes(shipped_path_, shipped_row_.weight_bytes);
  return {};
}

Result<void> Shipping::open_data() {
  DataFlags flags = options_.data;
  flags.feed.preprocess = merged(flags.feed.preprocess, source_);
  TRIVET_ASSIGN(const Preprocess preprocess, flags.feed.preprocess.parse());
  const std::vector<Port>& ports = shipped_.session->inputs();
  if (!flags.data.empty() || flags.feed.preprocess.given()) {
    preprocess_ = preprocess_text(preprocess);
  }
  if (flags.data.empty()) {
    TRIVET_ASSIGN(data_, Dataset::random(flags.feed, ports, kRandomInputs));
  } else {
    TRIVET_ASSIGN(data_, Dataset::open(flags, ports, source_.labels));
  }
  report_.data = data_->description();
  report_.data_count = data_->size();
  report_.preprocessing.assign(preprocess_.begin(), preprocess_.end());
  return {};
}

std::string Shipping::label(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  return i < source_.labels.size() ? source_.labels[i] : cat("class ", index);
}

void Shipping::add_prediction(const Sample& sample, const Tensor& scores) {
  if (options_.data.data.empty() || report_.predictions.size() >= kPredictions) return;
  Prediction prediction;
  prediction.file = sample.name;
  prediction.thumbnail = thumbnail_of(sample);
  for (const ClassScore& best : top_classes(scores, *class_score_rows(scores), 0, kTopClasses)) {
    prediction.top.emplace_back(label(best.index), best.probability);
  }
  if (sample.truth) prediction.truth = label(*sample.truth);
  report_.predictions.push_back(std::move(prediction));
}

void Shipping::judge(const Sample& sample, const std::vector<Tensor>& shipped,
                     const std::vector<Tensor>& original) {
  const auto at = scores_output(shipped);
  if (!at || *at >= original.size()) return;
  const ScoreRows rows = *class_score_rows(shipped[*at]);
  if (!class_score_rows(original[*at]) || rows.count == 0) return;
  const auto agree = [&](std::int64_t row) {
    return best_class(shipped[*at], rows, row) == best_class(original[*at], rows, row);
  };
  if (!shipped_row_.agreement) shipped_row_.agreement.emplace();
  for (std::int64_t row = 0; row < rows.count; ++row) {
    ++shipped_row_.agreement->trials;
    if (agree(row)) ++shipped_row_.agreement->hits;
  }
  if (data_->labelled()) {
    for (auto [row, outputs] : {std::pair(&shipped_row_, &shipped), {&original_row_, &original}}) {
      if (!row->accuracy) row->accuracy.emplace();
      row->accuracy->add((*outputs)[*at], rows, 0, *sample.truth);
    }
  }
  add_prediction(sample, shipped[*at]);
}

Result<void> Shipping::compare_on_data() {
  TRIVET_ASSIGN(ParityReport parity, ParityReport::create(output_names(*shipped_.session),
                                                          output_names(*original_.session),
                                                          options_.tolerance.to_tolerance()));
  Progress progress("compare", static_cast<std::int64_t>(data_->size()));
  for (std::size_t i = 0; i < data_->size(); ++i) {
    TRIVET_ASSIGN(const Sample sample, data_->sample(i));
    TRIVET_ASSIGN(const std::vector<Tensor> shipped, shipped_.session->run(sample.feed));
    if (i == 0) {
      first_feed_ = sample.feed;
      report_.batch = batch_of(shipped_.session->inputs(), sample.feed);
      if (!options_.data.labels.empty()) TRIVET_TRY(check_labels(source_.labels, shipped));
    }
    for (const Tensor& output : shipped) not_finite_ += count_not_finite(output).value_or(0);
    TRIVET_ASSIGN(const std::vector<Tensor> original, original_.session->run(sample.feed));
    parity.add(shipped, original);
    judge(sample, shipped, original);
    progress.advance();
  }
  report_.parity.push_back({on_provider("shipped"), on_provider("original"), std::move(parity)});
  return {};
}

Result<void> Shipping::compare_with_reference() {
  if (options_.reference_inputs == 0) return {};
  SessionFlags flags = original_flags();
  flags.providers = {"reference"};
  TRIVET_ASSIGN(const SessionOptions reference_options, flags.to_options());
  TRIVET_ASSIGN(const Loaded reference, load(source_.path, reference_options));
  TRIVET_ASSIGN(ParityReport parity, ParityReport::create(output_names(*shipped_.session),
                                                          output_names(*reference.session),
                                                          options_.tolerance.to_tolerance()));
  const std::size_t count =
      std::min(data_->size(), static_cast<std::size_t>(options_.reference_inputs));
  Progress progress("reference", static_cast<std::int64_t>(count));
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    if (seconds_since(start) > kMaxReferenceSeconds) break;
    TRIVET_ASSIGN(const Sample sample, data_->sample(i));
    TRIVET_ASSIGN(const std::vector<Tensor> shipped, shipped_.session->run(sample.feed));
    TRIVET_ASSIGN(const std::vector<Tensor> expected, reference.session->run(sample.feed));
    parity.add(shipped, expected);
    progress.advance();
  }
  report_.parity.push_back({on_provider("shipped"), "original on reference", std::move(parity)});
  return {};
}

Result<void> Shipping::measure(ReportRow& row, Loaded& loaded, const std::string& path,
                               const SessionFlags& flags, int runs) {
  TRIVET_ASSIGN(row.memory, measure_model_memory(path, flags, first_feed_));
  // A session of its own, so that the first run is one.
  TRIVET_ASSIGN(const SessionOptions session_options, flags.to_options());
  TRIVET_ASSIGN(loaded, load(path, session_options));
  row.load_ms = loaded.load_ms;
  std::vector<Tensor> inputs;
  for (const Port& port : loaded.session->inputs()) inputs.push_back(first_feed_.at(port.name));
  Progress progress("latency, " + row.name, runs);
  const auto run = [&]() -> Result<void> {
    TRIVET_TRY(loaded.session->run(inputs));
    return {};
  };
  // The progress bar draws between two runs, outside what is timed.
  TRIVET_ASSIGN(
      row.latency,
      measure_latency(run,
                      {.warmup = options_.warmup, .runs = runs, .max_seconds = kMaxLatencySeconds},
                      [&](std::size_t, std::size_t) { progress.advance(); }));
  loaded.session.reset();
  return {};
}

Result<void> Shipping::measure_all() {
  shipped_.session.reset();
  original_.session.reset();
  TRIVET_TRY(measure(original_row_, original_, source_.path, original_flags(),
                     std::min(options_.runs, kOriginalRuns)));
  TRIVET_TRY(measure(shipped_row_, shipped_, shipped_path_, options_.session, options_.runs));
  report_.rows = {original_row_, shipped_row_};
  return {};
}

Result<void> Shipping::check_budgets() {
  if (not_finite_ > 0) {
    report_.budgets.push_back({"nonfinite_elements", "NaN or infinite elements in the outputs", 0,
                               static_cast<double>(not_finite_), true, "0",
                               format_count(not_finite_)});
  }
  if (options_.fps) {
    const std::int64_t batch = report_.batch;
    const double fps = static_cast<double>(batch) * 1000.0 / report_.shipped().latency.stats().p95;
    const std::string formula =
        batch == 1 ? "1000 / p95" : cat(batch, " x 1000 / p95, batch ", batch);
    report_.budgets.push_back({"fps",
                               cat("frame rate that 95 % of the frames hold (", formula, ")"),
                               *options_.fps, fps, false, cat(format_number(*options_.fps), " fps"),
                               cat(format_number(std::round(fps * 10) / 10), " fps")});
  }
  if (!options_.ram.empty()) {
    TRIVET_ASSIGN(const std::uint64_t limit, parse_bytes(options_.ram));
    const auto peak = static_cast<double>(report_.shipped().memory.model_peak());
    report_.budgets.push_back({"peak_rss_bytes", "peak memory of the model",
                               static_cast<double>(limit), peak, true,
                               format_bytes(static_cast<double>(limit)), format_bytes(peak)});
  }
  return {};
}

Result<void> Shipping::write_bundle() {
  ReportJson parity = ReportJson::array();
  for (const ReportParity& entry : report_.parity) parity.push_back(to_json(entry));
  ReportJson latency;
  ReportJson memory;
  for (const ReportRow& row : report_.rows) {
    latency[row.name] = to_json(row.latency, true);
    memory[row.name] = to_json(row.memory);
  }
  TRIVET_TRY(writer_.add_text("parity.json", json_to_text(parity)));
  TRIVET_TRY(writer_.add_text("latency.json", json_to_text(latency)));
  TRIVET_TRY(writer_.add_text("memory.json", json_to_text(memory)));
  TRIVET_TRY(writer_.add_text("report.json", json_to_text(to_json(report_))));
  TRIVET_TRY(writer_.add_text("report.html", to_html(report_)));
  Manifest manifest;
  if (!source_.labels.empty()) {
    std::string text;
    for (const std::string& name : source_.labels) text += name + "\n";
    TRIVET_TRY(writer_.add_text("labels.txt", text));
    manifest.labels_file = "labels.txt";
  }
  manifest.trivet_version = report_.trivet_version;
  manifest.created = report_.created;
  manifest.name = report_.model_name;
  manifest.source_file = report_.source_file;
  manifest.source_sha256 = report_.source_sha256;
  const auto to_ports = [](const auto& ports) {
    std::vector<BundlePort> out;
    for (const auto& [name, type] : ports) {
      out.push_back({name, std::string(dtype_name(type.dtype)),
                     type.shape ? shape_to_string(*type.shape) : "?"});
    }
    return out;
  };
  manifest.inputs = to_ports(report_.inputs);
  manifest.outputs = to_ports(report_.outputs);
  manifest.preprocessing = preprocess_;
  manifest.provider = report_.assignment.front().provider;
  manifest.threads = report_.threads;
  manifest.isa = report_.isa;
  manifest.cpu = report_.cpu;
  return writer_.commit(std::move(manifest));
}

}  // namespace

Result<std::uint64_t> parse_bytes(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(stop, text.data() + text.size());
  std::erase(unit, ' ');
  if (unit.ends_with('B')) unit.pop_back();
  static constexpr std::string_view kPowers = "kMGT";
  double factor = 1;
  bool fits = error == std::errc() && unit.size() <= 1;
  if (fits && unit.size() == 1) {
    const std::size_t at = unit[0] == 'K' ? 0 : kPowers.find(unit[0]);
    fits = at != std::string_view::npos;
    factor = std::pow(1000.0, static_cast<double>(at) + 1);
  }
  if (!fits || !(value > 0) || value * factor > 1e18) {
    return invalid_argument("'", text, "' is no size; give bytes, or a number with k, M or G: 64M");
  }
  return static_cast<std::uint64_t>(value * factor);
}

Result<Shipped> ship(const ShipOptions& options) {
  if (!options.ram.empty()) TRIVET_TRY(parse_bytes(options.ram));
  if (options.session.no_optimize) {
    return invalid_argument("--no-optimize has no meaning here: ship writes the optimised model");
  }
  if (!options.data.truth.empty() && options.data.data.empty()) {
    return invalid_argument("--truth has the labels of --data, which is missing");
  }
  TRIVET_ASSIGN(LoadedModel source, load_model(options.model));
  if (!options.data.labels.empty()) {
    TRIVET_ASSIGN(source.labels, read_labels(options.data.labels));
  }
  const std::string output = options.output.empty() ? source.name + ".trivet" : options.output;
  TRIVET_TRY(check_apart("-o", output, options.model));
  const bool replaces = is_bundle(output);
  TRIVET_ASSIGN(BundleWriter writer, BundleWriter::create(output, options.force));
  const StagingGuard guard(writer.staging());
  TRIVET_ASSIGN(auto done, Shipping(options, std::move(source), std::move(writer)).run(replaces));
  return Shipped{std::move(done.first), output, done.second};
}

}  // namespace trivet::cli

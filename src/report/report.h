// Everything that shipping a model found out, and its two forms: report.json and report.html.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/accuracy.h"
#include "measure/latency.h"
#include "measure/memory.h"
#include "measure/parity.h"
#include "runtime/session.h"

namespace trivet {

/// One line of the table that every deployment ends with.
struct ReportRow {
  std::string name;       ///< "original", "shipped"
  std::string precision;  ///< "float32", "int8"
  std::uint64_t file_bytes = 0;
  std::uint64_t weight_bytes = 0;
  LatencySamples latency;
  double load_ms = 0;
  ModelMemory memory;
  std::optional<Proportion> agreement;  ///< same best class as the original
  std::optional<Accuracy> accuracy;     ///< against the labels of the data
};

struct ReportPass {
  std::string name;
  int changes = 0;
  double milliseconds = 0;
};

struct OperatorCount {
  std::string op_type;
  std::size_t before = 0;
  std::size_t after = 0;
};

/// One comparison: who against whom, and what came of it.
struct ReportParity {
  std::string actual;    ///< "shipped on cpu"
  std::string expected;  ///< "original on reference"
  ParityReport report;
};

struct Prediction {
  std::string file;
  std::string thumbnail;                            ///< a data URI, or empty
  std::vector<std::pair<std::string, double>> top;  ///< name and probability, best first
  std::optional<std::string> truth;
};

/// What the user asked for, and what was measured.
struct BudgetLine {
  std::string key;    ///< "fps", "peak_rss_bytes"
  std::string title;  ///< for people: "frame rate"
  double limit = 0;
  double measured = 0;
  bool at_most = true;  ///< the measured value may not be above the limit; else not below
  std::string limit_text;
  std::string measured_text;
  [[nodiscard]] bool passed() const { return at_most ? measured <= limit : measured >= limit; }
};

struct Report {
  std::string trivet_version;
  std::string created;
  std::string model_name;
  std::string source_file;
  std::string source_sha256;
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  std::int64_t parameters = 0;
  std::vector<std::pair<std::string, ValueType>> inputs;
  std::vector<std::pair<std::string, ValueType>> outputs;
  std::vector<ReportPass> passes;
  std::vector<OperatorCount> operators;
  std::vector<ReportRow> rows;  ///< the shipped model is the last one; never empty
  std::vector<ReportParity> parity;
  std::vector<Assignment::Part> assignment;
  std::vector<Prediction> predictions;
  std::vector<BudgetLine> budgets;
  std::string data;  ///< where the inputs came from
  std::size_t data_count = 0;
  std::vector<std::pair<std::string, std::string>> preprocessing;
  std::string cpu;
  std::string isa;
  std::int64_t batch = 1;  ///< pictures or sequences in one inference that was timed
  int threads = 0;
  int physical_cores = 0;

  [[nodiscard]] const ReportRow& shipped() const { return rows.back(); }
  [[nodiscard]] bool parity_passed() const;
  [[nodiscard]] bool passed() const;  ///< parity and every budget
};

using ReportJson = nlohmann::ordered_json;

[[nodiscard]] ReportJson to_json(const Report& report);
[[nodiscard]] ReportJson to_json(const ReportParity& parity);
/// Statistics; with all samples where `samples` asks for them.
[[nodiscard]] ReportJson to_json(const LatencySamples& latency, bool samples);
/// Percentiles, mean and extremes alone, of times that need not follow one on the other.
[[nodiscard]] ReportJson to_json(const LatencyStats& stats);
[[nodiscard]] ReportJson to_json(const ModelMemory& memory);
[[nodiscard]] ReportJson to_json(const Accuracy& accuracy);
[[nodiscard]] ReportJson to_json(const OutputParity& output);
/// {"value", "low", "high", "hits", "trials"}
[[nodiscard]] ReportJson to_json(const Proportion& proportion);

/// One page that needs no other file, no script and no network.
[[nodiscard]] std::string to_html(const Report& report);

}  // namespace trivet

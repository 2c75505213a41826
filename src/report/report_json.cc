#include <algorithm>

#include "report/report.h"

namespace trivet {
namespace {

ReportJson ports_to_json(const std::vector<std::pair<std::string, ValueType>>& ports) {
  ReportJson out = ReportJson::array();
  for (const auto& [name, type] : ports) out.push_back({{"name", name}, {"type", to_string(type)}});
  return out;
}

ReportJson row_to_json(const ReportRow& row) {
  ReportJson out;
  out["name"] = row.name;
  out["precision"] = row.precision;
  out["file_bytes"] = row.file_bytes;
  out["weight_bytes"] = row.weight_bytes;
  out["load_ms"] = row.load_ms;
  out["latency"] = to_json(row.latency, false);
  out["memory"] = to_json(row.memory);
  if (row.agreement) out["agreement"] = to_json(*row.agreement);
  if (row.accuracy) out["accuracy"] = to_json(*row.accuracy);
  return out;
}

ReportJson passes_to_json(const std::vector<ReportPass>& passes) {
  ReportJson out = ReportJson::array();
  for (const ReportPass& pass : passes) {
    out.push_back({{"name", pass.name}, {"changes", pass.changes}, {"ms", pass.milliseconds}});
  }
  return out;
}

ReportJson operators_to_json(const std::vector<OperatorCount>& operators) {
  ReportJson out = ReportJson::array();
  for (const OperatorCount& count : operators) {
    out.push_back({{"op_type", count.op_type}, {"before", count.before}, {"after", count.after}});
  }
  return out;
}

ReportJson predictions_to_json(const std::vector<Prediction>& predictions) {
  ReportJson out = ReportJson::array();
  for (const Prediction& prediction : predictions) {
    ReportJson top = ReportJson::array();
    for (const auto& [label, probability] : prediction.top) {
      top.push_back({{"label", label}, {"probability", probability}});
    }
    ReportJson entry = {{"file", prediction.file}, {"top", std::move(top)}};
    if (prediction.truth) entry["truth"] = *prediction.truth;
    out.push_back(std::move(entry));
  }
  return out;
}

ReportJson budgets_to_json(const std::vector<BudgetLine>& budgets) {
  ReportJson out = ReportJson::array();
  for (const BudgetLine& line : budgets) {
    out.push_back({{"name", line.key},
                   {"limit", line.limit},
                   {"measured", line.measured},
                   {"passed", line.passed()}});
  }
  return out;
}

}  // namespace

bool Report::parity_passed() const {
  return std::ranges::all_of(parity, [](const ReportParity& p) { return p.report.passed(); });
}

bool Report::passed() const {
  return parity_passed() && std::ranges::all_of(budgets, &BudgetLine::passed);
}

ReportJson to_json(const Proportion& proportion) {
  return {{"value", proportion.value()},
          {"low", proportion.low()},
          {"high", proportion.high()},
          {"hits", proportion.hits},
          {"trials", proportion.trials}};
}

ReportJson to_json(const Accuracy& accuracy) {
  return {{"top1", to_json(accuracy.top1)}, {"top5", to_json(accuracy.top5)}};
}

ReportJson to_json(const LatencyStats& stats) {
  return {
      {"runs", stats.count},       {"p50_ms", stats.p50},       {"p90_ms", stats.p90},
      {"p95_ms", stats.p95},       {"p99_ms", stats.p99},       {"p99_is_max", stats.p99_is_max},
      {"mean_ms", stats.mean},     {"min_ms", stats.min},       {"max_ms", stats.max},
      {"stddev_ms", stats.stddev}, {"unstable", stats.unstable}};
}

ReportJson to_json(const LatencySamples& latency, bool samples) {
  const LatencyStats stats = latency.stats();
  ReportJson out = to_json(stats);
  out["warmup"] = latency.warmup;
  out["first_run_ms"] = latency.first_run_ms;
  out["throughput_per_s"] = stats.throughput;
  if (samples) out["samples_ms"] = latency.samples_ms;
  return out;
}

ReportJson to_json(const ModelMemory& memory) {
  return {{"peak_rss_bytes", memory.model_peak()},
          {"process_peak_rss_bytes", memory.peak},
          {"process_rss_before_bytes", memory.before},
          {"process_rss_after_load_bytes", memory.after_load}};
}

ReportJson to_json(const OutputParity& output) {
  ReportJson out;
  out["name"] = output.name;
  out["dtype"] = dtype_name(output.dtype);
  out["shape"] = output.shape;
  out["passed"] = output.passed();
  out["max_abs_diff"] = output.max_abs_diff;
  out["max_rel_diff"] = output.max_rel_diff;
  out["mean_abs_diff"] = output.mean_abs_diff;
  out["min_cosine"] = output.min_cosine;
  out["elements"] = output.elements;
  out["violations"] = output.violations;
  out["nonfinite_elements"] = output.nonfinite_elements;
  out["nonfinite_mismatches"] = output.nonfinite_mismatches;
  if (output.top1_rows > 0) {
    out["top1_agreement"] = to_json(Proportion{output.top1_agreements, output.top1_rows});
  }
  if (!output.mismatch.empty()) out["mismatch"] = output.mismatch;
  return out;
}

ReportJson to_json(const ReportParity& parity) {
  const Tolerance& tolerance = parity.report.tolerance();
  ReportJson out;
  out["actual"] = parity.actual;
  out["expected"] = parity.expected;
  out["inputs"] = parity.report.inputs();
  out["passed"] = parity.report.passed();
  if (tolerance.atol) {
    out["atol"] = *tolerance.atol;
  } else {
    out["atol_of_magnitude"] = Tolerance::kRelativeAtol;
  }
  out["rtol"] = tolerance.rtol;
  out["max_abs_diff"] = parity.report.max_abs_diff();
  out["min_cosine"] = parity.report.min_cosine();
  if (const auto first = parity.report.first_failure()) out["first_failed_input"] = *first;
  out["outputs"] = ReportJson::array();
  for (const OutputParity& output : parity.report.outputs())
    out["outputs"].push_back(to_json(output));
  return out;
}

ReportJson to_json(const Report& report) {
  ReportJson out;
  out["trivet_version"] = report.trivet_version;
  out["created"] = report.created;
  out["passed"] = report.passed();
  out["batch"] = report.batch;
  out["model"] = {{"name", report.model_name},
                  {"source", report.source_file},
                  {"source_sha256", report.source_sha256},
                  {"parameters", report.parameters},
                  {"nodes_before", report.nodes_before},
                  {"nodes_after", report.nodes_after},
                  {"inputs", ports_to_json(report.inputs)},
                  {"outputs", ports_to_json(report.outputs)}};
  out["rows"] = ReportJson::array();
  for (const ReportRow& row : report.rows) out["rows"].push_back(row_to_json(row));
  out["budget"] = budgets_to_json(report.budgets);
  out["parity"] = ReportJson::array();
  for (const ReportParity& parity : report.parity) out["parity"].push_back(to_json(parity));
  out["passes"] = passes_to_json(report.passes);
  out["operators"] = operators_to_json(report.operators);
  out["assignment"] = ReportJson::array();
  for (const Assignment::Part& part : report.assignment) {
    out["assignment"].push_back(
        {{"provider", part.provider}, {"nodes", part.nodes}, {"segments", part.segments}});
  }
  out["predictions"] = predictions_to_json(report.predictions);
  out["data"] = {{"source", report.data}, {"inputs", report.data_count}};
  out["preprocessing"] = ReportJson::object();
  for (const auto& [key, value] : report.preprocessing) out["preprocessing"][key] = value;
  out["target"] = {{"cpu", report.cpu},
                   {"isa", report.isa},
                   {"threads", report.threads},
                   {"physical_cores", report.physical_cores}};
  return out;
}

}  // namespace trivet

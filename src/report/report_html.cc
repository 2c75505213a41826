#include <algorithm>

#include "report/html.h"
#include "report/report.h"
#include "report/style.h"
#include "report/svg.h"

namespace trivet {
namespace {

using html::escape;

std::string code(std::string_view text) { return cat("<code>", escape(text), "</code>"); }

std::string badge(bool passed) {
  return passed ? "<span class=\"badge ok\">PASS</span>" : "<span class=\"badge bad\">FAIL</span>";
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : cat("<section><h2>", title, "</h2>\n", body, "</section>\n");
}

std::string tile(const std::string& value, std::string_view unit, std::string_view label) {
  return cat("<div class=\"tile\"><b>", value,
             unit.empty() ? "" : cat(" <small>", unit, "</small>"), "</b><span>", label,
             "</span></div>\n");
}

std::string share_with_interval(const Proportion& share) {
  return cat(html::percent(share.value()), " <small>", html::fixed(100 * share.low(), 1), "–",
             html::fixed(100 * share.high(), 1), "</small>");
}

/// The share that the last tile and column show, with its title.
std::pair<std::string, std::string> quality_of(const ReportRow& row) {
  if (row.accuracy) return {"top-1 accuracy", share_with_interval(row.accuracy->top1)};
  if (row.agreement) return {"top-1 agreement", share_with_interval(*row.agreement)};
  return {"agreement", "–"};
}

std::string header(const Report& report) {
  return cat("<header><h1>", escape(report.model_name), "</h1>", badge(report.passed()),
             "<p class=\"soft\">Shipped ", escape(report.created), " by trivet ",
             escape(report.trivet_version), " on ", escape(report.cpu), ", ", report.threads,
             report.threads == 1 ? " thread, " : " threads, ", escape(report.isa),
             "</p></header>\n");
}

std::string tiles(const Report& report) {
  const ReportRow& row = report.shipped();
  const LatencyStats stats = row.latency.stats();
  std::string out = "<div class=\"tiles\">\n";
  out += tile(html::milliseconds(stats.p50), "ms", "latency p50");
  out += tile(html::milliseconds(stats.p95), "ms", "latency p95");
  out += tile(html::milliseconds(stats.p99), "ms",
              stats.p99_is_max ? "latency p99 (the maximum)" : "latency p99");
  out += tile(html::bytes(row.memory.model_peak()), "", "peak memory");
  out += tile(html::bytes(row.file_bytes), "", "model file");
  const auto& share = row.accuracy ? std::optional(row.accuracy->top1) : row.agreement;
  if (share) out += tile(html::percent(share->value()), "", quality_of(row).first);
  return out + "</div>\n";
}

std::string main_table(const Report& report) {
  html::Table table;
  table.head = {"model",  "precision", "size",        "p50 ms",
                "p95 ms", "p99 ms",    "peak memory", quality_of(report.shipped()).first};
  table.numeric = {false, false, true, true, true, true, true, true};
  table.strong_row = static_cast<int>(report.rows.size()) - 1;
  for (const ReportRow& row : report.rows) {
    const LatencyStats stats = row.latency.stats();
    table.rows.push_back(
        {escape(row.name), escape(row.precision), html::bytes(row.file_bytes),
         html::milliseconds(stats.p50), html::milliseconds(stats.p95),
         html::milliseconds(stats.p99) + (stats.p99_is_max ? " <small>max</small>" : ""),
         html::bytes(row.memory.model_peak()), quality_of(row).second});
  }
  std::string out = table.to_string();
  out += "<p class=\"note\">Small figures are the 95 % interval. ";
  const bool any_max = std::ranges::any_of(
      report.rows, [](const ReportRow& row) { return row.latency.stats().p99_is_max; });
  if (any_max) out += "“max”: too few runs for a p99, so it is the slowest run. ";
  return out + "</p>\n";
}

std::string budget_table(const Report& report) {
  if (report.budgets.empty()) return "";
  html::Table table;
  table.head = {"budget", "limit", "measured", ""};
  table.numeric = {false, true, true, true};
  for (const BudgetLine& line : report.budgets) {
    table.rows.push_back({escape(line.title), escape(line.limit_text), escape(line.measured_text),
                          badge(line.passed())});
  }
  return table.to_string();
}

std::string latency_charts(const Report& report) {
  const ReportRow& row = report.shipped();
  const LatencyStats stats = row.latency.stats();
  std::string out = "<div class=\"pair\"><div><h3>How often</h3>\n";
  out += svg::latency_histogram_chart(row.latency.samples_ms);
  out += "</div><div><h3>Run by run</h3>\n";
  out += svg::latency_timeline_chart(row.latency.samples_ms);
  out += cat("</div></div><p class=\"note\">", stats.count, " runs after ", row.latency.warmup,
             " to warm up. Mean ", html::milliseconds(stats.mean), " ms, deviation ",
             html::milliseconds(stats.stddev), " ms, fastest ", html::milliseconds(stats.min),
             " ms, slowest ", html::milliseconds(stats.max), " ms. Load ",
             html::milliseconds(row.load_ms), " ms, first run ",
             html::milliseconds(row.latency.first_run_ms), " ms. ",
             html::fixed(stats.throughput, 1), " inferences per second.</p>\n");
  if (stats.unstable) {
    out +=
        "<p class=\"note\"><span class=\"badge bad\">unstable</span> p95 is more than 1.5 times "
        "p50: something else used the machine while it measured.</p>\n";
  }
  return out;
}

std::string tolerance_text(const Tolerance& tolerance) {
  const std::string atol = tolerance.atol ? html::scientific(*tolerance.atol)
                                          : cat(html::scientific(Tolerance::kRelativeAtol),
                                                " of the output's largest magnitude");
  return cat("An element passes when |a − b| ≤ atol + rtol · |b|, atol ", atol, ", rtol ",
             html::scientific(tolerance.rtol), ".");
}

std::string parity_table(const Report& report) {
  if (report.parity.empty()) return "";
  html::Table table;
  table.head = {"compared", "output", "inputs", "max abs", "max rel", "cosine", ""};
  table.numeric = {false, false, true, true, true, true, true};
  for (const ReportParity& parity : report.parity) {
    for (const OutputParity& output : parity.report.outputs()) {
      table.rows.push_back(
          {cat(escape(parity.actual), "<br><small>against ", escape(parity.expected), "</small>"),
           code(output.name), std::to_string(parity.report.inputs()),
           html::scientific(output.max_abs_diff), html::scientific(output.max_rel_diff),
           html::fixed(output.min_cosine, 7), badge(output.passed())});
    }
  }
  return table.to_string() + "<p class=\"note\">" +
         tolerance_text(report.parity.front().report.tolerance()) + "</p>\n";
}

std::string figure(const Prediction& prediction) {
  std::string out = "<figure>";
  if (!prediction.thumbnail.empty()) {
    out += cat("<img alt=\"\" src=\"", escape(prediction.thumbnail), "\">");
  }
  out += cat("<figcaption><span class=\"soft\">", escape(prediction.file), "</span><ol>");
  for (const auto& [label, probability] : prediction.top) {
    out += cat("<li><i style=\"width:", html::fixed(100 * std::clamp(probability, 0.0, 1.0), 1),
               "%\"></i><span title=\"", escape(label), "\">", escape(label), "</span><span>",
               html::percent(probability), "</span></li>");
  }
  out += "</ol>";
  if (prediction.truth)
    out += cat("<span class=\"soft\">is: ", escape(*prediction.truth), "</span>");
  return out + "</figcaption></figure>\n";
}

std::string predictions(const Report& report) {
  if (report.predictions.empty()) return "";
  std::string out = "<div class=\"shots\">\n";
  for (const Prediction& prediction : report.predictions) out += figure(prediction);
  return out + "</div>\n";
}

std::string passes_table(const Report& report) {
  html::Table table;
  table.head = {"pass", "changes", "ms"};
  table.numeric = {false, true, true};
  for (const ReportPass& pass : report.passes) {
    table.rows.push_back(
        {escape(pass.name), std::to_string(pass.changes), html::milliseconds(pass.milliseconds)});
  }
  return table.to_string();
}

std::string operators_table(const Report& report) {
  html::Table table;
  table.head = {"operator", "before", "after"};
  table.numeric = {false, true, true};
  for (const OperatorCount& count : report.operators) {
    table.rows.push_back(
        {escape(count.op_type), std::to_string(count.before), std::to_string(count.after)});
  }
  table.rows.push_back(
      {"all nodes", std::to_string(report.nodes_before), std::to_string(report.nodes_after)});
  table.strong_row = static_cast<int>(table.rows.size()) - 1;
  return table.to_string();
}

std::string changes(const Report& report) {
  return cat("<div class=\"pair\"><div><h3>Passes</h3>\n", passes_table(report),
             "</div><div><h3>Operators</h3>\n", operators_table(report), "</div></div>\n");
}

std::string assignment_table(const Report& report) {
  html::Table table;
  table.head = {"provider", "nodes", "segments"};
  table.numeric = {false, true, true};
  for (const Assignment::Part& part : report.assignment) {
    if (part.nodes == 0) continue;
    table.rows.push_back(
        {escape(part.provider), std::to_string(part.nodes), std::to_string(part.segments)});
  }
  return table.to_string();
}

std::string entry(std::string_view term, const std::string& description) {
  return cat("<dt>", term, "</dt><dd>", description, "</dd>\n");
}

std::string ports(const std::vector<std::pair<std::string, ValueType>>& list) {
  std::string out;
  for (const auto& [name, type] : list) {
    out += cat(out.empty() ? "" : "<br>", code(name), " ", escape(to_string(type)));
  }
  return out;
}

std::string facts(const Report& report) {
  std::string preprocessing;
  for (const auto& [key, value] : report.preprocessing) {
    preprocessing += cat(preprocessing.empty() ? "" : " ", "--", key, " ", value);
  }
  std::string out = "<dl>";
  out += entry("source", code(report.source_file));
  out += entry("SHA-256", code(report.source_sha256));
  out += entry("parameters", cat(html::grouped(report.parameters), ", ",
                                 html::bytes(report.shipped().weight_bytes)));
  out += entry("inputs", ports(report.inputs));
  out += entry("outputs", ports(report.outputs));
  out += entry("data", cat(escape(report.data), ", ", report.data_count,
                           report.data_count == 1 ? " input" : " inputs"));
  if (!preprocessing.empty()) out += entry("preprocessing", code(preprocessing));
  out += entry("processor", cat(escape(report.cpu), ", ", report.physical_cores, " cores"));
  out += entry("instruction set", escape(report.isa));
  out += entry("threads", std::to_string(report.threads));
  return out + "</dl>\n";
}

std::string methods(const Report& report) {
  const std::string runs = std::to_string(report.shipped().latency.samples_ms.size());
  std::string out = "<dl>";
  out +=
      entry("latency",
            cat("One inference at a time on the steady clock, from the input tensor to the output "
                "tensor, batch ",
                report.batch,
                ", without decoding and preprocessing. The original runs as its "
                "file has it, without passes. ",
                runs, " runs. Quantiles are nearest-rank: the sample with index ⌊n·q⌋ of n."));
  out +=
      entry("peak memory",
            "The model in a process of its own: the highest resident memory until it is loaded and "
            "has run, less what the process held before it read the model.");
  out += entry("size", "Bytes of the model's file, weights included.");
  out += entry("agreement",
               "Share of inputs for which the model and the original have the same best class.");
  out += entry("accuracy",
               "Share of labelled inputs whose best class is the label. Intervals are "
               "Wilson score intervals at 95 %.");
  out +=
      entry("parity",
            "max abs: the largest difference of an element; max rel: that by the largest magnitude "
            "of its output; cosine: the smallest over all inputs. The written file was read "
            "back for it. The reference provider computes in plain loops.");
  return out + "</dl>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  std::string body = header(report) + tiles(report);
  body += section("Result", main_table(report));
  body += section("Budget", budget_table(report));
  body += section("Latency", latency_charts(report));
  body += section("Parity", parity_table(report));
  body += section("Predictions", predictions(report));
  body += section("What the optimiser changed", changes(report));
  body += section("Who runs what", assignment_table(report));
  body += section("Model, data and machine", facts(report));
  body += section("How it was measured", methods(report));
  return cat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
      escape(report.model_name), " – trivet report</title>\n<style>", html::kStyle,
      "</style></head>\n<body><main>\n", body, "</main></body></html>\n");
}

}  // namespace trivet

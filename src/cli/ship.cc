// trivet ship: from a trained model to a bundle that can be deployed, with the proof.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/shipping.h"
#include "cli/table.h"

namespace trivet::cli {
namespace {

constexpr std::size_t kShownPredictions = 5;

std::string share_text(const Proportion& share) {
  return cat(format_percent(share.value()), " of ", share.trials);
}

void print_optimization(const Report& report) {
  print(cat("optimise   ", report.nodes_before, " nodes to ", report.nodes_after, ":"));
  bool any = false;
  for (const ReportPass& pass : report.passes) {
    if (pass.changes == 0) continue;
    print(cat(any ? ", " : " ", pass.name, " ", pass.changes));
    any = true;
  }
  print(any ? "\n" : " nothing to change\n");
}

void print_parity(const Report& report) {
  for (const ReportParity& parity : report.parity) {
    print(cat("verify     ", parity.report.passed() ? "PASS" : "FAIL", "  ", parity.actual,
              " against ", parity.expected, ", ", parity.report.inputs(), " inputs: max abs ",
              format_number(parity.report.max_abs_diff()), ", cosine ",
              format_number(parity.report.min_cosine()), "\n"));
  }
}

void print_predictions(const Report& report) {
  if (report.predictions.empty()) return;
  print("\npredictions\n");
  Table table({{""}, {""}, {"", Align::kRight}, {""}});
  for (const Prediction& prediction : report.predictions) {
    const auto& [label, probability] = prediction.top.front();
    table.add_row({format_text(prediction.file, 40), format_text(label, 50),
                   format_percent(probability),
                   prediction.truth ? "is: " + format_text(*prediction.truth, 40) : ""});
    if (&prediction ==
        &report.predictions[std::min(report.predictions.size(), kShownPredictions) - 1])
      break;
  }
  print(table.to_string(2));
}

void print_table(const Report& report) {
  const bool accuracy = report.shipped().accuracy.has_value();
  Table table({{"model"},
               {"precision"},
               {"size", Align::kRight},
               {"p50", Align::kRight},
               {"p95", Align::kRight},
               {"p99", Align::kRight},
               {"peak memory", Align::kRight},
               {accuracy ? "accuracy" : "agreement", Align::kRight}});
  for (const ReportRow& row : report.rows) {
    const LatencyStats stats = row.latency.stats();
    const auto& share = accuracy ? std::optional(row.accuracy->top1) : row.agreement;
    table.add_row({format_text(cat(report.model_name, " ", row.name), 50), row.precision,
                   format_bytes(static_cast<double>(row.file_bytes)), format_ms(stats.p50),
                   format_ms(stats.p95), format_ms(stats.p99) + (stats.p99_is_max ? "*" : ""),
                   format_bytes(static_cast<double>(row.memory.model_peak())),
                   share ? share_text(*share) : "-"});
  }
  print("\n" + table.to_string());
  if (report.batch != 1) print(cat("times are for one inference of batch ", report.batch, "\n"));
  const auto marked = [](const ReportRow& row) { return row.latency.stats().p99_is_max; };
  if (std::ranges::any_of(report.rows, marked)) {
    print("* the slowest run: too few runs for a p99\n");
  }
  if (report.shipped().latency.stats().unstable) {
    print("unstable: p95 is over 1.5 times p50; something else used the machine\n");
  }
}

void print_report(const Shipped& shipped) {
  const Report& report = shipped.report;
  print_optimization(report);
  print_parity(report);
  print_predictions(report);
  print_table(report);
  for (const BudgetLine& line : report.budgets) {
    print(cat(line.passed() ? "PASS" : "FAIL", "  ", line.title, ": ", line.measured_text,
              line.at_most ? ", at most " : ", at least ", line.limit_text, "\n"));
  }
  if (shipped.written) {
    print(cat("\nwrote ", shipped.output, " (", shipped.output, "/report.html)\n"));
  } else {
    print(cat("\nFAIL: kept the bundle that ", shipped.output,
              " was before; give another -o to see this one's report\n"));
  }
}

Result<int> run_ship(const ShipOptions& options) {
  TRIVET_ASSIGN(const Shipped shipped, ship(options));
  if (options.json) {
    Json json = to_json(shipped.report);
    json["written"] = shipped.written;
    print_json(json);
  } else {
    print_report(shipped);
  }
  return shipped.report.passed() ? kPassed : kCheckFailed;
}

void add_measurement(CLI::App& command, ShipOptions& options) {
  add_real(command, "--fps", options.fps, "Frames per second that the model must hold (at p95)",
           "F", true);
  add_text(command, "--ram", options.ram, "Peak memory that the model may use: 64M, 1.5G", "SIZE");
  add_number(command, "--warmup", options.warmup, "Runs before those that are timed (default 10)",
             0, 1000000);
  add_number(command, "--runs", options.runs, "Timed runs, for at most 10 s (default 200)", 1,
             10000000);
  add_number(command, "--reference-inputs", options.reference_inputs,
             "Inputs that the slow reference provider checks too (default 3; 0: none)", 0, 1000000);
}

}  // namespace

void add_ship(CommandLine& line) {
  const auto options = std::make_shared<ShipOptions>();
  CLI::App& command = line.add(
      "ship", "Optimises, verifies, measures and packs a model, with a report",
      "  trivet ship tests/models/resnet18.onnx --data tests/corpus/image_fuzz --resize 40x40 "
      "--scale 1/255 -o resnet18.trivet --force\n"
      "  trivet ship tests/models/efficientnet_lite0.onnx --fps 1 --ram 1G -o lite.trivet --force",
      [options] { return run_ship(*options); });
  add_model(command, options->model);
  options->data.add_to(command, false);
  add_text(command, "-o,--output", options->output,
           "The bundle (default: MODEL's name with .trivet)", "DIR");
  add_flag(command, "--force", options->force, "Replace a bundle that exists");
  add_measurement(command, *options);
  options->tolerance.add_to(command);
  options->session.add_to(command);
  add_json(command, options->json);
}

}  // namespace trivet::cli

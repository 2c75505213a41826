// trivet bench --emit-script: the same protocol as a Python script, to run where the other engine
// is.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/bench.h"
#include "cli/command.h"

namespace trivet::cli {
namespace {

/// What both scripts share: how runs are made and counted. %NAME% is filled in.
constexpr std::string_view kProtocol = R"py(#!/usr/bin/env python3
"""Times %MODEL% with %ENGINE% by the protocol of `trivet bench`: one first run, %WARMUP% to warm up,
%COUNT%, one at a time; nearest-rank quantiles, of n sorted samples the one with index
min(n - 1, n * per_mille // 1000). Prints one JSON document.
%USAGE%
"""
import argparse
import json
import math
import time

import numpy as np

SHAPES = %SHAPES%  # of each input: name, dtype, shape
WARMUP = %WARMUP%
RUNS = %RUNS%
SECONDS = %SECONDS%  # above 0: measure for so long instead of RUNS
THREADS = %THREADS%
SEED = %SEED%


def random_inputs():
    generator = np.random.default_rng(SEED)
    inputs = {}
    for name, dtype, shape in SHAPES:
        if dtype.startswith("float"):
            inputs[name] = generator.random(shape).astype(dtype)
        elif dtype == "bool":
            inputs[name] = generator.integers(0, 2, shape).astype(bool)
        else:
            inputs[name] = generator.integers(0, 2, shape).astype(dtype)
    return inputs


def measure(run):
    def timed():
        start = time.perf_counter()
        run()
        return 1000 * (time.perf_counter() - start)

    first = timed()
    for _ in range(WARMUP):
        run()
    samples = []
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS if SECONDS > 0 else len(samples) < RUNS:
        samples.append(timed())
    return first, samples


def report(engine, load_ms, first, samples):
    n = len(samples)
    ordered = sorted(samples)
    rank = lambda per_mille: ordered[min(n - 1, n * per_mille // 1000)]
    logs = np.log(samples)
    sigma = float(logs.std(ddof=1)) if n > 1 else 0.0
    median = float(np.exp(logs.mean()))
    print(json.dumps({
        "engine": engine, "threads": THREADS, "load_ms": load_ms, "first_run_ms": first, "runs": n,
        "p50_ms": rank(500), "p90_ms": rank(900), "p95_ms": rank(950), "p99_ms": rank(990),
        "p99_is_max": n * 990 // 1000 + 1 >= n, "mean_ms": sum(samples) / n, "min_ms": ordered[0],
        "max_ms": ordered[-1], "stddev_ms": float(np.std(samples, ddof=1)) if n > 1 else 0.0,
        "throughput_per_s": 1000 * n / sum(samples),
        "log_normal": {"median_ms": median, "sigma": sigma, "p95_ms": median * math.exp(1.645 * sigma),
                       "p99_ms": median * math.exp(2.326 * sigma)},
        "unstable": rank(950) > 1.5 * rank(500), "samples_ms": samples}, indent=2))

)py";

constexpr std::string_view kOnnxRuntime = R"py(
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=%PATH%)
    arguments = parser.parse_args()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(arguments.model, options, providers=["CPUExecutionProvider"])
    load_ms = 1000 * (time.perf_counter() - start)
    inputs = random_inputs()
    first, samples = measure(lambda: session.run(None, inputs))
    report(f"onnxruntime {onnxruntime.__version__}", load_ms, first, samples)


main()
)py";

constexpr std::string_view kTorch = R"py(
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("factory", help="module:function that returns the torch.nn.Module")
    arguments = parser.parse_args()
    import importlib
    import torch

    torch.set_num_threads(THREADS)
    module, function = arguments.factory.split(":")
    start = time.perf_counter()
    model = getattr(importlib.import_module(module), function)().eval()
    load_ms = 1000 * (time.perf_counter() - start)
    inputs = [torch.from_numpy(array) for array in random_inputs().values()]
    with torch.inference_mode():
        first, samples = measure(lambda: model(*inputs))
    report(f"torch {torch.__version__}", load_ms, first, samples)


main()
)py";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// A Python literal: JSON's strings, numbers and lists are the same there.
std::string literal(const Json& value) { return value.dump(); }

std::string script(const BenchCase& c, const BenchOptions& options) {
  Json shapes = Json::array();
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    shapes.push_back({c.session->inputs()[i].name, dtype_name(c.inputs[i].dtype()),
                      json_shape(c.inputs[i].shape())});
  }
  const double seconds = options.seconds.value_or(0);
  std::string out(kProtocol);
  out += options.torch ? kTorch : kOnnxRuntime;
  const std::pair<std::string_view, std::string> values[] = {
      {"%MODEL%", literal(std::filesystem::path(c.path).filename().string())},
      {"%ENGINE%", options.torch ? "PyTorch" : "onnxruntime"},
      {"%COUNT%",
       seconds > 0 ? cat("then runs for ", seconds, " s") : cat("then ", options.runs, " runs")},
      {"%USAGE%",
       options.torch ? "Give the model as module:function, for example torchvision.models:resnet50."
                     : "Needs numpy and onnxruntime."},
      {"%SHAPES%", literal(shapes)},
      {"%WARMUP%", std::to_string(options.warmup)},
      {"%RUNS%", std::to_string(options.runs)},
      {"%SECONDS%", literal(seconds)},
      {"%THREADS%", std::to_string(c.session->threads())},
      {"%SEED%", std::to_string(options.feed.seed)},
      {"%PATH%", literal(std::filesystem::absolute(c.path).string())},
  };
  for (const auto& [name, value] : values) replace_all(out, name, value);
  return out;
}

}  // namespace

Result<int> run_bench_script(const BenchOptions& options) {
  if (!options.feed.inputs.empty())
    return unsupported("--emit-script makes its inputs up; leave --input out");
  std::optional<std::int64_t> batch;
  if (!options.batches.empty()) batch = options.batches.front();
  TRIVET_ASSIGN(const BenchCase c, prepare_case(options.models.front(), options, batch));
  const SaveFlags file{options.emit_script, options.save.force};
  TRIVET_TRY(file.write(script(c, options)));
  if (options.json) {
    print_json({{"script", options.emit_script}});
  } else {
    print(cat("wrote ", options.emit_script, "; run it with python3\n"));
  }
  return kPassed;
}

}  // namespace trivet::cli

#include "cli/proving.h"

#include <algorithm>

#include "cli/dataset.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "ops/support/copy.h"

namespace trivet::cli {
namespace {

using Outputs = std::vector<Tensor>;

Result<std::shared_ptr<Session>> plain_session(const ProofFlags& flags, const Model& model) {
  SessionFlags session_flags;
  session_flags.threads = flags.threads;
  session_flags.no_optimize = true;
  TRIVET_ASSIGN(const SessionOptions options, session_flags.to_options());
  TRIVET_ASSIGN(std::unique_ptr<Session> session, Session::create(model, options));
  return std::shared_ptr<Session>(std::move(session));
}

std::vector<std::string> output_names(const Session& session) {
  std::vector<std::string> out;
  for (const Port& port : session.outputs()) out.push_back(port.name);
  return out;
}

/// One set of random inputs.
Result<Feed> random_inputs(const FeedFlags& flags, const Session& session) {
  TRIVET_ASSIGN(const Dataset data, Dataset::random(flags, session.inputs(), 1));
  TRIVET_ASSIGN(Sample sample, data.sample(0));
  return std::move(sample.feed);
}

/// The elements from `begin` to `begin` + `count` along `axis`.
Result<Tensor> part_of(const Tensor& tensor, std::size_t axis, std::int64_t begin,
                       std::int64_t count) {
  Shape shape = tensor.shape();
  shape[axis] = count;
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(tensor.dtype(), shape));
  std::vector<std::vector<std::int64_t>> places(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    for (std::int64_t k = 0; k < shape[i]; ++k) places[i].push_back(i == axis ? begin + k : k);
  }
  ops::copy_places(tensor, places, out);
  return out;
}

/// Tensors of one type and, but for `axis`, one shape, one behind the other.
Result<Tensor> put_together(const std::vector<Tensor>& parts, std::size_t axis) {
  Shape shape = parts.front().shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) shape[axis] += part.shape()[axis];
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(parts.front().dtype(), shape));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  std::int64_t at = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const Tensor& part : parts) {
      const std::int64_t run = part.shape()[axis] * inner;
      ops::copy_run(part, o * run, out, at, run);
      at += run;
    }
  }
  return out;
}

/// The axis whose size depends on the symbol; for outputs that have one.
std::optional<std::size_t> axis_of(const Port& port, const std::string& symbol) {
  if (!port.type.shape) return std::nullopt;
  for (std::size_t axis = 0; axis < port.type.shape->size(); ++axis) {
    const std::string size = (*port.type.shape)[axis].to_string();
    if (size == symbol || size.ends_with("*" + symbol) || size.starts_with(symbol + "*")) {
      return axis;
    }
  }
  return std::nullopt;
}

}  // namespace

void ProofFlags::add_to(CLI::App& command) {
  add_number(command, "--count", count, "Random inputs on which the result is verified (default 3)",
             1, 1000000);
  add_shapes(command, feed.shapes);
  add_seed(command, feed.seed);
  tolerance.add_to(command);
  add_number(command, "--threads", threads, "Worker threads (default: one per physical core)", 1,
             1024);
}

std::vector<OpenedPort> opened_ports(const Graph& graph, std::span<const check::OpenAxis> axes) {
  std::vector<OpenedPort> out;
  for (const check::OpenAxis& axis : axes) {
    out.push_back({graph.value(axis.input).name, axis.axis, axis.symbol});
  }
  return out;
}

Result<Prover> Prover::create(const ProofFlags& flags, const Model& original,
                              const Model& rewritten) {
  TRIVET_ASSIGN(auto before, plain_session(flags, original));
  TRIVET_ASSIGN(auto after, plain_session(flags, rewritten));
  return Prover(flags, std::move(before), std::move(after));
}

Result<Prover> Prover::create(const ProofFlags& flags, const Model& model) {
  TRIVET_ASSIGN(auto session, plain_session(flags, model));
  return Prover(flags, session, session);
}

Result<ParityReport> Prover::empty_report() const {
  return ParityReport::create(output_names(*rewritten_), output_names(*original_),
                              flags_.tolerance.to_tolerance());
}

Result<Feed> Prover::example() const { return random_inputs(flags_.feed, *original_); }

Result<Feed> Prover::longer(const Feed& example, std::span<const OpenedPort> opened,
                            std::int64_t multiple) const {
  FeedFlags flags = flags_.feed;
  flags.shapes.clear();
  for (const auto& [name, tensor] : example) {
    Shape shape = tensor.shape();
    for (const OpenedPort& port : opened) {
      if (port.input == name) shape[port.axis] *= multiple;
    }
    flags.shapes.push_back(cat(name, "=", shape_to_string(shape)));
  }
  return random_inputs(flags, *rewritten_);
}

Result<Outputs> Prover::by_parts(const Feed& feed, std::span<const OpenedPort> opened,
                                 std::int64_t multiple) {
  std::vector<Outputs> runs;
  for (std::int64_t i = 0; i < multiple; ++i) {
    Feed part = feed;
    for (const OpenedPort& port : opened) {
      const Tensor& whole = feed.at(port.input);
      const std::int64_t size = whole.shape()[port.axis] / multiple;
      TRIVET_ASSIGN(part[port.input], part_of(whole, port.axis, i * size, size));
    }
    TRIVET_ASSIGN(Outputs run, original_->run(part));
    runs.push_back(std::move(run));
  }
  Outputs out;
  for (std::size_t k = 0; k < original_->outputs().size(); ++k) {
    const Port& port = rewritten_->outputs()[k];
    const auto axis = axis_of(port, opened.front().symbol);
    if (!axis) {
      return invalid_argument("output '", port.name, "' (", to_string(port.type),
                              ") has no axis of size ", opened.front().symbol,
                              ": whether it is right for several images cannot be shown");
    }
    std::vector<Tensor> parts;
    for (const Outputs& run : runs) parts.push_back(run[k]);
    TRIVET_ASSIGN(Tensor whole, put_together(parts, *axis));
    out.push_back(std::move(whole));
  }
  return out;
}

Result<ParityReport> Prover::as_exported() {
  TRIVET_ASSIGN(const Dataset data,
                Dataset::random(flags_.feed, original_->inputs(), flags_.count));
  TRIVET_ASSIGN(ParityReport report, empty_report());
  Progress progress("verify", static_cast<std::int64_t>(data.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    TRIVET_ASSIGN(const Sample sample, data.sample(i));
    TRIVET_ASSIGN(const Outputs actual, rewritten_->run(sample.feed));
    TRIVET_ASSIGN(const Outputs expected, original_->run(sample.feed));
    report.add(actual, expected);
    progress.advance();
  }
  return report;
}

Result<ParityReport> Prover::batches(std::span<const OpenedPort> opened,
                                     std::span<const std::int64_t> multiples) {
  TRIVET_ASSIGN(ParityReport report, empty_report());
  TRIVET_ASSIGN(const Feed one, example());
  Progress progress("verify batches", static_cast<std::int64_t>(multiples.size()));
  for (const std::int64_t multiple : multiples) {
    TRIVET_ASSIGN(const Feed feed, longer(one, opened, multiple));
    TRIVET_ASSIGN(const Outputs actual, rewritten_->run(feed));
    TRIVET_ASSIGN(const Outputs expected, by_parts(feed, opened, multiple));
    report.add(actual, expected);
    progress.advance();
  }
  return report;
}

Result<void> Prover::runs_at(std::span<const OpenedPort> opened, std::int64_t multiple) {
  TRIVET_ASSIGN(const Feed one, example());
  TRIVET_ASSIGN(const Feed feed, longer(one, opened, multiple));
  TRIVET_TRY(rewritten_->run(feed));
  return {};
}

Result<ParityReport> prove(const ProofFlags& flags, const Model& original, const Model& rewritten) {
  TRIVET_ASSIGN(Prover prover, Prover::create(flags, original, rewritten));
  return prover.as_exported();
}

std::string verdict(const ParityReport& report) {
  return cat(report.passed() ? "PASS" : "FAIL", ": the same on ", report.inputs(),
             " random inputs, max abs ", format_number(report.max_abs_diff()));
}

}  // namespace trivet::cli

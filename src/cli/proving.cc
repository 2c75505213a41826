#include "cli/proving.h"

#include <algorithm>

#include "cli/dataset.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "ops/support/copy.h"
#include "runtime/session.h"

namespace trivet::cli {
namespace {

using Outputs = std::vector<Tensor>;

Result<std::unique_ptr<Session>> plain_session(const ProofFlags& flags, const Model& model) {
  SessionFlags session_flags;
  session_flags.threads = flags.threads;
  session_flags.no_optimize = true;
  TRIVET_ASSIGN(const SessionOptions options, session_flags.to_options());
  return Session::create(model, options);
}

Result<ParityReport> empty_report(const ProofFlags& flags, const Session& original) {
  std::vector<std::string> names;
  for (const Port& port : original.outputs()) names.push_back(port.name);
  return ParityReport::create(names, names, flags.tolerance.to_tolerance());
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

/// The flags with the shape of each input: that of the example, opened axes `multiple` times as
/// long.
FeedFlags with_shapes(FeedFlags flags, const Feed& example, std::span<const OpenedPort> opened,
                      std::int64_t multiple) {
  flags.shapes.clear();
  for (const auto& [name, tensor] : example) {
    Shape shape = tensor.shape();
    for (const OpenedPort& port : opened) {
      if (port.input == name) shape[port.axis] *= multiple;
    }
    flags.shapes.push_back(cat(name, "=", shape_to_string(shape)));
  }
  return flags;
}

class BatchProof {
 public:
  BatchProof(Session& original, Session& rewritten, std::span<const OpenedPort> opened)
      : original_(original), rewritten_(rewritten), opened_(opened) {}

  /// What the original gives for each part of the feed, put together.
  Result<Outputs> expected(const Feed& feed, std::int64_t multiple) const {
    std::vector<Outputs> runs;
    for (std::int64_t i = 0; i < multiple; ++i) {
      Feed part = feed;
      for (const OpenedPort& port : opened_) {
        const Tensor& whole = feed.at(port.input);
        const std::int64_t size = whole.shape()[port.axis] / multiple;
        TRIVET_ASSIGN(part[port.input], part_of(whole, port.axis, i * size, size));
      }
      TRIVET_ASSIGN(Outputs run, original_.run(part));
      runs.push_back(std::move(run));
    }
    Outputs out;
    for (std::size_t k = 0; k < original_.outputs().size(); ++k) {
      const Port& port = rewritten_.outputs()[k];
      const auto axis = axis_of(port, opened_.front().symbol);
      if (!axis) {
        return invalid_argument("output '", port.name, "' (", to_string(port.type),
                                ") has no axis of size ", opened_.front().symbol,
                                ": whether it is right for several images cannot be shown");
      }
      std::vector<Tensor> parts;
      for (const Outputs& run : runs) parts.push_back(run[k]);
      TRIVET_ASSIGN(Tensor whole, put_together(parts, *axis));
      out.push_back(std::move(whole));
    }
    return out;
  }

 private:
  Session& original_;
  Session& rewritten_;
  std::span<const OpenedPort> opened_;
};

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

Result<ParityReport> prove(const ProofFlags& flags, const Model& original, const Model& rewritten) {
  TRIVET_ASSIGN(const auto before, plain_session(flags, original));
  TRIVET_ASSIGN(const auto after, plain_session(flags, rewritten));
  TRIVET_ASSIGN(const Dataset data, Dataset::random(flags.feed, before->inputs(), flags.count));
  TRIVET_ASSIGN(ParityReport report, empty_report(flags, *before));
  Progress progress("verify", static_cast<std::int64_t>(data.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    TRIVET_ASSIGN(const Sample sample, data.sample(i));
    TRIVET_ASSIGN(const Outputs actual, after->run(sample.feed));
    TRIVET_ASSIGN(const Outputs expected, before->run(sample.feed));
    report.add(actual, expected);
    progress.advance();
  }
  return report;
}

Result<ParityReport> prove_batches(const ProofFlags& flags, const Model& original,
                                   const Model& rewritten, std::span<const OpenedPort> opened,
                                   std::span<const std::int64_t> multiples) {
  TRIVET_ASSIGN(const auto before, plain_session(flags, original));
  TRIVET_ASSIGN(const auto after, plain_session(flags, rewritten));
  TRIVET_ASSIGN(ParityReport report, empty_report(flags, *before));
  const BatchProof proof(*before, *after, opened);
  TRIVET_ASSIGN(const Dataset one, Dataset::random(flags.feed, before->inputs(), 1));
  TRIVET_ASSIGN(const Sample example, one.sample(0));
  Progress progress("verify batches", static_cast<std::int64_t>(multiples.size()));
  for (const std::int64_t multiple : multiples) {
    const FeedFlags feed = with_shapes(flags.feed, example.feed, opened, multiple);
    TRIVET_ASSIGN(const Dataset data, Dataset::random(feed, after->inputs(), 1));
    TRIVET_ASSIGN(const Sample sample, data.sample(0));
    TRIVET_ASSIGN(const Outputs actual, after->run(sample.feed));
    TRIVET_ASSIGN(const Outputs expected, proof.expected(sample.feed, multiple));
    report.add(actual, expected);
    progress.advance();
  }
  return report;
}

Result<void> prove_runs(const ProofFlags& flags, const Model& original, const Model& rewritten,
                        std::span<const OpenedPort> opened, std::int64_t multiple) {
  TRIVET_ASSIGN(const auto before, plain_session(flags, original));
  TRIVET_ASSIGN(const auto after, plain_session(flags, rewritten));
  TRIVET_ASSIGN(const Dataset one, Dataset::random(flags.feed, before->inputs(), 1));
  TRIVET_ASSIGN(const Sample example, one.sample(0));
  const FeedFlags feed = with_shapes(flags.feed, example.feed, opened, multiple);
  TRIVET_ASSIGN(const Dataset data, Dataset::random(feed, after->inputs(), 1));
  TRIVET_ASSIGN(const Sample sample, data.sample(0));
  TRIVET_TRY(after->run(sample.feed));
  return {};
}

std::string verdict(const ParityReport& report) {
  return cat(report.passed() ? "PASS" : "FAIL", ": the same on ", report.inputs(),
             " random inputs, max abs ", format_number(report.max_abs_diff()));
}

}  // namespace trivet::cli

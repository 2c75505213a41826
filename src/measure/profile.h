// Where the time of a run goes: per node, per operator, and against what the machine can do.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "measure/cost.h"
#include "measure/roofline.h"
#include "runtime/session.h"

namespace trivet {

/// A node, or several that run as one. Times are in milliseconds.
struct ProfileStep {
  /// Of the nodes; a node without a name goes by that of its first output. None where the source
  /// does not know nodes.
  std::vector<std::string> names;
  std::vector<std::string> outputs;  ///< of the values that the nodes compute
  std::string op;        ///< "Conv", "Conv+Add+Relu"; other domains in front: "com.microsoft.Gelu"
  std::string kernel;    ///< empty where it is not known
  std::string provider;  ///< empty where it is not known
  double time_ms =
      0;  ///< the mean over the middle runs; in each the sum, where it ran several times
  double min_ms = 0;
  std::optional<double> flops;
  std::optional<double> bytes;  ///< read and written; what only passes inside the step left out
};

/// Times are means over the middle runs: the slowest and the fastest quarter do not count. Unlike
/// medians, those of the steps add up to that of the run.
struct Profile {
  std::string source;  ///< who measured: "trivet", "onnxruntime", "torch"
  std::string model;   ///< empty where it is not known
  int threads = 0;     ///< 0 where it is not known
  std::size_t runs = 0;
  double run_ms = 0;               ///< of whole runs
  double coverage = 0;             ///< what share of it the steps add up to
  std::optional<double> plain_ms;  ///< of runs without profiling, made in turns
  std::vector<ProfileStep> steps;  ///< in the order in which they first ran
  std::vector<std::string> notes;  ///< what could not be counted or has no step

  /// The sum of the steps' times.
  [[nodiscard]] double steps_ms() const;
  /// What profiling adds to a run, as a share of it; nothing without plain_ms.
  [[nodiscard]] std::optional<double> overhead() const;
};

/// Collects how long the same steps took in several runs.
class StepCollector {
 public:
  /// `run_ms` is how long each run took as a whole.
  explicit StepCollector(std::vector<double> run_ms) : run_ms_(std::move(run_ms)) {}

  /// Steps with the same key are the same step; `describe` is asked for a new one, and its times do
  /// not count.
  void add(std::size_t run, const std::string& key, double ms,
           const std::function<ProfileStep()>& describe);
  /// Sets the runs and the steps.
  void finish(Profile& profile) const;

 private:
  struct Entry {
    ProfileStep step;
    std::vector<double> ms;  ///< by run; 0 in one that did not come to it
  };
  std::vector<double> run_ms_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> by_key_;
};

struct ProfileOptions {
  int warmup = 5;  ///< runs that are not counted
  int runs = 20;
};

struct ProfileSamples {
  std::vector<RunProfile> runs;
  std::vector<double> plain_ms;  ///< runs without profiling, each beside one of `runs`
};

/// Profiled and plain runs in turns, so that both see the same machine. `progress` is told after
/// each turn.
[[nodiscard]] Result<ProfileSamples> measure_profile(Session& session,
                                                     std::span<const Tensor> inputs,
                                                     const ProfileOptions& options,
                                                     const std::function<void()>& progress = {});

/// What `event` is a step of, without times and costs.
[[nodiscard]] ProfileStep step_of(const Graph& graph, const ProfileEvent& event);

/// The samples of a session with this graph, whose costs are `cost`.
[[nodiscard]] Profile summarize_profile(const Graph& graph, const GraphCost& cost,
                                        const ProfileSamples& samples);

/// FLOPs per byte; nothing where one is not known or there are no bytes.
[[nodiscard]] std::optional<double> intensity(const std::optional<double>& flops,
                                              const std::optional<double>& bytes);

/// The share of the roofline that the step reaches: the least time that its work can take by the
/// time that it takes. Above 1 where the traffic stays in caches that the roofline leaves out.
[[nodiscard]] std::optional<double> roofline_share(const ProfileStep& step,
                                                   const Roofline& roofline);

/// The first operator of "Conv+Add+Relu", by which a step is sorted where fusions differ.
[[nodiscard]] std::string_view leading_operator(std::string_view op);

/// The steps of one operator in sum.
struct OperatorTime {
  std::size_t steps = 0;
  ProfileStep sum;  ///< without names
};

/// By ProfileStep::op, the longest first.
[[nodiscard]] std::vector<OperatorTime> times_by_operator(const Profile& profile);

}  // namespace trivet

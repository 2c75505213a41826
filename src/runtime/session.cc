#include "runtime/session.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_info.h"
#include "base/mapped_file.h"
#include "base/memory_info.h"
#include "graph/compact.h"
#include "graph/extract.h"
#include "ops/registry.h"
#include "ops/support/inference.h"
#include "passes/pipeline.h"
#include "provider/abi.h"
#include "provider/builtin.h"
#include "provider/graph_handle.h"
#include "runtime/feed.h"
#include "runtime/host.h"

namespace trivet {
namespace {

/// A run of consecutive nodes that one provider has compiled.
struct Segment {
  const TrvProvider* provider = nullptr;
  TrvCompiled* compiled = nullptr;
  std::vector<NodeId> nodes;  ///< in the session's graph, like what follows
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  Segment() = default;
  Segment(Segment&& other) noexcept { *this = std::move(other); }
  Segment& operator=(Segment&& other) noexcept {
    std::swap(provider, other.provider);
    std::swap(compiled, other.compiled);
    std::swap(nodes, other.nodes);
    std::swap(inputs, other.inputs);
    std::swap(outputs, other.outputs);
    return *this;
  }
  ~Segment() {
    if (compiled != nullptr) provider->destroy(compiled);
  }
};

/// Receives a segment's outputs through the callbacks of the ABI.
class Outputs {
 public:
  explicit Outputs(std::size_t count) : tensors_(count) {}

  TrvOutputs callbacks() {
    return {.user = this, .allocate = allocate, .set_strings = set_strings};
  }
  std::vector<Tensor>& tensors() { return tensors_; }

 private:
  static void* allocate(void* user, std::size_t index, std::int32_t dtype, std::int32_t rank,
                        const std::int64_t* dims, TrvError* error) {
    auto& self = *static_cast<Outputs*>(user);
    const auto type = dtype_from_onnx(dtype);
    if (index >= self.tensors_.size() || !type || *type == DType::kString || rank < 0) {
      abi::fail(error, {ErrorCode::kFailed,
                        cat("the provider asked for output ", index, " of type ", dtype)});
      return nullptr;
    }
    auto tensor = Tensor::allocate(*type, Shape(dims, dims + rank));
    if (!tensor) {
      abi::fail(error, tensor.error());
      return nullptr;
    }
    self.tensors_[index] = *std::move(tensor);
    return self.tensors_[index].mutable_raw();
  }

  static std::int32_t set_strings(void* user, std::size_t index, std::int32_t rank,
                                  const std::int64_t* dims, const TrvString* values,
                                  TrvError* error) {
    auto& self = *static_cast<Outputs*>(user);
    if (index >= self.tensors_.size() || rank < 0) {
      return abi::fail(error, {ErrorCode::kFailed,
                               cat("the provider gave output ", index, ", which there is not")});
    }
    auto tensor = abi::strings_from_abi({dims, static_cast<std::size_t>(rank)}, values);
    if (!tensor) return abi::fail(error, tensor.error());
    self.tensors_[index] = *std::move(tensor);
    return TRV_OK;
  }

  std::vector<Tensor> tensors_;
};

/// Runs segments and keeps what their steps took. A step is only copied while the run lasts, so
/// that profiling costs little; events() makes sense of them.
class StepLog {
 public:
  std::int32_t run(const Segment& segment, const TrvTensor* inputs, const TrvOutputs* outputs,
                   TrvError* error) {
    segment_ = &segment;
    if (const auto run_profiled = profiled_run_of(*segment.provider)) {
      const TrvProfile profile{.user = this, .step = [](void* user, const TrvStep* step) {
                                 auto& self = *static_cast<StepLog*>(user);
                                 self.entries_.push_back({self.segment_, *step, false});
                               }};
      return run_profiled(segment.compiled, inputs, outputs, &profile, error);
    }
    TrvStep step{};
    step.start_ns = step_clock_ns();
    const std::int32_t code = segment.provider->run(segment.compiled, inputs, outputs, error);
    step.end_ns = step_clock_ns();
    entries_.push_back({&segment, step, true});
    return code;
  }

  /// With times from `start_ns` on.
  Result<std::vector<ProfileEvent>> events(std::int64_t start_ns) const {
    std::vector<ProfileEvent> out;
    for (const Entry& entry : entries_) {
      const TrvStep& step = entry.step;
      TRIVET_ASSIGN(std::vector<NodeId> nodes, nodes_of(entry));
      ProfileEvent event{.provider = entry.segment->provider->name,
                         .nodes = std::move(nodes),
                         .kernel = std::string(step.kernel.data, step.kernel.size),
                         .start_ns = step.start_ns - start_ns,
                         .end_ns = step.end_ns - start_ns};
      if (event.start_ns < 0 || event.end_ns < event.start_ns) {
        return fail(ErrorCode::kFailed, "provider '", event.provider, "' reports a step from ",
                    event.start_ns, " ns to ", event.end_ns, " ns of the run");
      }
      out.push_back(std::move(event));
    }
    return out;
  }

 private:
  struct Entry {
    const Segment* segment;
    TrvStep step;
    bool whole;  ///< the segment as one step
  };

  static Result<std::vector<NodeId>> nodes_of(const Entry& entry) {
    const std::vector<NodeId>& all = entry.segment->nodes;
    if (entry.whole) return all;
    std::vector<NodeId> out;
    for (std::size_t i = 0; i < entry.step.node_count; ++i) {
      const std::size_t node = entry.step.nodes[i];
      if (node >= all.size()) {
        return fail(ErrorCode::kFailed, "provider '", entry.segment->provider->name,
                    "' reports a step of node ", node, ", and was given ", all.size());
      }
      out.push_back(all[node]);
    }
    std::ranges::sort(out);
    return out;
  }

  const Segment* segment_ = nullptr;
  std::vector<Entry> entries_;
};

Result<void> run_segment(const Segment& segment, std::vector<Tensor>& frame, StepLog* log) {
  std::vector<TrvTensor> inputs;
  std::vector<std::vector<TrvString>> strings(segment.inputs.size());
  for (std::size_t i = 0; i < segment.inputs.size(); ++i) {
    inputs.push_back(abi::to_abi(frame[static_cast<std::size_t>(segment.inputs[i])], strings[i]));
  }
  Outputs outputs(segment.outputs.size());
  const TrvOutputs callbacks = outputs.callbacks();
  TrvError error{};
  const std::int32_t code =
      log == nullptr ? segment.provider->run(segment.compiled, inputs.data(), &callbacks, &error)
                     : log->run(segment, inputs.data(), &callbacks, &error);
  if (code != TRV_OK) return tl::unexpected(abi::to_error(code, error));
  for (std::size_t i = 0; i < segment.outputs.size(); ++i) {
    if (!outputs.tensors()[i].defined()) {
      return fail(ErrorCode::kFailed, "provider '", segment.provider->name, "' left an output out");
    }
    frame[static_cast<std::size_t>(segment.outputs[i])] = std::move(outputs.tensors()[i]);
  }
  return {};
}

}  // namespace

struct Session::State {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<TrvThreads> threads;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Assignment assignment;
  std::vector<Segment> segments;

  Result<std::vector<std::size_t>> assign(const SessionOptions& options);
  Result<void> compile(const SessionOptions& options, const std::vector<std::size_t>& owner);
  Result<void> prepare(std::span<const ValueType> types) const;
  /// With a log, its steps are reported to it.
  Result<std::vector<Tensor>> run(std::span<const Tensor> fed, StepLog* log) const;
};

/// The index of the provider that runs each node.
Result<std::vector<std::size_t>> Session::State::assign(const SessionOptions& options) {
  const std::size_t n = graph->nodes().size();
  const std::size_t nobody = options.providers.size();
  std::vector<std::size_t> owner(n, nobody);
  const TrvGraph handle{graph};
  for (std::size_t p = 0; p < options.providers.size(); ++p) {
    const TrvProvider& provider = *options.providers[p];
    TRIVET_TRY(check_provider(provider));
    std::vector<std::uint8_t> claimed(n, 0);
    TrvError error{};
    const std::int32_t code = provider.claim(&host_table(), &handle, claimed.data(), &error);
    if (code != TRV_OK) return tl::unexpected(abi::to_error(code, error));
    assignment.parts.push_back({provider.name, 0, 0});
    for (std::size_t i = 0; i < n; ++i) {
      if (owner[i] != nobody || claimed[i] == 0) continue;
      if (p > 0 && !options.allow_fallback) {
        return unsupported("provider '", options.providers[0]->name, "' cannot run ",
                           graph->describe(static_cast<NodeId>(i)), "; allow '", provider.name,
                           "' to run it with --allow-fallback");
      }
      owner[i] = p;
      ++assignment.parts[p].nodes;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (owner[i] == nobody) {
      const auto known = find_op(graph->nodes()[i]);
      if (!known) {
        return tl::unexpected(Error(known.error()).at(graph->describe(static_cast<NodeId>(i))));
      }
      return unsupported("no provider can run ", graph->describe(static_cast<NodeId>(i)));
    }
    assignment.per_node.emplace_back(options.providers[owner[i]]->name);
  }
  return owner;
}

Result<void> Session::State::compile(const SessionOptions& options,
                                     const std::vector<std::size_t>& owner) {
  const auto pairs = to_pairs(options.settings);
  std::vector<TrvSetting> settings;
  for (const auto& [name, value] : pairs) settings.push_back({name.c_str(), value.c_str()});
  const TrvCompileOptions compile_options{.size = sizeof(TrvCompileOptions),
                                          .threads = threads.get(),
                                          .setting_count = settings.size(),
                                          .settings = settings.data()};
  for (std::size_t begin = 0; begin < owner.size();) {
    std::vector<NodeId> nodes;
    std::size_t end = begin;
    for (; end < owner.size() && owner[end] == owner[begin]; ++end)
      nodes.push_back(static_cast<NodeId>(end));
    TRIVET_ASSIGN(ExtractedGraph part, extract(*graph, nodes));
    Segment segment;
    segment.provider = options.providers[owner[begin]];
    if (options.settings.max_memory != 0 && prepare_of(*segment.provider) == nullptr) {
      return unsupported("provider '", segment.provider->name,
                         "' does not plan its memory and cannot keep to --max-memory");
    }
    segment.inputs = std::move(part.inputs);
    segment.outputs = std::move(part.outputs);
    const TrvGraph handle{std::make_shared<const Graph>(std::move(part.graph))};
    TrvError error{};
    const std::int32_t code = segment.provider->compile(&host_table(), &handle, &compile_options,
                                                        &segment.compiled, &error);
    if (code != TRV_OK) return tl::unexpected(abi::to_error(code, error));
    segment.nodes = std::move(nodes);
    ++assignment.parts[owner[begin]].segments;
    segments.push_back(std::move(segment));
    begin = end;
  }
  return {};
}

/// Hands each segment the types of its inputs, as far as they follow from those of the model.
Result<void> Session::State::prepare(std::span<const ValueType> types) const {
  std::vector<InferredValue> known;
  for (const ValueType& type : types) known.push_back({type, {}, std::nullopt});
  TRIVET_ASSIGN(const Inference inference, infer(*graph, known));
  for (const Segment& segment : segments) {
    const auto prepare = prepare_of(*segment.provider);
    if (prepare == nullptr) continue;
    std::vector<TrvTensor> tensors;
    std::vector<Shape> shapes(segment.inputs.size());
    for (const ValueId id : segment.inputs) {
      const ValueType& type = inference[id].type;
      const auto shape = type.kind == ValueType::Kind::kTensor && type.shape
                             ? constant_shape(*type.shape)
                             : std::nullopt;
      if (!shape || type.dtype == DType::kUndefined) break;
      Shape& kept = shapes[tensors.size()];
      kept = *shape;
      tensors.push_back({.dtype = static_cast<std::int32_t>(type.dtype),
                         .rank = static_cast<std::int32_t>(kept.size()),
                         .dims = kept.data(),
                         .data = nullptr,
                         .bytes = 0});
    }
    if (tensors.size() < segment.inputs.size()) continue;
    TrvError error{};
    const std::int32_t code = prepare(segment.compiled, tensors.data(), &error);
    if (code != TRV_OK) return tl::unexpected(abi::to_error(code, error));
  }
  return {};
}

namespace {

std::shared_ptr<ThreadPool> workers_of(const SessionOptions& options) {
  if (options.pool != nullptr) return options.pool;
  const auto spin = options.spin ? ThreadPool::kDefaultSpin : std::chrono::microseconds(0);
  return std::make_shared<ThreadPool>(
      options.threads > 0 ? options.threads : default_thread_count(), spin, options.pin);
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(const Model& model,
                                                 const SessionOptions& options) {
  auto state = std::make_unique<State>();
  Graph graph = *model.graph;
  if (options.optimize) {
    TRIVET_TRY(optimize(graph));
    TRIVET_ASSIGN(graph, compact(graph));
  }
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.use_declared_types = true}));
  for (const ValueId id : graph.inputs())
    state->inputs.push_back({graph.value(id).name, graph.value(id).type});
  for (const ValueId id : graph.outputs()) {
    const ValueType& inferred = inference[id].type;
    const bool known = inferred.shape || inferred.element;
    state->outputs.push_back({graph.value(id).name, known ? inferred : graph.value(id).type});
  }
  state->graph = std::make_shared<const Graph>(std::move(graph));
  state->threads = std::make_unique<TrvThreads>(workers_of(options));
  TRIVET_ASSIGN(const std::vector<std::size_t> owner, state->assign(options));
  TRIVET_TRY(state->compile(options, owner));
  release_free_memory();
  MappedFile::release_all();  // what was looked at; a plan reads again what it packs
  std::vector<ValueType> types;
  for (const Port& port : state->inputs) types.push_back(port.type);
  const bool fixed = std::ranges::all_of(
      types, [](const ValueType& type) { return type.shape && constant_shape(*type.shape); });
  if (fixed) TRIVET_TRY(state->prepare(types));
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

const std::vector<Port>& Session::inputs() const { return state_->inputs; }
const std::vector<Port>& Session::outputs() const { return state_->outputs; }
const Graph& Session::graph() const { return *state_->graph; }
const Assignment& Session::assignment() const { return state_->assignment; }
int Session::threads() const { return state_->threads->pool.thread_count(); }

Result<std::vector<std::string>> Session::describe() const {
  std::vector<std::string> out;
  const TrvWrite append = [](void* user, const void* data, std::size_t bytes) -> std::int32_t {
    static_cast<std::string*>(user)->append(static_cast<const char*>(data), bytes);
    return 0;
  };
  for (const Segment& segment : state_->segments) {
    out.emplace_back(segment.provider->describe == nullptr ? "{}" : "");
    if (segment.provider->describe == nullptr) continue;
    TrvError error{};
    const std::int32_t code =
        segment.provider->describe(segment.compiled, append, &out.back(), &error);
    if (code != TRV_OK) return tl::unexpected(abi::to_error(code, error));
  }
  return out;
}

Result<void> Session::prepare(std::span<const Tensor> inputs) {
  TRIVET_TRY(check_feed(state_->inputs, inputs));
  std::vector<ValueType> types;
  for (const Tensor& tensor : inputs) types.push_back(ValueType::of(tensor));
  return state_->prepare(types);
}

Result<std::vector<Tensor>> Session::State::run(std::span<const Tensor> fed, StepLog* log) const {
  TRIVET_TRY(check_feed(inputs, fed));
  std::vector<Tensor> frame(graph->value_count());
  for (std::size_t i = 0; i < fed.size(); ++i)
    frame[static_cast<std::size_t>(graph->inputs()[i])] = fed[i];
  for (const Segment& segment : segments) TRIVET_TRY(run_segment(segment, frame, log));
  std::vector<Tensor> out;
  for (const ValueId id : graph->outputs()) {
    out.push_back(graph->is_constant(id) ? graph->value(id).constant
                                         : frame[static_cast<std::size_t>(id)]);
  }
  return out;
}

Result<std::vector<Tensor>> Session::run(std::span<const Tensor> inputs) {
  return state_->run(inputs, nullptr);
}

Result<std::vector<Tensor>> Session::run(const std::map<std::string, Tensor>& inputs) {
  TRIVET_ASSIGN(const std::vector<Tensor> ordered, order_feed(state_->inputs, inputs));
  return run(ordered);
}

Result<std::vector<Tensor>> Session::run_profiled(std::span<const Tensor> inputs,
                                                  RunProfile& profile) {
  StepLog log;
  profile.start_ns = step_clock_ns();
  TRIVET_ASSIGN(std::vector<Tensor> outputs, state_->run(inputs, &log));
  profile.wall_ns = step_clock_ns() - profile.start_ns;
  TRIVET_ASSIGN(profile.events, log.events(profile.start_ns));
  return outputs;
}

}  // namespace trivet

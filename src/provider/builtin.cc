#include "provider/builtin.h"

#include <cstring>
#include <ctime>

namespace trivet {

std::int64_t step_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

namespace abi {
namespace {

CompiledHandle& handle_of(TrvCompiled* compiled) {
  return *reinterpret_cast<CompiledHandle*>(compiled);
}

/// The inputs as tensors, handed to run(graph, inputs, outputs), whose error goes out.
template <class Run>
std::int32_t with_tensors(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                          TrvError* error, const Run& run) {
  CompiledHandle& handle = handle_of(compiled);
  std::vector<Tensor> tensors;
  tensors.reserve(handle.input_count);
  for (std::size_t i = 0; i < handle.input_count; ++i) {
    auto tensor = from_abi(inputs[i]);
    if (!tensor) return fail(error, std::move(tensor).error().at(cat("input ", i)));
    tensors.push_back(*std::move(tensor));
  }
  HostOutputs sink(*outputs);
  const Result<void> done = run(*handle.graph, tensors, sink);
  return done ? TRV_OK : fail(error, done.error());
}

}  // namespace

Result<Tensor> HostOutputs::allocate(std::size_t index, DType dtype, const Shape& shape) {
  TrvError error{};
  void* data = outputs_.allocate(outputs_.user, index, static_cast<std::int32_t>(dtype),
                                 static_cast<std::int32_t>(shape.size()), shape.data(), &error);
  if (data == nullptr) return tl::unexpected(to_error(error.code, error));
  return Tensor::view(dtype, shape, data, nullptr);
}

Result<void> HostOutputs::copy(std::size_t index, const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    std::vector<TrvString> strings;
    const TrvTensor view = to_abi(tensor, strings);
    TrvError error{};
    const std::int32_t code =
        outputs_.set_strings(outputs_.user, index, view.rank, view.dims, strings.data(), &error);
    if (code != TRV_OK) return tl::unexpected(to_error(code, error));
    return {};
  }
  TRIVET_ASSIGN(Tensor out, allocate(index, tensor.dtype(), tensor.shape()));
  if (tensor.bytes() > 0) std::memcpy(out.mutable_raw(), tensor.raw(), tensor.bytes());
  return {};
}

std::int32_t run_compiled(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                          TrvError* error) {
  return with_tensors(compiled, inputs, outputs, error,
                      [](CompiledGraph& graph, std::span<const Tensor> tensors, OutputSink& sink) {
                        return graph.run(tensors, sink);
                      });
}

std::int32_t run_compiled_profiled(TrvCompiled* compiled, const TrvTensor* inputs,
                                   const TrvOutputs* outputs, const TrvProfile* profile,
                                   TrvError* error) {
  const StepReport report = [profile](const TrvStep& step) { profile->step(profile->user, &step); };
  return with_tensors(
      compiled, inputs, outputs, error,
      [&report](CompiledGraph& graph, std::span<const Tensor> tensors, OutputSink& sink) {
        return graph.run_profiled(tensors, sink, report);
      });
}

std::int32_t prepare_compiled(TrvCompiled* compiled, const TrvTensor* inputs, TrvError* error) {
  CompiledHandle& handle = handle_of(compiled);
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < handle.input_count; ++i) {
    const auto dtype = dtype_from_onnx(inputs[i].dtype);
    if (!dtype || inputs[i].rank < 0)
      return fail(error, {ErrorCode::kInvalidArgument, cat("input ", i, " has no type")});
    const std::span dims(inputs[i].dims, static_cast<std::size_t>(inputs[i].rank));
    types.push_back(ValueType::tensor(*dtype, SymbolicShape(dims.begin(), dims.end())));
  }
  const Result<void> done = handle.graph->prepare(types);
  return done ? TRV_OK : fail(error, done.error());
}

void destroy_compiled(TrvCompiled* compiled) { delete reinterpret_cast<CompiledHandle*>(compiled); }

std::int32_t describe_compiled(const TrvCompiled* compiled, TrvWrite write, void* user,
                               TrvError* error) {
  const std::string text = handle_of(const_cast<TrvCompiled*>(compiled)).graph->describe();
  if (write(user, text.data(), text.size()) == 0) return TRV_OK;
  return fail(error, {ErrorCode::kFailed, "the description was not taken"});
}

}  // namespace abi
}  // namespace trivet

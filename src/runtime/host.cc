#include "runtime/host.h"

#include <dlfcn.h>

#include <cstddef>

#include "onnx/writer.h"
#include "provider/graph_handle.h"

namespace trivet {
namespace {

/// Bytes of a table that ends before the members that came later.
constexpr std::size_t kSmallestTable = offsetof(TrvProvider, run_profiled);

const Graph& graph_of(const TrvGraph* handle) { return *handle->graph; }
const Node& node_of(const TrvGraph* handle, std::size_t node) {
  return graph_of(handle).nodes()[node];
}

std::int32_t serialize(const TrvGraph* handle, TrvWrite write, void* user, TrvError* error) {
  const auto bytes = serialize_model(model_around(handle->graph));
  if (!bytes) return abi::fail(error, bytes.error());
  if (write(user, bytes->data(), bytes->size()) == 0) return TRV_OK;
  return abi::fail(error, {ErrorCode::kFailed, "the model was not taken"});
}

void parallel_for(TrvThreads* threads, std::size_t tasks,
                  void (*run)(void* user, std::size_t task, std::size_t worker), void* user) {
  threads->pool.parallel_for(static_cast<std::int64_t>(tasks), [&](std::int64_t task, int worker) {
    run(user, static_cast<std::size_t>(task), static_cast<std::size_t>(worker));
  });
}

}  // namespace

Model model_around(std::shared_ptr<const Graph> graph) {
  Model model;
  model.graph = std::move(graph);
  for (const Node& node : model.graph->nodes()) {
    int& version = model.opsets[node.domain];
    version = std::max(version, node.opset);
  }
  return model;
}

const TrvHost& host_table() {
  static const TrvHost table = {
      .abi_version = TRV_PROVIDER_ABI_VERSION,
      .size = sizeof(TrvHost),
      .input_count = [](const TrvGraph* g) { return graph_of(g).inputs().size(); },
      .output_count = [](const TrvGraph* g) { return graph_of(g).outputs().size(); },
      .input_name =
          [](const TrvGraph* g, std::size_t i) {
            return graph_of(g).value(graph_of(g).inputs()[i]).name.c_str();
          },
      .output_name =
          [](const TrvGraph* g, std::size_t i) {
            return graph_of(g).value(graph_of(g).outputs()[i]).name.c_str();
          },
      .node_count = [](const TrvGraph* g) { return graph_of(g).nodes().size(); },
      .node_name = [](const TrvGraph* g, std::size_t i) { return node_of(g, i).name.c_str(); },
      .node_op_type = [](const TrvGraph* g,
                         std::size_t i) { return node_of(g, i).op_type.c_str(); },
      .node_domain = [](const TrvGraph* g, std::size_t i) { return node_of(g, i).domain.c_str(); },
      .node_opset = [](const TrvGraph* g, std::size_t i) -> std::int32_t {
        return node_of(g, i).opset;
      },
      .serialize = serialize,
      .thread_count =
          [](const TrvThreads* t) { return static_cast<std::size_t>(t->pool.thread_count()); },
      .parallel_for = parallel_for,
  };
  return table;
}

Result<void> check_provider(const TrvProvider& provider) {
  if (provider.abi_version != TRV_PROVIDER_ABI_VERSION) {
    return unsupported(
        "provider '", provider.name, "' was built for version ", provider.abi_version,
        " of the provider interface, this program has version ", TRV_PROVIDER_ABI_VERSION);
  }
  if (provider.size < kSmallestTable) {
    return unsupported("provider '", provider.name, "' has a table of ", provider.size,
                       " bytes, expected ", kSmallestTable,
                       "; build it again with this version's trivet/provider.h");
  }
  TrvError error{};
  const std::int32_t code = provider.check(&host_table(), &error);
  if (code == TRV_OK) return {};
  return tl::unexpected(abi::to_error(code, error).at(cat("provider '", provider.name, "'")));
}

decltype(TrvProvider::run_profiled) profiled_run_of(const TrvProvider& provider) {
  constexpr std::size_t kEnd =
      offsetof(TrvProvider, run_profiled) + sizeof(TrvProvider::run_profiled);
  return provider.size < kEnd ? nullptr : provider.run_profiled;
}

decltype(TrvProvider::prepare) prepare_of(const TrvProvider& provider) {
  constexpr std::size_t kEnd = offsetof(TrvProvider, prepare) + sizeof(TrvProvider::prepare);
  return provider.size < kEnd ? nullptr : provider.prepare;
}

Result<const TrvProvider*> load_provider(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(ErrorCode::kIo, "cannot load provider: ", dlerror());
  const auto get = reinterpret_cast<TrvGetProvider>(dlsym(library, TRV_GET_PROVIDER_SYMBOL));
  const TrvProvider* provider = get == nullptr ? nullptr : get(TRV_PROVIDER_ABI_VERSION);
  if (provider == nullptr) {
    dlclose(library);
    return unsupported("'", path, "' is not a Trivet provider for version ",
                       TRV_PROVIDER_ABI_VERSION, " of the interface (it must export ",
                       TRV_GET_PROVIDER_SYMBOL, ")");
  }
  return provider;
}

}  // namespace trivet

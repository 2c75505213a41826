// trivet_mutants FILE...: reads each file as a model, runs it on small inputs where that is
// possible, and prints one line per file: OK, or REFUSED and the error. Made for damaged files
// under the sanitizers: whatever stands in a file, the answer must be one of the two.
#include <cstdio>
#include <string>

#include "base/math.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "providers/providers.h"
#include "runtime/session.h"

namespace {

using trivet::Result;
using trivet::Tensor;

/// Larger inputs are not run: a mutated size would cost the time of the suite, not find a fault.
constexpr std::int64_t kMaxElements = 1 << 16;

/// Zeros, with 1 for each dimension that the model leaves open.
Result<Tensor> zeros(const trivet::Port& port) {
  trivet::Shape shape;
  for (const trivet::Dim& d : port.type.shape.value_or(trivet::SymbolicShape{})) {
    shape.push_back(d.is_constant() ? d.value() : 1);
  }
  const auto count = trivet::checked_product(shape);
  if (!count || *count > kMaxElements)
    return trivet::unsupported("input '", port.name, "' is too large to try");
  if (port.type.dtype == trivet::DType::kUndefined)
    return trivet::unsupported("input of unknown type");
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(port.type.dtype, shape));
  if (port.type.dtype != trivet::DType::kString && out.bytes() > 0) {
    std::fill_n(static_cast<std::byte*>(out.mutable_raw()), out.bytes(), std::byte{0});
  }
  return out;
}

Result<void> try_file(const char* path) {
  TRIVET_ASSIGN(const trivet::Model model, trivet::read_model(path));
  TRIVET_ASSIGN(const std::string written, trivet::serialize_model(model));
  for (const TrvProvider* provider : trivet::builtin_providers()) {
    TRIVET_ASSIGN(const auto session,
                  trivet::Session::create(model, {.providers = {provider}, .threads = 1}));
    std::vector<Tensor> inputs;
    for (const trivet::Port& port : session->inputs()) {
      TRIVET_ASSIGN(inputs.emplace_back(), zeros(port));
    }
    TRIVET_ASSIGN(const std::vector<Tensor> outputs, session->run(inputs));
    if (outputs.size() != session->outputs().size()) {
      return trivet::fail(trivet::ErrorCode::kFailed, "internal: outputs are missing");
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto done = try_file(argv[i]);
    if (done) {
      std::puts("OK");
    } else {
      std::printf("REFUSED %s\n", done.error().message.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

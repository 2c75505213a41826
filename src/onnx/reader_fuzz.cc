// Any bytes are a model or an error; a model can be written, and what is written reads as the same.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "onnx/reader.h"
#include "onnx/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trivet;
  // A copy of exactly this size, so that a read beyond the end shows.
  const auto bytes = std::make_shared<std::string>(reinterpret_cast<const char*>(data), size);
  const auto model = read_model(bytes, *bytes);
  if (!model) {
    if (model.error().message.empty()) std::abort();
    return 0;
  }
  if (!verify(*model->graph)) std::abort();
  const auto written = serialize_model(*model);
  if (!written) return 0;  // a node of another opset whose subgraphs cannot go into a function
  const auto again = read_model(nullptr, *written);
  if (!again) std::abort();
  const auto rewritten = serialize_model(*again);
  if (!rewritten || *rewritten != *written) std::abort();
  return 0;
}

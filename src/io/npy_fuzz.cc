// libFuzzer: whatever the bytes, parse_npy gives a tensor that can be written again, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tensor = trivet::parse_npy(std::as_bytes(std::span(data, size)));
  if (tensor && !trivet::npy_content(*tensor)) std::abort();
  return 0;
}

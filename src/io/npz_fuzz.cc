// libFuzzer: whatever the bytes, parse_npz gives arrays or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)trivet::parse_npz(std::as_bytes(std::span(data, size)));
  return 0;
}

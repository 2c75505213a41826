// Any bytes are triaged without a crash, into few diagnoses that say something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "check/triage.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto found = trivet::check::triage(text);
  if (found.size() > 3) std::abort();
  for (const auto& one : found) {
    if (one.id.empty() || one.fix.empty() || one.matched.size() > 200) std::abort();
  }
  return 0;
}

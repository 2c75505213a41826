// libFuzzer: whatever the bytes, parse_profile gives a profile that can be written and read again
// and compared, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/profile_compare.h"
#include "measure/profile_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trivet;
  const auto profile = parse_profile({reinterpret_cast<const char*>(data), size});
  if (!profile) {
    if (profile.error().message.empty()) std::abort();
    return 0;
  }
  const auto again = parse_profile(profile_to_json(*profile, std::nullopt).dump());
  if (!again || again->steps.size() != profile->steps.size()) std::abort();
  (void)compare_profiles(*profile, *again);
  return 0;
}

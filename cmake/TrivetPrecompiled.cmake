# Precompiled headers: what nearly every file reads, parsed once per target. They are for speed only; a
# file still includes what it uses, which the aarch64 preset (without them) checks.
option(TRIVET_PRECOMPILE "Use precompiled headers" ON)

set(TRIVET_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory>
  <numeric> <optional> <span> <string> <string_view> <tl/expected.hpp> <vector>)

function(trivet_precompile target)
  if(TRIVET_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${TRIVET_COMMON_HEADERS} ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Its false alarms in std::string (PR 105329, 105651) are no longer silenced as a system header's.
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
    endif()
  endif()
endfunction()

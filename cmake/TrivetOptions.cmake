# Compiler settings: the language, the optimisation levels, the sanitizers, and the options of our targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

find_program(TRIVET_CCACHE ccache)
if(TRIVET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache must be told to look into precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${TRIVET_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Directory-wide, because GoogleTest must be instrumented like the code that it tests.
if(TRIVET_SANITIZE)
  add_compile_options(-fsanitize=${TRIVET_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TRIVET_SANITIZE})
  if(TRIVET_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
else()
  # Size counts in what goes to devices. In the sanitizers' programs, which are of hundreds of megabytes, a
  # section for each function makes the linker take three times as long.
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections)
endif()
if(TRIVET_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "TRIVET_FUZZ needs clang; use `cmake --preset asan`")
endif()

# Warnings and floating-point rules of our own targets. Contraction is off so that a result does not
# depend on which multiplications the compiler happens to fuse; kernels/isa/ opts back in (TrivetIsa).
function(trivet_target_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off)
  if(TRIVET_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

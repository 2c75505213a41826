# One test program. GoogleTest is built from its Debian sources, so that sanitizers and cross builds
# get a copy of their own kind.
set(TRIVET_GOOGLETEST_DIR /usr/src/googletest CACHE PATH "Sources of GoogleTest (Debian: googletest)")
if(NOT EXISTS ${TRIVET_GOOGLETEST_DIR}/CMakeLists.txt)
  message(FATAL_ERROR "no GoogleTest in ${TRIVET_GOOGLETEST_DIR}; run scripts/setup.sh build, "
    "or configure with -DTRIVET_BUILD_TESTS=OFF")
endif()
set(BUILD_GMOCK OFF CACHE INTERNAL "")
set(INSTALL_GTEST OFF CACHE INTERNAL "")
add_subdirectory(${TRIVET_GOOGLETEST_DIR} googletest EXCLUDE_FROM_ALL SYSTEM)

add_executable(trivet_tests ${TRIVET_TEST_SOURCES})
target_link_libraries(trivet_tests PRIVATE
  $<TARGET_NAME_IF_EXISTS:trivet_cli> trivet_core gtest gtest_main)
target_compile_definitions(trivet_tests PRIVATE
  TRIVET_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}" TRIVET_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
trivet_target_options(trivet_tests)
# The tests themselves need no speed, and -O2 takes a third longer to compile.
target_compile_options(trivet_tests PRIVATE $<$<CONFIG:Release>:-O1>)
trivet_precompile(trivet_tests ${CMAKE_CURRENT_SOURCE_DIR}/src/graph/graph.h <gtest/gtest.h>)

# Two shards keep two cores busy; each has a temporary folder of its own, so names cannot collide.
enable_testing()
set(TRIVET_TEST_SHARDS 2)
math(EXPR last "${TRIVET_TEST_SHARDS} - 1")
foreach(shard RANGE ${last})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/test_results/shard${shard})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME trivet_tests_${shard} COMMAND trivet_tests)
  set_tests_properties(trivet_tests_${shard} PROPERTIES TIMEOUT 1200 ENVIRONMENT
    "GTEST_TOTAL_SHARDS=${TRIVET_TEST_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_OUTPUT=xml:${folder}/results.xml;TEST_TMPDIR=${folder}/")
endforeach()

# tests/programs/NAME.cc is the program trivet_NAME: what a suite drives from outside.
file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/programs/*.cc)
foreach(source ${programs})
  get_filename_component(stem ${source} NAME_WE)
  add_executable(trivet_${stem} ${source})
  target_link_libraries(trivet_${stem} PRIVATE trivet_core)
  trivet_target_options(trivet_${stem})
endforeach()

# Providers that the tests load at run time. Plain C, and no sanitizer: what others build.
function(trivet_test_provider name source)
  add_library(${name} MODULE tests/providers/${source})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE -std=c11 -Wall -Wextra -fno-sanitize=all)
  target_link_options(${name} PRIVATE -fno-sanitize=all)
  set_target_properties(${name} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/providers)
  add_dependencies(trivet_tests ${name})
endfunction()
trivet_test_provider(flip_sign flip_sign.c)
trivet_test_provider(flip_sign_newer flip_sign.c FLIP_SIGN_ABI=2)
trivet_test_provider(flip_sign_missing flip_sign.c FLIP_SIGN_MISSING)
trivet_test_provider(no_provider no_provider.c)

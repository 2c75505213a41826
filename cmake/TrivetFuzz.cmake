# One program per src/**/*_fuzz.cc, named after the file: build/asan/fuzzers/<stem>.
add_custom_target(fuzzers)
foreach(source ${TRIVET_FUZZ_SOURCES})
  get_filename_component(stem ${source} NAME_WE)
  add_executable(${stem} ${source})
  target_link_libraries(${stem} PRIVATE trivet_core)
  target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${stem} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzzers)
  trivet_target_options(${stem})
  add_dependencies(fuzzers ${stem})
endforeach()

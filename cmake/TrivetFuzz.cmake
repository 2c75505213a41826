# What a fuzzer steers by: the branches of the folders that read files. Counters elsewhere would only cost, a
# quarter of the compile time for one. These are the settings of -fsanitize=fuzzer-no-link; that name itself
# would demand precompiled headers of its own.
set(TRIVET_FUZZED_FOLDERS base tensor graph onnx io measure check convert)
list(JOIN TRIVET_FUZZED_FOLDERS "|" fuzzed)
foreach(source ${TRIVET_CORE_SOURCES} ${TRIVET_FUZZ_SOURCES})
  if(source MATCHES "/src/(${fuzzed})/")
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
      -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth)
  endif()
endforeach()

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

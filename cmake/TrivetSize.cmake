# What is optimised for size: the program is to stay under 3 MB, and these parts do not decide its
# speed. Operators whose plain loops run where the cpu provider has no kernel keep -O2.
set(TRIVET_FAST_OPS conv matmul gemm binary_arithmetic unary_math activations gather concat slice
  softmax reduce resize where cast lstm)

foreach(source ${TRIVET_CORE_SOURCES} ${TRIVET_CLI_SOURCES})
  get_filename_component(stem ${source} NAME_WE)
  if(source MATCHES "/src/(cli|onnx|graph|passes|runtime|report|bundle|measure|io|provider|providers)/" OR
     (source MATCHES "/src/ops/support/" AND NOT stem MATCHES "^(copy|element|convolution|recurrent)") OR
     (source MATCHES "/src/ops/[^/]+$" AND NOT stem IN_LIST TRIVET_FAST_OPS))
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
  endif()
endforeach()

# The library in three parts, each with compiler options of its own:
#   TRIVET_KERNEL_SOURCES   what TrivetIsa compiles for each instruction set
#   TRIVET_SPEED_SOURCES    -O2: operators whose plain loops run where the cpu provider has no kernel
#   TRIVET_SIZE_SOURCES     -Os: the program is to stay under 3 MB, and these do not decide its speed
set(TRIVET_FAST_OPS conv matmul gemm binary_arithmetic unary_math activations gather concat slice
  softmax reduce resize where cast lstm)

set(TRIVET_KERNEL_SOURCES "")
set(TRIVET_SPEED_SOURCES "")
set(TRIVET_SIZE_SOURCES ${TRIVET_GENERATED_SOURCES})
foreach(source ${TRIVET_CORE_SOURCES})
  get_filename_component(stem ${source} NAME_WE)
  if(source MATCHES "/src/kernels/")
    list(APPEND TRIVET_KERNEL_SOURCES ${source})
  elseif(source MATCHES "/src/(onnx|graph|passes|runtime|report|bundle|measure|io|provider|providers)/" OR
     (source MATCHES "/src/ops/support/" AND NOT stem MATCHES "^(copy|element|convolution|recurrent)") OR
     (source MATCHES "/src/ops/[^/]+$" AND NOT stem IN_LIST TRIVET_FAST_OPS))
    list(APPEND TRIVET_SIZE_SOURCES ${source})
  else()
    list(APPEND TRIVET_SPEED_SOURCES ${source})
  endif()
endforeach()

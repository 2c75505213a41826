# Flags of src/kernels/isa/<isa>.cc. A family may split its instances over several files:
# everything before the first underscore of the name is the ISA (avx2.cc, avx2_int8.cc).
# Its fma() is written out, and a compiler that fuses it here and not there would let a value depend on
# how the work was split.
set(TRIVET_ISA_FLAGS_generic -ffp-contract=off)
set(TRIVET_ISA_FLAGS_neon "")
set(TRIVET_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(TRIVET_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c
  -mprefer-vector-width=512)
set(TRIVET_ISAS_X86 avx2 avx512)
set(TRIVET_ISAS_ARM neon)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(foreign_isas ${TRIVET_ISAS_ARM})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(foreign_isas ${TRIVET_ISAS_X86})
else()
  set(foreign_isas ${TRIVET_ISAS_X86} ${TRIVET_ISAS_ARM})
endif()

foreach(source ${TRIVET_CORE_SOURCES})
  if(source MATCHES "/src/kernels/isa/")
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "_.*" "" isa ${stem})
    if(isa IN_LIST foreign_isas)
      list(REMOVE_ITEM TRIVET_CORE_SOURCES ${source})
      continue()
    endif()
    if(NOT DEFINED TRIVET_ISA_FLAGS_${isa})
      message(FATAL_ERROR "${source}: no flags for '${isa}'; add TRIVET_ISA_FLAGS_${isa} to ${CMAKE_CURRENT_LIST_FILE}")
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
      -ffp-contract=fast ${TRIVET_ISA_FLAGS_${isa}})
  endif()
  if(source MATCHES "/src/kernels/")
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
      $<IF:$<CONFIG:Release>,-O3,-O1>)
    if(TRIVET_SANITIZE)
      # Instrumented, each of these files takes the compiler minutes; their tests place buffers before
      # unmapped pages instead.
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
    endif()
  endif()
endforeach()

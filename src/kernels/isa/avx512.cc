// The kernels for AVX-512 F, BW, DQ and VL: vectors of 64 bytes.
#define TRIVET_ISA_NAMESPACE avx512
#define TRIVET_ISA_ENUM Isa::kAvx512
#define TRIVET_ISA_TABLE kAvx512Table
#define TRIVET_SIMD_AVX512 1
#include "kernels/table.inl"

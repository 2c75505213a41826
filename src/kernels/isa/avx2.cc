// The kernels for AVX2 with FMA: vectors of 32 bytes.
#define TRIVET_ISA_NAMESPACE avx2
#define TRIVET_ISA_ENUM Isa::kAvx2
#define TRIVET_ISA_TABLE kAvx2Table
#define TRIVET_SIMD_AVX2 1
#include "kernels/table.inl"

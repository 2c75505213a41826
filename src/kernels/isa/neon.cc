// The kernels for AArch64: vectors of 16 bytes.
#define TRIVET_ISA_NAMESPACE neon
#define TRIVET_ISA_ENUM Isa::kNeon
#define TRIVET_ISA_TABLE kNeonTable
#define TRIVET_SIMD_NEON 1
#include "kernels/table.inl"

// The kernels for any processor, by the compiler's own vectors of 16 bytes.
#define TRIVET_ISA_NAMESPACE generic
#define TRIVET_ISA_ENUM Isa::kGeneric
#define TRIVET_ISA_TABLE kGenericTable
#define TRIVET_SIMD_GENERIC 1
#include "kernels/table.inl"

// Included by the files of isa/, each of which defines the macros that name it: all kernels, and
// the table that exports them.
#include "kernels/conv.inl"
#include "kernels/depthwise.inl"
#include "kernels/elementwise.inl"
#include "kernels/gemm.inl"
#include "kernels/isa/tables.h"
#include "kernels/peak.inl"
#include "kernels/pool.inl"
#include "kernels/rows.inl"
#include "kernels/transpose.inl"

namespace trivet::kernels {

constinit const KernelTable TRIVET_ISA_TABLE = {
    .isa = TRIVET_ISA_ENUM,
    .lanes = TRIVET_ISA_NAMESPACE::kLanes,
    .tile_m = TRIVET_ISA_NAMESPACE::kTileM,
    .panel_n = TRIVET_ISA_NAMESPACE::kPanelN,
    .tile_k = TRIVET_ISA_NAMESPACE::kTileK,
    .pack_b = &TRIVET_ISA_NAMESPACE::pack_b,
    .pack_b_transposed = &TRIVET_ISA_NAMESPACE::pack_b_transposed,
    .gemm = &TRIVET_ISA_NAMESPACE::gemm,
    .pack_conv_weights = &TRIVET_ISA_NAMESPACE::pack_conv_weights,
    .conv_scratch = &TRIVET_ISA_NAMESPACE::conv_scratch,
    .conv = &TRIVET_ISA_NAMESPACE::conv,
    .depthwise_scratch = &TRIVET_ISA_NAMESPACE::depthwise_scratch,
    .depthwise = &TRIVET_ISA_NAMESPACE::depthwise,
    .pool_scratch = &TRIVET_ISA_NAMESPACE::pool_scratch,
    .pool = &TRIVET_ISA_NAMESPACE::pool,
    .unary = &TRIVET_ISA_NAMESPACE::unary,
    .binary = &TRIVET_ISA_NAMESPACE::binary,
    .softmax = &TRIVET_ISA_NAMESPACE::softmax,
    .log_softmax = &TRIVET_ISA_NAMESPACE::log_softmax,
    .layer_norm = &TRIVET_ISA_NAMESPACE::layer_norm,
    .reduce = &TRIVET_ISA_NAMESPACE::reduce,
    .transpose = &TRIVET_ISA_NAMESPACE::transpose,
    .peaks = TRIVET_ISA_NAMESPACE::kPeakKernels,
};

}  // namespace trivet::kernels

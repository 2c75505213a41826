// Included by the files of isa/, each of which defines the macros that name it: all kernels, and
// the table that exports them.
#include "kernels/blocked.inl"
#include "kernels/conv_blocked.inl"
#include "kernels/depthwise_blocked.inl"
#include "kernels/elementwise.inl"
#include "kernels/gemm.inl"
#include "kernels/isa/tables.h"
#include "kernels/peak.inl"
#include "kernels/rows.inl"
#include "kernels/transpose.inl"
#include "kernels/winograd.inl"

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
    .pack_blocked_weights = &TRIVET_ISA_NAMESPACE::pack_blocked_weights,
    .conv_blocked_scratch = &TRIVET_ISA_NAMESPACE::conv_blocked_scratch,
    .conv_blocked = &TRIVET_ISA_NAMESPACE::conv_blocked,
    .pack_winograd_weights = &TRIVET_ISA_NAMESPACE::pack_winograd_weights,
    .winograd_scratch = &TRIVET_ISA_NAMESPACE::winograd_scratch,
    .winograd = &TRIVET_ISA_NAMESPACE::winograd,
    .pack_depthwise_weights = &TRIVET_ISA_NAMESPACE::pack_depthwise_weights,
    .depthwise_blocked = &TRIVET_ISA_NAMESPACE::depthwise_blocked,
    .pool_blocked = &TRIVET_ISA_NAMESPACE::pool_blocked,
    .global_pool_blocked = &TRIVET_ISA_NAMESPACE::global_pool_blocked,
    .binary_channels = &TRIVET_ISA_NAMESPACE::binary_channels,
    .block_planes = &TRIVET_ISA_NAMESPACE::block_planes,
    .unblock_planes = &TRIVET_ISA_NAMESPACE::unblock_planes,
    .block_rows = &TRIVET_ISA_NAMESPACE::block_rows,
    .unblock_rows = &TRIVET_ISA_NAMESPACE::unblock_rows,
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

// The tables that the files of this folder define.
#pragma once

#include "kernels/kernels.h"

namespace trivet::kernels {

extern const KernelTable kGenericTable;
#if defined(__x86_64__)
extern const KernelTable kAvx2Table;
extern const KernelTable kAvx512Table;
#elif defined(__aarch64__)
extern const KernelTable kNeonTable;
#endif

}  // namespace trivet::kernels

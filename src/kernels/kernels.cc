#include "kernels/kernels.h"

#include <array>

#include "kernels/isa/tables.h"

namespace trivet::kernels {
namespace {

/// Narrowest first.
constexpr std::array kBuilt = {
    &kGenericTable,
#if defined(__x86_64__)
    &kAvx2Table,
    &kAvx512Table,
#elif defined(__aarch64__)
    &kNeonTable,
#endif
};

struct Runnable {
  std::array<const KernelTable*, kBuilt.size()> tables{};
  std::size_t count = 0;
};

Runnable find_runnable() {
  Runnable found;
  for (const KernelTable* built : kBuilt) {
    if (isa_supported(built->isa)) found.tables[found.count++] = built;
  }
  return found;
}

}  // namespace

const KernelTable& table(Isa isa) {
  for (const KernelTable* built : kBuilt) {
    if (built->isa == isa) return *built;
  }
  return kGenericTable;
}

std::span<const KernelTable* const> runnable_tables() {
  static const Runnable found = find_runnable();
  return std::span(found.tables).first(found.count);
}

}  // namespace trivet::kernels

// Tries what a model declares: other sizes along the axes that it leaves open.
#pragma once

#include "check/rules.h"
#include "cli/proving.h"

namespace trivet::cli {

/// Runs the model at batch 1 and 2 where it leaves the batch open, and at two resolutions where it
/// leaves that open. Adds `refused-size` where only the second is refused, and `batch-mixes` where
/// an image does not give in a batch what it gives alone. Models of more than 300 million MACs are
/// tried only when `large`; one that does not run at all has findings that say why.
void try_open_sizes(const ProofFlags& flags, const check::Subject& subject, bool large,
                    check::Findings& out);

}  // namespace trivet::cli

#include "cli/commands.h"

namespace trivet::cli {

// One file each: src/cli/<name>.cc.
void add_inspect(CommandLine&);
void add_providers(CommandLine&);
void add_run(CommandLine&);

std::span<const AddCommand> commands() {
  static constexpr AddCommand kCommands[] = {
      add_inspect,
      add_run,
      add_providers,
  };
  return kCommands;
}

}  // namespace trivet::cli

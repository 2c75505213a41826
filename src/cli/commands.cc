#include "cli/commands.h"

namespace trivet::cli {

// One file each: src/cli/<name>.cc.
void add_inspect(CommandLine&);
void add_providers(CommandLine&);
void add_run(CommandLine&);
void add_verify(CommandLine&);
void add_eval(CommandLine&);
void add_check(CommandLine&);
void add_optimize(CommandLine&);
void add_convert(CommandLine&);
void add_ship(CommandLine&);
void add_bench(CommandLine&);
void add_profile(CommandLine&);
void add_measure_memory(CommandLine&);
void add_bench_worker(CommandLine&);

std::span<const AddCommand> commands() {
  static constexpr AddCommand kCommands[] = {
      add_inspect,   add_check,          add_run,          add_verify,  add_eval,
      add_optimize,  add_convert,        add_bench,        add_profile, add_ship,
      add_providers, add_measure_memory, add_bench_worker,
  };
  return kCommands;
}

}  // namespace trivet::cli

// trivet providers: which engines there are, and why one cannot be used.
#include "providers/providers.h"

#include <memory>

#include "base/cpu_info.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/table.h"
#include "runtime/host.h"

namespace trivet::cli {
namespace {

struct ProvidersOptions {
  std::vector<std::string> paths;
  bool json = false;
};

struct Entry {
  const TrvProvider* provider = nullptr;
  std::string unusable;  ///< why it cannot be used here; empty when it can
};

Result<std::vector<Entry>> list_entries(const ProvidersOptions& options) {
  std::vector<const TrvProvider*> all(builtin_providers().begin(), builtin_providers().end());
  for (const std::string& path : options.paths) {
    TRIVET_ASSIGN(const TrvProvider* provider, provider_from_option(path));
    all.push_back(provider);
  }
  std::vector<Entry> out;
  for (const TrvProvider* provider : all) {
    const auto usable = check_provider(*provider);
    out.push_back({provider, usable ? "" : usable.error().message});
  }
  return out;
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> out;
  for (const Isa isa : {Isa::kGeneric, Isa::kNeon, Isa::kAvx2, Isa::kAvx512}) {
    if (isa_supported(isa)) out.emplace_back(isa_name(isa));
  }
  return out;
}

Json to_json(const std::vector<Entry>& entries, std::string_view isa) {
  Json list = Json::array();
  for (const Entry& entry : entries) {
    Json one = {{"name", entry.provider->name},
                {"description", entry.provider->description},
                {"available", entry.unusable.empty()},
                {"abi_version", entry.provider->abi_version}};
    if (!entry.unusable.empty()) one["reason"] = entry.unusable;
    list.push_back(std::move(one));
  }
  return {{"providers", std::move(list)},
          {"abi_version", TRV_PROVIDER_ABI_VERSION},
          {"cpu", cpu_model_name()},
          {"isa", isa},
          {"isas_supported", supported_isas()},
          {"threads", default_thread_count()},
          {"physical_cores", physical_core_count()}};
}

std::string to_text(const std::vector<Entry>& entries, std::string_view isa) {
  Table providers({{"provider"}, {"available"}, {"interface"}, {"what it is"}});
  for (const Entry& entry : entries) {
    const bool usable = entry.unusable.empty();
    providers.add_row({entry.provider->name, usable ? "yes" : "no",
                       std::to_string(entry.provider->abi_version),
                       usable ? entry.provider->description : entry.unusable});
  }
  std::string isas;
  for (const std::string& name : supported_isas()) isas += (isas.empty() ? "" : ", ") + name;
  Table machine({{""}, {""}});
  machine.add_row({"processor", cpu_model_name()});
  machine.add_row({"instruction set", cat(isa, " (this machine has: ", isas, ")")});
  machine.add_row(
      {"threads", cat(default_thread_count(), " (", physical_core_count(), " physical cores)")});
  return providers.to_string() + "\n" + machine.to_string();
}

Result<int> run_providers(const ProvidersOptions& options) {
  TRIVET_ASSIGN(const std::vector<Entry> entries, list_entries(options));
  TRIVET_ASSIGN(const Isa isa, selected_isa());
  if (options.json) {
    print_json(to_json(entries, isa_name(isa)));
  } else {
    print(to_text(entries, isa_name(isa)));
  }
  return kPassed;
}

}  // namespace

void add_providers(CommandLine& line) {
  const auto options = std::make_shared<ProvidersOptions>();
  CLI::App& command = line.add(
      "providers", "Lists the execution providers: which are present, why the others are not",
      "  trivet providers\n"
      "  trivet providers --json\n"
      "  TRIVET_ISA=generic trivet providers",
      [options] { return run_providers(*options); });
  add_texts(command, "LIBRARY", options->paths,
            "Shared libraries of further providers (paths with a '/')", "");
  add_json(command, options->json);
}

}  // namespace trivet::cli

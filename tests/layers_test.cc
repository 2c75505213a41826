// Reads every #include in src/ and holds the folders to their one-way dependencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trivet {
namespace {

using Names = std::set<std::string, std::less<>>;

/// A layer is a folder of src/, or one provider: "providers/cpu". What a layer may include is what
/// stands here, and whatever that may include in turn. "*" is every layer.
const std::map<std::string, Names, std::less<>> kMayInclude = {
    {"base", {}},
    {"tensor", {"base"}},
    {"kernels", {"base"}},
    {"graph", {"tensor"}},
    {"onnx", {"graph"}},
    {"provider", {"graph"}},
    {"ops", {"graph", "kernels"}},
    {"passes", {"ops"}},
    {"runtime", {"passes", "onnx", "provider"}},
    {"providers/cpu", {"provider", "ops"}},
    {"providers/reference", {"provider", "ops"}},
    {"io", {"tensor"}},
    {"schema", {"graph"}},
    {"convert", {"passes", "schema", "onnx"}},
    {"check", {"convert", "runtime"}},
    {"quant", {"runtime"}},
    {"measure", {"runtime"}},
    {"planning", {"measure"}},
    {"bundle", {"planning"}},
    {"report", {"planning"}},
    {"providers",
     {"providers/*"}},  // the files that lie beside the folders: which providers there are
    {"capi", {"runtime", "providers"}},
    {"cli", {"*"}},
};

/// Any other folder below providers/: an external engine, which reads whole models.
const Names kOtherProvider = {"provider", "onnx"};

/// Libraries that only these layers may include.
const std::map<std::string, Names, std::less<>> kLibraryUsers = {
    {"protozero", {"onnx"}},
    {"CLI", {"cli"}},
    {"nlohmann",
     {"check", "quant", "measure", "planning", "bundle", "report", "capi", "cli", "io", "runtime"}},
    {"fmt",
     {"check", "quant", "measure", "planning", "bundle", "report", "capi", "cli", "io", "runtime"}},
};

/// "providers/cpu" for "providers/cpu/plan.cc", "graph" for "graph/patch.h", "" for a file outside.
std::string layer_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return "";
  const std::string top(path.substr(0, slash));
  if (top != "providers") return top;
  const std::size_t next = path.find('/', slash + 1);
  return next == std::string_view::npos ? top : std::string(path.substr(0, next));
}

const Names* direct_dependencies(std::string_view layer) {
  if (const auto found = kMayInclude.find(layer); found != kMayInclude.end()) return &found->second;
  return layer.starts_with("providers/") ? &kOtherProvider : nullptr;
}

bool may_include(std::string_view from, std::string_view to) {
  if (from == to) return true;
  Names seen;
  std::vector<std::string> open = {std::string(from)};
  while (!open.empty()) {
    const std::string layer = open.back();
    open.pop_back();
    if (!seen.insert(layer).second) continue;
    if (layer == to || layer == "*") return true;
    if (layer == "providers/*" && to.starts_with("providers/")) return true;
    if (const Names* next = direct_dependencies(layer)) {
      open.insert(open.end(), next->begin(), next->end());
    }
  }
  return false;
}

/// The file that a line includes, or "".
std::string included_file(std::string_view line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || line[at] != '#') return "";
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos || !line.substr(at).starts_with("include")) return "";
  const std::size_t begin = line.find_first_of("\"<", at);
  if (begin == std::string_view::npos) return "";
  const std::size_t end = line.find(line[begin] == '<' ? '>' : '"', begin + 1);
  if (end == std::string_view::npos) return "";
  return std::string(line.substr(begin + 1, end - begin - 1));
}

/// What is wrong with one include of a non-empty name in a file of `from`; "" when nothing is.
std::string fault_of_include(const std::string& from, const std::string& file, bool is_test) {
  if (file.front() == '.') return cat("name '", file, "' from the root of the sources, not by ../");
  const std::string to = layer_of(file);
  if (const auto users = kLibraryUsers.find(to); users != kLibraryUsers.end()) {
    if (users->second.contains(from)) return "";
    return cat("src/", from, " may not include the library ", to, " ('", file, "')");
  }
  if (to == "trivet") {
    // The interface of providers is the one public header that the inside is built on.
    const bool speaks_to_providers =
        from == "provider" || from == "runtime" || from.starts_with("providers");
    if (from == "capi" || from == "cli") return "";
    if (file == "trivet/provider.h" && speaks_to_providers) return "";
    return cat("src/", from, " may not include the public header '", file, "'");
  }
  const bool is_layer = direct_dependencies(to) != nullptr;
  if (!is_layer || may_include(from, to)) return "";
  // A test may look at its subject from above: at the models and engines that it is compared with.
  if (is_test && to != "cli") return "";
  return cat("src/", from, " may not include src/", to, " ('", file, "')");
}

/// Adds one line per fault of the file `path` (relative to src/) with this text.
void check_text(const std::string& path, std::istream& text, std::vector<std::string>& faults) {
  const std::string from = layer_of(path);
  if (direct_dependencies(from) == nullptr) {
    faults.push_back(cat("src/", path,
                         ": the folder has no place among the layers; add it to the table "
                         "in tests/layers_test.cc and to docs/ARCHITECTURE.md"));
    return;
  }
  const std::string stem = std::filesystem::path(path).stem().string();
  const bool is_test = stem.ends_with("_test") || stem.ends_with("_for_test");
  int line_number = 0;
  for (std::string line; std::getline(text, line);) {
    ++line_number;
    const std::string file = included_file(line);
    if (file.empty()) continue;
    const std::string fault = fault_of_include(from, file, is_test);
    if (!fault.empty()) faults.push_back(cat("src/", path, ":", line_number, ": ", fault));
  }
}

std::vector<std::string> faults_of(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> faults;
  check_text(path, stream, faults);
  return faults;
}

TEST(Layers, EveryIncludeInTheTreeFollowsTheLayers) {
  const std::filesystem::path root = std::filesystem::path(TRIVET_SOURCE_DIR) / "src";
  std::vector<std::string> faults;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc" && extension != ".inl") continue;
    std::ifstream text(entry.path());
    check_text(std::filesystem::relative(entry.path(), root).generic_string(), text, faults);
    ++files;
  }
  EXPECT_GT(files, 0);
  std::sort(faults.begin(), faults.end());
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
}

TEST(Layers, TheTableHasNoCycle) {
  for (const auto& [a, unused_a] : kMayInclude) {
    for (const auto& [b, unused_b] : kMayInclude) {
      if (a == b) continue;
      EXPECT_FALSE(may_include(a, b) && may_include(b, a)) << a << " and " << b;
    }
  }
}

TEST(Layers, DependenciesAreTransitive) {
  EXPECT_TRUE(may_include("runtime", "base"));
  EXPECT_TRUE(may_include("bundle", "onnx"));
  EXPECT_TRUE(may_include("cli", "providers/openvino"));
  EXPECT_TRUE(may_include("capi", "providers/openvino"));
  EXPECT_TRUE(may_include("providers/openvino", "onnx"));
  EXPECT_FALSE(may_include("providers/openvino", "ops"));
  EXPECT_FALSE(may_include("providers/cpu", "providers/reference"));
  EXPECT_FALSE(may_include("providers/cpu", "runtime"));
  EXPECT_FALSE(may_include("base", "tensor"));
  EXPECT_FALSE(may_include("runtime", "providers/cpu"));
}

TEST(Layers, TheCheckerCatchesViolations) {
  EXPECT_EQ(faults_of("graph/a.h", "#pragma once\n#include \"ops/registry.h\"\n"),
            std::vector<std::string>{
                "src/graph/a.h:2: src/graph may not include src/ops ('ops/registry.h')"});
  EXPECT_EQ(faults_of("graph/a.cc", "  #  include <runtime/session.h> // no\n").size(), 1u);
  EXPECT_EQ(faults_of("providers/cpu/a.cc", "#include \"providers/reference/b.h\"\n").size(), 1u);
  EXPECT_EQ(
      faults_of("ops/a.cc", "#include <protozero/pbf_reader.hpp>\n"),
      std::vector<std::string>{"src/ops/a.cc:1: src/ops may not include the library protozero "
                               "('protozero/pbf_reader.hpp')"});
  EXPECT_EQ(faults_of("runtime/a.cc", "#include <CLI/CLI.hpp>\n").size(), 1u);
  EXPECT_EQ(faults_of("graph/a.cc", "#include <nlohmann/json.hpp>\n").size(), 1u);
  EXPECT_EQ(faults_of("ops/a.cc", "#include <fmt/core.h>\n").size(), 1u);
  EXPECT_EQ(faults_of("base/a.cc", "#include \"trivet/trivet.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("graph/a.cc", "#include \"../ops/registry.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("runtime/a.cc", "#include \"providers/list.h\"\n").size(), 1u);
  EXPECT_EQ(faults_of("mystery/a.cc", "").size(), 1u);
  EXPECT_EQ(faults_of("a.cc", "").size(), 1u);
}

TEST(Layers, TheCheckerLetsTheRestPass) {
  EXPECT_TRUE(faults_of("ops/a.cc",
                        "#include <vector>\n#include \"ops/b.h\"\n#include \"base/error.h\"\n"
                        "// #include \"cli/main.h\"\n#include <sys/mman.h>\n")
                  .empty());
  EXPECT_TRUE(faults_of("onnx/a.cc", "#include <protozero/pbf_reader.hpp>\n").empty());
  EXPECT_TRUE(faults_of("cli/a.cc", "#include <CLI/CLI.hpp>\n#include \"quant/a.h\"\n").empty());
  EXPECT_TRUE(faults_of("ops/a_test.cc", "#include \"providers/reference/a.h\"\n").empty());
  EXPECT_FALSE(faults_of("ops/a_test.cc", "#include \"cli/a.h\"\n").empty());
}

}  // namespace
}  // namespace trivet

#include "check/target_table.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "check/embedded.h"

namespace trivet::check {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string text_or_empty(const Json& json, const char* key) {
  return json.contains(key) ? json.at(key).get<std::string>() : "";
}

TargetVersion version_of(const std::string& text) {
  return TargetVersion::parse(text).value_or(TargetVersion());
}

VersionRange range_of(const Json& json) {
  return {version_of(text_or_empty(json, "from")), version_of(text_or_empty(json, "until"))};
}

template <class T>
std::optional<T> number(const Json& json, const char* key) {
  return json.contains(key) ? std::optional<T>(json.at(key).get<T>()) : std::nullopt;
}

/// As `Setting` compares: a number, a text, or numbers with spaces between them.
std::string setting_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return cat(value.get<std::int64_t>());
  std::string out;
  for (const Json& item : value) out += cat(out.empty() ? "" : " ", item.get<std::int64_t>());
  return out;
}

std::vector<std::string> setting_texts(const Json& json, const char* key) {
  std::vector<std::string> out;
  if (!json.contains(key)) return out;
  for (const Json& value : json.at(key)) out.push_back(setting_text(value));
  return out;
}

std::vector<DType> types_of(const std::string& names) {
  std::vector<DType> out;
  for (const std::string& name : words(names)) {
    if (const auto dtype = dtype_from_name(name)) out.push_back(*dtype);
  }
  return out;
}

Condition::Rank rank_of(const Json& json) {
  Condition::Rank out;
  out.input = number<std::size_t>(json, "input");
  if (json.contains("not")) out.allowed = json.at("not").get<std::vector<std::size_t>>();
  out.above = number<std::size_t>(json, "above").value_or(0);
  return out;
}

Condition::Setting attribute_of(const Json& json) {
  Condition::Setting out;
  out.name = json.at("name").get<std::string>();
  if (json.contains("default")) out.fallback = setting_text(json.at("default"));
  out.present = json.contains("present");
  out.is = setting_texts(json, "is");
  out.is_not = setting_texts(json, "not");
  out.beyond = number<std::int64_t>(json, "beyond");
  return out;
}

Condition condition_of(const Json& json) {
  Condition out;
  out.not_constant = number<std::size_t>(json, "not_constant");
  out.nonzero = number<std::size_t>(json, "nonzero");
  out.output = number<std::size_t>(json, "output");
  if (json.contains("open")) {
    out.open = json.at("open") == "rank" ? Condition::Open::kRank : Condition::Open::kShape;
  }
  if (json.contains("rank")) out.rank = rank_of(json.at("rank"));
  if (json.contains("dtype")) {
    const Json& dtype = json.at("dtype");
    out.dtype = {number<std::size_t>(dtype, "input"), types_of(dtype.at("is").get<std::string>())};
  }
  if (json.contains("attribute")) out.attribute = attribute_of(json.at("attribute"));
  return out;
}

/// The names of findings are text that outlives every table.
std::string_view rule_name(std::string_view name) {
  if (name == "slow") return "target-slow";
  if (name == "dtype") return "target-dtype";
  return name == "dynamic" ? "target-dynamic" : "target-restriction";
}

Restriction restriction_of(const Json& json, const Json& sources) {
  Restriction out;
  out.rule = rule_name(json.at("rule").get<std::string>());
  out.severity = json.at("severity") == "error" ? Severity::kError : Severity::kWarning;
  const std::string ops = json.at("ops").get<std::string>();
  out.on_inputs = ops == "inputs";
  if (!out.on_inputs && ops != "*") out.ops = words(ops);
  out.except = words(text_or_empty(json, "except"));
  std::ranges::sort(out.ops);
  std::ranges::sort(out.except);
  out.versions = range_of(json);
  out.when = condition_of(json.at("when"));
  out.cause = json.at("cause").get<std::string>();
  out.consequence = json.at("consequence").get<std::string>();
  out.fix = json.at("fix").get<std::string>();
  out.source = sources.at(json.at("source").get<std::string>()).get<std::string>();
  return out;
}

AllowedTypes allowed_types(const std::string& text) {
  AllowedTypes out;
  for (const std::string& word : words(text)) {
    const std::size_t at = std::min(word.find('@'), word.size());
    const auto dtype = dtype_from_name(word.substr(0, at));
    if (!dtype) continue;  // a type that Trivet's reader does not let in
    out[*dtype] = at < word.size() ? version_of(word.substr(at + 1)) : TargetVersion();
  }
  return out;
}

void read_operators(std::string_view text, TargetTable& out) {
  const Json json = Json::parse(text, nullptr, false);
  for (const auto& [op, spans] : json.at("refused").items()) {
    for (const Json& span : spans) {
      const Json& opset = span.at("opset");
      out.refused[op].push_back({opset.at(0).get<int>(), opset.at(1).get<int>(),
                                 number<int>(span, "lower").value_or(0), range_of(span)});
    }
  }
  if (!json.contains("types")) return;
  for (const auto& [op, rows] : json.at("types").items()) {
    for (const Json& row : rows) {
      TypeRow& added = out.types[op].emplace_back();
      added.first_opset = row.at("opset").at(0).get<int>();
      added.last_opset = row.at("opset").at(1).get<int>();
      for (const auto& [input, types] : row.at("inputs").items()) {
        added.inputs[std::stoul(input)] = allowed_types(types.get<std::string>());
      }
    }
  }
}

void read_versions(const Json& json, TargetTable& out) {
  const Json& sources = json.at("sources");
  for (const Json& row : json.at("versions")) {
    out.versions.push_back({version_of(row.at("version").get<std::string>()),
                            row.at("opset").get<int>(), row.at("ml").get<int>(),
                            row.at("ir").get<std::int64_t>(),
                            sources.at(row.at("source").get<std::string>()).get<std::string>()});
  }
}

void read_supported(const Json& json, TargetTable& out) {
  if (!json.contains("supported")) return;
  for (const auto& [from, ops] : json.at("supported").items()) {
    for (const std::string& op : words(ops.get<std::string>()))
      out.supported[op] = version_of(from);
  }
}

std::string source_of(const Json& json, const char* key) {
  const std::string name = text_or_empty(json, key);
  return name.empty() ? "" : json.at("sources").at(name).get<std::string>();
}

TargetTable read_table(std::string_view text, std::string_view operators) {
  const Json json = Json::parse(text, nullptr, false);
  TargetTable out;
  out.name = json.at("name").get<std::string>();
  out.title = json.at("title").get<std::string>();
  out.scope = json.at("scope").get<std::string>();
  out.aliases = json.at("aliases").get<std::vector<std::string>>();
  if (json.contains("domains")) out.domains = json.at("domains").get<std::vector<std::string>>();
  out.beyond_is_error = json.at("beyond") == "error";
  out.fallback = text_or_empty(json, "fallback");
  out.fallback_fix = text_or_empty(json, "fallback_fix");
  out.operators_source = source_of(json, "operators_source");
  out.types_source = source_of(json, "types_source");
  read_versions(json, out);
  read_supported(json, out);
  for (const Json& row : json.at("restrictions")) {
    out.restrictions.push_back(restriction_of(row, json.at("sources")));
  }
  if (!operators.empty()) read_operators(operators, out);
  return out;
}

}  // namespace

std::optional<TargetVersion> TargetVersion::parse(std::string_view text) {
  TargetVersion out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t part = 0;
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc() || part < 0) return std::nullopt;
    out.parts_.push_back(part);
    if (next == end) return out;
    if (*next != '.') return std::nullopt;
    at = next + 1;
  }
}

std::string TargetVersion::to_string() const {
  std::string out;
  for (const std::int64_t part : parts_) out += cat(out.empty() ? "" : ".", part);
  return out;
}

std::strong_ordering TargetVersion::operator<=>(const TargetVersion& other) const {
  for (std::size_t i = 0; i < std::max(size(), other.size()); ++i) {
    if (const auto order = part(i) <=> other.part(i); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::span<const TargetTable> target_tables() {
  static const std::vector<TargetTable> tables = {
      read_table(embedded::check_target_onnxruntime, embedded::check_target_onnxruntime_operators),
      read_table(embedded::check_target_openvino, embedded::check_target_openvino_operators),
      read_table(embedded::check_target_tensorrt, ""),
      read_table(embedded::check_target_coreml, ""),
      read_table(embedded::check_target_litert, ""),
  };
  return tables;
}

}  // namespace trivet::check

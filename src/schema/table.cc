#include "schema/table.h"

#include <algorithm>
#include <charconv>

#include "schema/embedded.h"

namespace trivet::schema {
namespace {

/// What stands before the separator, which is taken off `text` too.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + separator.size());
  return head;
}

int number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

void add_type(TypeSet& set, std::string_view word) {
  if (word == "map") {
    set.maps = true;
    return;
  }
  std::uint32_t* bits = &set.tensors;
  if (const std::size_t colon = word.find(':'); colon != std::string_view::npos) {
    const std::string_view prefix = word.substr(0, colon);
    bits = prefix == "seq"      ? &set.sequences
           : prefix == "opt"    ? &set.optionals
           : prefix == "optseq" ? &set.optional_sequences
                                : &set.sparse;
    word.remove_prefix(colon + 1);
  }
  if (const auto dtype = dtype_from_name(word)) *bits |= 1U << static_cast<unsigned>(*dtype);
}

AttributeSchema attribute_of(std::string_view word) {
  AttributeSchema out;
  out.name = take(word, ":");
  if (word.ends_with('!')) {
    out.required = true;
    word.remove_suffix(1);
  }
  out.has_default = word.find('=') != std::string_view::npos;
  out.type = take(word, "=");
  out.default_value = word;
  return out;
}

PortSchema port_of(std::string_view word, const std::vector<TypeParameter>& types) {
  PortSchema out;
  if (word.starts_with('?')) {
    out.option = PortSchema::Option::kOptional;
    word.remove_prefix(1);
  } else if (word.starts_with('*')) {
    out.option = PortSchema::Option::kVariadic;
    std::string_view mark = take(word, "/").substr(1);
    if (mark.ends_with('~')) {
      out.same_type = false;
      mark.remove_suffix(1);
    }
    out.least = number(mark);
  }
  out.name = take(word, ":");
  const auto type = std::ranges::find(types, word, &TypeParameter::name);
  out.type = static_cast<std::size_t>(type - types.begin());
  return out;
}

template <class Each>
void for_each_word(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::string_view word = take(text, " ");
    if (!word.empty()) each(word);
  }
}

void add_operator(Table& table, std::string_view line) {
  std::string_view head = take(line, " | ");
  Schema schema;
  take(head, " ");  // "op"
  schema.domain = take(head, " ");
  if (schema.domain == ".") schema.domain = "";
  schema.name = take(head, " ");
  schema.since = number(take(head, " "));
  schema.deprecated = head == "deprecated";
  const std::string_view attributes = take(line, " | ");
  const std::string_view inputs = take(line, " | ");
  const std::string_view outputs = take(line, " | ");
  for_each_word(line, [&](std::string_view word) {
    const std::size_t equal = word.rfind('=');
    const auto set = static_cast<std::size_t>(number(word.substr(equal + 1)));
    if (set < table.sets.size()) {
      schema.types.push_back({word.substr(0, equal), table.sets[set].get()});
    }
  });
  for_each_word(attributes,
                [&](std::string_view word) { schema.attributes.push_back(attribute_of(word)); });
  for_each_word(
      inputs, [&](std::string_view word) { schema.inputs.push_back(port_of(word, schema.types)); });
  for_each_word(outputs, [&](std::string_view word) {
    schema.outputs.push_back(port_of(word, schema.types));
  });
  table.operators[{schema.domain, schema.name}].push_back(std::move(schema));
}

}  // namespace

Table parse_table(std::string_view text) {
  Table table;
  while (!text.empty()) {
    std::string_view line = take(text, "\n");
    if (line.starts_with("op ")) {
      add_operator(table, line);
    } else if (line.starts_with("types ")) {
      auto set = std::make_unique<TypeSet>();
      take(line, " ");
      take(line, " ");  // its number: they stand in order
      for_each_word(line, [&](std::string_view word) { add_type(*set, word); });
      table.sets.push_back(std::move(set));
    }
  }
  return table;
}

const Table& table() {
  static const Table instance = parse_table(embedded::schema_schemas);
  return instance;
}

}  // namespace trivet::schema

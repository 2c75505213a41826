// The table of schemas, read once from the data that is built in.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/schema.h"

namespace trivet::schema {

struct Table {
  std::vector<std::unique_ptr<TypeSet>> sets;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<Schema>> operators;
};

/// `text` is in the form that tools/schemas.py tells; lines in another form are left out.
[[nodiscard]] Table parse_table(std::string_view text);

[[nodiscard]] const Table& table();

}  // namespace trivet::schema

#include "graph/attribute.h"

#include <algorithm>

namespace trivet {
namespace {

template <class T>
T value_or(const Attributes& attributes, std::string_view name, T fallback) {
  const T* value = attributes.get<T>(name);
  return value == nullptr ? fallback : *value;
}

}  // namespace

const Attribute* Attributes::find(std::string_view name) const {
  const auto it = std::ranges::find(all_, name, &Attribute::name);
  return it == all_.end() ? nullptr : &*it;
}

void Attributes::set(std::string name, AttributeValue value) {
  const auto it = std::ranges::find(all_, name, &Attribute::name);
  if (it != all_.end()) {
    it->value = std::move(value);
  } else {
    all_.push_back({std::move(name), std::move(value)});
  }
}

void Attributes::remove(std::string_view name) {
  std::erase_if(all_, [name](const Attribute& a) { return a.name == name; });
}

std::int64_t Attributes::int_or(std::string_view name, std::int64_t fallback) const {
  return value_or(*this, name, fallback);
}
float Attributes::float_or(std::string_view name, float fallback) const {
  return value_or(*this, name, fallback);
}
std::string Attributes::string_or(std::string_view name, std::string_view fallback) const {
  return value_or(*this, name, std::string(fallback));
}
std::vector<std::int64_t> Attributes::ints(std::string_view name) const {
  return value_or(*this, name, std::vector<std::int64_t>{});
}
std::vector<float> Attributes::floats(std::string_view name) const {
  return value_or(*this, name, std::vector<float>{});
}
std::vector<std::string> Attributes::strings(std::string_view name) const {
  return value_or(*this, name, std::vector<std::string>{});
}

}  // namespace trivet

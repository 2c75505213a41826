#include "graph/dim.h"

#include <algorithm>
#include <iterator>

#include "base/math.h"

namespace trivet {
namespace {

std::string call(std::string_view function, const Dim& a, const Dim& b) {
  return std::string(function) + "(" + a.to_string() + ", " + b.to_string() + ")";
}

}  // namespace

Dim Dim::symbol(std::string name) {
  Dim out;
  out.terms_.push_back({{std::move(name)}, 1});
  return out;
}

Dim Dim::unknown() {
  Dim out;
  out.unknown_ = true;
  return out;
}

void Dim::add_term(Term term) {
  const auto place =
      std::lower_bound(terms_.begin(), terms_.end(), term,
                       [](const Term& a, const Term& b) { return a.factors < b.factors; });
  if (place == terms_.end() || place->factors != term.factors) {
    if (term.coefficient != 0) terms_.insert(place, std::move(term));
    return;
  }
  const auto sum = checked_add(place->coefficient, term.coefficient);
  if (!sum) {
    unknown_ = true;
  } else if (*sum == 0) {
    terms_.erase(place);
  } else {
    place->coefficient = *sum;
  }
}

Dim Dim::linear(const Dim& a, const Dim& b, std::int64_t sign) {
  if (a.unknown_ || b.unknown_) return unknown();
  Dim out = a;
  const auto scaled = checked_mul(b.constant_, sign);
  const auto sum = scaled ? checked_add(a.constant_, *scaled) : std::nullopt;
  if (!sum) return unknown();
  out.constant_ = *sum;
  for (Term term : b.terms_) {
    const auto coefficient = checked_mul(term.coefficient, sign);
    if (!coefficient) return unknown();
    term.coefficient = *coefficient;
    out.add_term(std::move(term));
  }
  return out;
}

Dim operator+(const Dim& a, const Dim& b) { return Dim::linear(a, b, 1); }
Dim operator-(const Dim& a, const Dim& b) { return Dim::linear(a, b, -1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.equals(0) || b.equals(0)) return 0;
  if (a.unknown_ || b.unknown_) return Dim::unknown();
  const auto constant = checked_mul(a.constant_, b.constant_);
  if (!constant) return Dim::unknown();
  Dim out(*constant);
  const auto add = [&out](const Dim::Term& term, std::int64_t factor) {
    const auto coefficient = checked_mul(term.coefficient, factor);
    if (!coefficient) {
      out.unknown_ = true;
    } else {
      out.add_term({term.factors, *coefficient});
    }
  };
  for (const auto& term : a.terms_) add(term, b.constant_);
  for (const auto& term : b.terms_) add(term, a.constant_);
  for (const auto& x : a.terms_) {
    for (const auto& y : b.terms_) {
      Dim::Term product;
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                 std::back_inserter(product.factors));
      product.coefficient = x.coefficient;
      add(product, y.coefficient);
    }
  }
  return out;
}

std::optional<Dim> divide_exactly(const Dim& a, const Dim& b) {
  if (a.unknown_ || b.unknown_ || b.equals(0)) return std::nullopt;
  const bool single_product = b.terms_.size() == 1 && b.constant_ == 0;
  if (!b.is_constant() && !single_product) {
    return a == b ? std::optional<Dim>(1) : std::nullopt;
  }
  const std::int64_t divisor = single_product ? b.terms_.front().coefficient : b.constant_;
  const std::vector<std::string> factors =
      single_product ? b.terms_.front().factors : std::vector<std::string>{};
  if (single_product && a.constant_ != 0) return std::nullopt;
  if (divisor == -1 || a.constant_ % divisor != 0) return std::nullopt;
  Dim out(a.constant_ / divisor);
  for (const auto& term : a.terms_) {
    if (term.coefficient % divisor != 0 ||
        !std::includes(term.factors.begin(), term.factors.end(), factors.begin(), factors.end())) {
      return std::nullopt;
    }
    std::vector<std::string> rest;
    std::set_difference(term.factors.begin(), term.factors.end(), factors.begin(), factors.end(),
                        std::back_inserter(rest));
    const std::int64_t coefficient = term.coefficient / divisor;
    if (rest.empty()) {
      out = out + Dim(coefficient);
    } else {
      out.add_term({std::move(rest), coefficient});
    }
  }
  return out;
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && !b.equals(0) && !b.equals(-1)) {
    return floor_div(a.value(), b.value());
  }
  if (a.is_unknown() || b.is_unknown() || b.equals(0)) return Dim::unknown();
  if (auto exact = divide_exactly(a, b)) return *std::move(exact);
  return Dim::symbol(call("floordiv", a, b));
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (auto exact = divide_exactly(a, b)) return *std::move(exact);
  return floor_div(a + b - Dim(1), b);
}

Dim min(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return std::min(a.value(), b.value());
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  return a == b ? a : Dim::symbol(call("min", a, b));
}

Dim max(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return std::max(a.value(), b.value());
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  return a == b ? a : Dim::symbol(call("max", a, b));
}

std::string Dim::to_string() const {
  if (unknown_) return "?";
  std::string out;
  for (const Term& term : terms_) {
    if (!out.empty())
      out += term.coefficient < 0 ? " - " : " + ";
    else if (term.coefficient < 0)
      out += '-';
    const std::int64_t magnitude = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (magnitude != 1) out += std::to_string(magnitude) + "*";
    for (std::size_t i = 0; i < term.factors.size(); ++i) {
      if (i > 0) out += '*';
      out += term.factors[i];
    }
  }
  if (out.empty()) return std::to_string(constant_);
  if (constant_ > 0) out += " + " + std::to_string(constant_);
  if (constant_ < 0) out += " - " + std::to_string(constant_).substr(1);
  return out;
}

std::string shape_to_string(const SymbolicShape& shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (const Dim& d : shape) {
    if (!out.empty()) out += 'x';
    const std::string text = d.to_string();
    out += text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }
  return out;
}

std::optional<std::vector<std::int64_t>> constant_shape(const SymbolicShape& shape) {
  std::vector<std::int64_t> out;
  out.reserve(shape.size());
  for (const Dim& d : shape) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

Dim element_count(const SymbolicShape& shape) {
  Dim out = 1;
  for (const Dim& d : shape) out = out * d;
  return out;
}

}  // namespace trivet

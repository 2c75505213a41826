// One fault of a model, said so that whoever has to mend it need not ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trivet::check {

enum class Severity : std::uint8_t {
  kError,    ///< the model will fail, or give another answer than its author meant
  kWarning,  ///< it will run, but worse or in fewer places than it could
  kInfo,     ///< worth knowing; nothing to do unless it matters to you
};

[[nodiscard]] constexpr std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    default: return "info";
  }
}

/// The four sentences of a finding have no full stop at their end and name things as the file does.
struct Finding {
  std::string_view rule;  ///< stable, for scripts: "baked-batch", "custom-domain"
  Severity severity = Severity::kWarning;
  std::string where;        ///< node 'conv1' (Conv), input 'image', initializer 'w'; or "model"
  std::string cause;        ///< what is there, with its numbers
  std::string consequence;  ///< what happens because of it, and to whom
  std::string fix;          ///< the act that mends it, in the exporter or here
  bool fixable = false;     ///< check --fix does it
};

}  // namespace trivet::check

// Error triage: what a message of a converter or runtime means and what to do. The messages known
// are data (data/triage.json).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trivet::check {

struct Diagnosis {
  std::string id;       ///< of the pattern: "ort-batch-baked"
  std::string runtime;  ///< who printed it: pytorch, onnxruntime, tensorrt, openvino, coreml, …
  std::string title;
  std::string cause;    ///< with what the message names filled in
  std::string fix;      ///< one line that names the act
  std::string act;      ///< one of triage_acts()
  std::string source;   ///< the public thread in which the message was seen
  std::string matched;  ///< the part of the text that was recognised, at most some 200 bytes
  double score = 0.0;   ///< how specific the match is; compares within one call only
};

/// What the text says, best first, three at most; empty: not known. Any bytes, of any length; the
/// time is linear in it.
[[nodiscard]] std::vector<Diagnosis> triage(std::string_view text);

/// A pattern as it is kept, for the tests and for lists.
struct TriagePattern {
  std::string id;
  std::string runtime;
  std::string act;
  std::string kind;  ///< "specific"; "family": a fallback for a whole class; "warning"
  std::string title;
  std::string cause;
  std::string fix;
  std::string example;
  std::string source;
  std::vector<std::string> patterns;
  std::vector<std::string> any;   ///< one of these has to occur as well
  std::vector<std::string> none;  ///< none of these may occur
};
[[nodiscard]] const std::vector<TriagePattern>& triage_patterns();

/// The acts that a fix can name.
[[nodiscard]] const std::vector<std::string_view>& triage_acts();

}  // namespace trivet::check

// Patterns of messages: literal pieces that follow each other, with words to catch between them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "check/message_text.h"

namespace trivet::check {

/// Of "got: {got} expected: {n} * please": the pieces "got: ", " expected: ", "" and "please".
/// `*` stands for at most kLongestGap letters, and blanks beside it say nothing; `{name}` for one
/// to kLongestCapture letters, or, at the end, for one word.
class MessagePattern {
 public:
  static constexpr std::size_t kLongestGap = 400;
  static constexpr std::size_t kLongestCapture = 160;

  struct Capture {
    std::string name;
    std::string text;
  };
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<Capture> captures;
  };

  /// `text` begins with a literal piece of at least kHeadLength letters, in lower case and
  /// normalized.
  explicit MessagePattern(std::string_view text);

  static constexpr std::size_t kHeadLength = 4;
  [[nodiscard]] std::string_view head() const { return pieces_.front().literal; }
  /// The letters of all literal pieces.
  [[nodiscard]] std::size_t specificity() const { return specificity_; }
  /// Whether it occurs at `at`, the beginning of a word. The time is bounded, however long the
  /// message.
  [[nodiscard]] bool match(const MessageText& message, std::size_t at, Match& found) const;

 private:
  enum class Between : unsigned char { kNothing, kGap, kCapture };
  struct Piece {
    std::string literal;                 ///< empty behind a capture that ends the pattern
    Between before = Between::kNothing;  ///< what stands in front of it
    std::string name;                    ///< of the capture
  };

  void add_piece(std::string_view literal, Between before, std::string_view name);

  std::vector<Piece> pieces_;
  std::size_t specificity_ = 0;
};

/// Finds where patterns may begin, in one pass over a message.
class PatternIndex {
 public:
  /// The patterns have to outlive the index.
  explicit PatternIndex(const std::vector<MessagePattern>& patterns);

  /// Calls `visit(index of the pattern, match)` for each occurrence.
  template <class Visit>
  void scan(const MessageText& message, const Visit& visit) const {
    const std::string_view text = message.folded;
    for (std::size_t at = 0; at + MessagePattern::kHeadLength <= text.size(); ++at) {
      const std::vector<std::size_t>& candidates = heads_[slot_of(text.substr(at))];
      if (candidates.empty()) continue;
      if (at > 0 && is_word_letter(text[at]) && is_word_letter(text[at - 1])) continue;
      for (const std::size_t index : candidates) {
        MessagePattern::Match found;
        if (patterns_[index].match(message, at, found)) visit(index, found);
      }
    }
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 14U;
  [[nodiscard]] static std::size_t slot_of(std::string_view head);

  const std::vector<MessagePattern>& patterns_;
  std::vector<std::vector<std::size_t>> heads_;
};

}  // namespace trivet::check

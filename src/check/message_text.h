// A message made comparable: what differs between terminals, shells and platforms is taken out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trivet::check {

/// Longer texts are cut in the middle: a log tells most at its beginning and at its end.
inline constexpr std::size_t kLongestMessage = std::size_t{16} << 20U;

/// ANSI colours, control characters and quotation marks are dropped, a backslash is a slash (an
/// escaped line break is a blank), and each run of white space is one blank. Bytes that are no
/// ASCII stay.
struct MessageText {
  std::string text;
  std::string folded;         ///< `text` in lower case, of the same length
  std::size_t last_line = 0;  ///< where the line begins that says how it ended
};

/// That line is the last one which begins with the name of an error or exception and a colon, or,
/// where none does, the last one that is not blank.
[[nodiscard]] MessageText normalize_message(std::string_view text);

/// Of one line, such as a pattern.
[[nodiscard]] std::string folded_text(std::string_view text);

[[nodiscard]] constexpr char folded_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Letters, digits and the underscore.
[[nodiscard]] constexpr bool is_word_letter(char letter) {
  const char folded = folded_letter(letter);
  return (folded >= 'a' && folded <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
}

}  // namespace trivet::check

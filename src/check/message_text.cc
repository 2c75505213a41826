#include "check/message_text.h"

#include <algorithm>

namespace trivet::check {
namespace {

constexpr char kEscape = '\x1b';

/// Curly quotation marks in UTF-8, which web pages put in place of straight ones: U+2018 to U+201D.
bool is_curly_quote(std::string_view rest) {
  return rest.size() >= 3 && rest[0] == '\xe2' && rest[1] == '\x80' && rest[2] >= '\x98' &&
         rest[2] <= '\x9d';
}

/// How many bytes a colour or cursor sequence takes, of which the first is the escape.
std::size_t escape_length(std::string_view rest) {
  if (rest.size() < 2 || rest[1] != '[') return 1;
  std::size_t length = 2;
  while (length < rest.size() && rest[length] >= '\x20' && rest[length] < '\x40') ++length;
  return std::min(length + 1, rest.size());
}

/// `torch.onnx.errors.UnsupportedOperatorError: …`, `RuntimeError: …`, `error: …`
bool begins_with_error(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && (is_word_letter(line[end]) || line[end] == '.')) ++end;
  if (end == 0 || end >= line.size() || line[end] != ':') return false;
  const std::string name = folded_text(line.substr(0, end));
  return name.find("error") != std::string::npos || name.find("exception") != std::string::npos ||
         name.find("failure") != std::string::npos ||
         name.find("unsupported") != std::string::npos || name.ends_with("fail");
}

class Normalizer {
 public:
  explicit Normalizer(std::size_t size) { message_.text.reserve(size); }

  void add(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) at += add_one(text.substr(at));
  }

  MessageText finish() {
    end_line();
    if (!message_.text.empty() && message_.text.back() == ' ') message_.text.pop_back();
    message_.folded = message_.text;
    std::ranges::transform(message_.folded, message_.folded.begin(), folded_letter);
    message_.last_line = std::min(error_ ? error_line_ : last_line_, message_.text.size());
    return std::move(message_);
  }

 private:
  /// Returns how many bytes of `rest` are done.
  std::size_t add_one(std::string_view rest) {
    const char letter = rest.front();
    if (letter == kEscape) return escape_length(rest);
    if (is_curly_quote(rest)) return 3;
    if (letter == '\\' && rest.size() > 1 && (rest[1] == 'n' || rest[1] == 't') &&
        (rest.size() == 2 || !is_word_letter(rest[2]) || rest[1] == 'n')) {
      add_blank();
      return 2;
    }
    if (letter == '\n' || letter == '\r') end_line();
    if (letter == ' ' || (letter >= '\t' && letter <= '\r')) {
      add_blank();
    } else if (letter != '\'' && letter != '"' && letter != '`' &&
               static_cast<unsigned char>(letter) >= 0x20 && letter != '\x7f') {
      message_.text += letter == '\\' ? '/' : letter;
    }
    return 1;
  }

  void add_blank() {
    if (!message_.text.empty() && message_.text.back() != ' ') message_.text += ' ';
  }

  void end_line() {
    const std::string_view line = std::string_view(message_.text).substr(line_);
    if (!line.empty() && line != " ") {
      last_line_ = line_;
      if (begins_with_error(line.substr(line.front() == ' ' ? 1 : 0))) {
        error_line_ = line_;
        error_ = true;
      }
    }
    line_ = message_.text.size();
  }

  MessageText message_;
  std::size_t line_ = 0;
  std::size_t last_line_ = 0;
  std::size_t error_line_ = 0;
  bool error_ = false;
};

}  // namespace

MessageText normalize_message(std::string_view text) {
  Normalizer normalizer(std::min(text.size(), kLongestMessage));
  if (text.size() <= kLongestMessage) {
    normalizer.add(text);
  } else {
    normalizer.add(text.substr(0, kLongestMessage / 2));
    normalizer.add("\n");
    normalizer.add(text.substr(text.size() - kLongestMessage / 2));
  }
  return normalizer.finish();
}

std::string folded_text(std::string_view text) {
  std::string folded(text);
  std::ranges::transform(folded, folded.begin(), folded_letter);
  return folded;
}

}  // namespace trivet::check

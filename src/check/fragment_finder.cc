#include "check/fragment_finder.h"

#include <algorithm>

namespace trivet::check {
namespace {

bool is_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The bytes of a terminal's escape sequence at `at`: ESC [ parameters letter; 0 where there is
/// none.
std::size_t escape_length(std::string_view text, std::size_t at) {
  if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') return 0;
  std::size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return std::min(end + 1, text.size()) - at;
}

/// The bytes of a quote at `at`: ' " ` and the typographic ones (U+2018 to U+201F); 0: none.
std::size_t quote_length(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\'' || c == '"' || c == '`') return 1;
  if (c != '\xe2' || at + 2 >= text.size() || text[at + 1] != '\x80') return 0;
  const auto last = static_cast<unsigned char>(text[at + 2]);
  return last >= 0x98 && last <= 0x9f ? 3 : 0;
}

}  // namespace

PlainText plain_text(std::string_view text) {
  PlainText plain;
  plain.kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t skipped = escape_length(text, at) + quote_length(text, at)) {
      at += skipped;
      continue;
    }
    const char c = text[at++];
    if (!is_blank(c)) {
      plain.kept += c == '\\' ? '/' : c;
    } else if (!plain.kept.empty() && plain.kept.back() != ' ') {
      plain.kept += ' ';
    }
  }
  if (!plain.kept.empty() && plain.kept.back() == ' ') plain.kept.pop_back();
  plain.folded = plain.kept;
  for (char& c : plain.folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return plain;
}

bool FragmentFinder::starts_word(std::string_view text, std::size_t begin) {
  return begin == 0 || !is_word(text[begin]) || !is_word(text[begin - 1]);
}

std::uint32_t FragmentFinder::add(const std::string& fragment) {
  const auto known = std::ranges::find(fragments_, fragment);
  if (known == fragments_.end()) {
    fragments_.push_back(fragment);
    lengths_.push_back(fragment.size());
    return static_cast<std::uint32_t>(fragments_.size() - 1);
  }
  return static_cast<std::uint32_t>(known - fragments_.begin());
}

std::uint32_t FragmentFinder::new_state() {
  next_.resize(next_.size() + width_, 0);
  ending_.push_back(0);
  return static_cast<std::uint32_t>(ending_.size() - 1);
}

void FragmentFinder::prepare() {
  for (const std::string& fragment : fragments_) {
    for (const char c : fragment) {
      std::uint32_t& symbol = symbol_[static_cast<unsigned char>(c)];
      if (symbol == 0) symbol = width_++;
    }
  }
  new_state();
  for (std::uint32_t i = 0; i < fragments_.size(); ++i) {
    std::uint32_t state = 0;
    for (const char c : fragments_[i]) {
      const std::size_t edge = state * width_ + symbol_[static_cast<unsigned char>(c)];
      if (next_[edge] == 0) {
        const std::uint32_t made = new_state();
        next_[edge] = made;
      }
      state = next_[edge];
    }
    ending_[state] = i + 1;
  }
  link();
}

void FragmentFinder::link() {
  fail_.assign(ending_.size(), 0);
  match_.assign(ending_.size(), 0);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t symbol = 0; symbol < width_; ++symbol) {
    if (next_[symbol] != 0) queue.push_back(next_[symbol]);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t state = queue[i];
    match_[state] = ending_[state] != 0 ? state : match_[fail_[state]];
    for (std::uint32_t symbol = 0; symbol < width_; ++symbol) {
      std::uint32_t& to = next_[state * width_ + symbol];
      const std::uint32_t fallback = next_[fail_[state] * width_ + symbol];
      if (to == 0) {
        to = fallback;
      } else {
        fail_[to] = fallback;
        queue.push_back(to);
      }
    }
  }
}

}  // namespace trivet::check

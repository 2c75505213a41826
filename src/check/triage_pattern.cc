#include "check/triage_pattern.h"

#include <algorithm>
#include <cstdint>

namespace trivet::check {
namespace {

std::string_view without_blanks(std::string_view text, bool front, bool back) {
  while (front && text.starts_with(' ')) text.remove_prefix(1);
  while (back && text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool ends_word(char letter) { return letter == ' ' || letter == ',' || letter == ';'; }

/// The end of the word at `at`, without the punctuation behind it.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  const std::size_t limit = std::min(text.size(), at + MessagePattern::kLongestCapture);
  std::size_t end = at;
  while (end < limit && !ends_word(text[end])) ++end;
  while (end > at + 1 && (text[end - 1] == '.' || text[end - 1] == ')' || text[end - 1] == ':')) {
    --end;
  }
  return end;
}

}  // namespace

MessagePattern::MessagePattern(std::string_view text) {
  Between before = Between::kNothing;
  std::string_view name;
  while (true) {
    const std::size_t stop = std::min(text.find_first_of("*{"), text.size());
    const bool gap = stop < text.size() && text[stop] == '*';
    add_piece(without_blanks(text.substr(0, stop), before == Between::kGap, gap), before, name);
    if (stop == text.size()) break;
    text.remove_prefix(stop);
    const std::size_t length = gap ? 1 : std::min(text.find('}') + 1, text.size());
    before = gap ? Between::kGap : Between::kCapture;
    name = gap ? std::string_view{} : text.substr(1, length - 2);
    text.remove_prefix(length);
  }
}

void MessagePattern::add_piece(std::string_view literal, Between before, std::string_view name) {
  pieces_.push_back({std::string(literal), before, std::string(name)});
  specificity_ += literal.size();
}

bool MessagePattern::match(const MessageText& message, std::size_t at, Match& found) const {
  const std::string_view text = message.folded;
  if (text.compare(at, head().size(), head()) != 0) return false;
  found.begin = at;
  found.end = at + head().size();
  for (std::size_t i = 1; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    const bool capture = piece.before == Between::kCapture;
    const std::size_t from = found.end + (capture ? 1 : 0);
    std::size_t place = from;
    if (piece.literal.empty()) {
      if (capture) place = end_of_word(text, found.end);
      if (capture && place == found.end) return false;
    } else {
      const std::size_t most = capture ? kLongestCapture : kLongestGap;
      const std::string_view window =
          text.substr(std::min(from, text.size()), most + piece.literal.size());
      const std::size_t offset = window.find(piece.literal);
      if (offset == std::string_view::npos) return false;
      place = from + offset;
    }
    if (capture) {
      found.captures.push_back({piece.name, message.text.substr(found.end, place - found.end)});
    }
    found.end = place + piece.literal.size();
  }
  return true;
}

PatternIndex::PatternIndex(const std::vector<MessagePattern>& patterns)
    : patterns_(patterns), heads_(kSlots) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].head().size() < MessagePattern::kHeadLength) continue;
    heads_[slot_of(patterns[i].head())].push_back(i);
  }
}

std::size_t PatternIndex::slot_of(std::string_view head) {
  std::uint32_t hash = 0;
  for (std::size_t i = 0; i < MessagePattern::kHeadLength; ++i) {
    hash = hash * 131U + static_cast<unsigned char>(head[i]);
  }
  return (hash * 2654435761U) >> 18U;
}

}  // namespace trivet::check

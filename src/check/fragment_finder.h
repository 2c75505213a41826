// Finds many fixed texts at once in one pass over a long one (Aho and Corasick), and brings logs
// into the form in which they are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trivet::check {

/// A log without what differs from one terminal to the next: colour codes and quotes are dropped,
/// '\' is '/', and each run of blanks, line ends and control characters is one space. `folded` is
/// `kept` in lower case (ASCII only), so that an offset means the same in both.
struct PlainText {
  std::string kept;
  std::string folded;
};
[[nodiscard]] PlainText plain_text(std::string_view text);

/// A set of fragments. Build once: add() each, then prepare(); then scan() as often as wanted.
class FragmentFinder {
 public:
  /// The number of the fragment, the same one for the same text. Not empty; in the form of
  /// PlainText::folded.
  std::uint32_t add(const std::string& fragment);
  void prepare();

  /// Calls `found(fragment, begin, end)` for each occurrence, in the order of their ends. A
  /// fragment that starts with a letter or digit is found at the start of a word only. Linear in
  /// the text.
  template <class Found>
  void scan(std::string_view text, const Found& found) const {
    std::uint32_t state = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      state = next_[state * width_ + symbol_[static_cast<unsigned char>(text[at])]];
      for (std::uint32_t match = match_[state]; match != 0; match = match_[fail_[match]]) {
        const std::uint32_t fragment = ending_[match] - 1;
        const std::size_t begin = at + 1 - lengths_[fragment];
        if (starts_word(text, begin)) found(fragment, begin, at + 1);
      }
    }
  }

 private:
  [[nodiscard]] static bool starts_word(std::string_view text, std::size_t begin);
  std::uint32_t new_state();
  /// Breadth first: where to go on when a text leaves the tree, and which ends lie on the way.
  void link();

  std::vector<std::string> fragments_;
  std::vector<std::size_t> lengths_;
  std::vector<std::uint32_t> symbol_ = std::vector<std::uint32_t>(256, 0);  ///< 0: in no fragment
  std::uint32_t width_ = 1;                                                 ///< symbols
  std::vector<std::uint32_t> next_;                                         ///< by state and symbol
  std::vector<std::uint32_t> fail_;    ///< the longest proper suffix that is a state
  std::vector<std::uint32_t> ending_;  ///< 1 + the fragment that ends here; 0: none
  std::vector<std::uint32_t> match_;   ///< this state or its nearest suffix where one ends; 0: none
};

}  // namespace trivet::check

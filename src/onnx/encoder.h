// One protobuf message being written, large parts by reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trivet::onnx {

/// Fields are written in the order of the calls. What is borrowed must live until the message has
/// been written out.
class Encoder {
 public:
  void integer(std::uint32_t field, std::int64_t value);
  void float32(std::uint32_t field, float value);
  void bytes(std::uint32_t field, std::string_view value);
  /// Nothing for an empty text.
  void text(std::uint32_t field, std::string_view value);
  /// Weights: kept by reference, unless they are few bytes.
  void borrowed_bytes(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, Encoder inner);

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Calls `write(std::string_view)` for each part in order; stops at the first that is an error.
  template <class Write>
  [[nodiscard]] auto write_to(const Write& write) const -> decltype(write(std::string_view())) {
    for (const Piece& piece : pieces_) {
      if (auto done =
              write(piece.borrowed.empty() ? std::string_view(piece.owned) : piece.borrowed);
          !done) {
        return done;
      }
    }
    return write(tail_);
  }

 private:
  struct Piece {
    std::string owned;
    std::string_view borrowed;
  };

  void header(std::uint32_t field, std::size_t length);
  void flush_tail();
  /// Call after writing to the tail, with its size before.
  void count_from(std::size_t before) { size_ += tail_.size() - before; }

  std::vector<Piece> pieces_;
  std::string tail_;  ///< what follows the pieces
  std::size_t size_ = 0;
};

}  // namespace trivet::onnx

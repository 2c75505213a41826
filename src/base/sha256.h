// SHA-256 (FIPS 180-4), for the hashes of files in a bundle. Not for secrets: it is not
// constant-time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trivet {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// Feed data in pieces with update(); finish() once gives the digest.
class Sha256 {
 public:
  void update(std::span<const std::byte> data);

  /// Ends the message. The object must not be used afterwards.
  [[nodiscard]] Sha256Digest finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> pending_{};  ///< the start of a block that is not full yet
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

/// The digest of `data` as 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> data);

[[nodiscard]] std::string to_hex(const Sha256Digest& digest);

}  // namespace trivet

// Vectors from NIST's example values and CAVP (FIPS 180-4).
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace trivet {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Sha256, NistVectors) {
  EXPECT_EQ(sha256_hex(bytes_of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(bytes_of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(bytes_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(Sha256, OneMillionLetters) {
  EXPECT_EQ(sha256_hex(bytes_of(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameDigestAsTheWhole) {
  // Lengths around the block and the padding boundaries, cut at every place.
  for (const std::size_t length : {1u, 55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u, 200u}) {
    const std::string text(length, 'x');
    const std::string whole = sha256_hex(bytes_of(text));
    for (std::size_t cut = 0; cut <= length; ++cut) {
      Sha256 hash;
      hash.update(bytes_of(text).first(cut));
      hash.update(bytes_of(text).subspan(cut));
      ASSERT_EQ(to_hex(hash.finish()), whole) << "length " << length << ", cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace trivet

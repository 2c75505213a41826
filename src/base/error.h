// Errors are values. Every function that can fail returns a Result, which the compiler makes the
// caller look at.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace trivet {

/// What kind of thing went wrong; decides the exit code of the program and the code of the C ABI.
enum class ErrorCode : std::uint8_t {
  kInvalidModel,     ///< the model file breaks the ONNX specification, or is damaged
  kUnsupported,      ///< valid, but not something this build can run
  kInvalidArgument,  ///< the caller's input (a name, a shape, a type, a flag) does not fit
  kIo,               ///< a file cannot be read or written
  kOutOfMemory,      ///< a size would not fit in memory or in the limit that was set
  kFailed,           ///< a computation or an external engine failed
};

/// One line for a person: what was expected, what was found, where, and the fix where one is known.
struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;

  /// Puts where it happened in front of the message: `node 'conv1' (Conv): kernel_shape has 3 ...`.
  [[nodiscard]] Error at(std::string_view where) && {
    message.insert(0, std::string(where) + ": ");
    return std::move(*this);
  }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

/// A part of a message: a string, a character or a number. Messages are put together out of line,
/// so that the many places that can fail stay small.
class MessagePart {
 public:
  MessagePart(char character) : kind_(Kind::kCharacter), character_(character) {}  // NOLINT
  template <std::signed_integral T>
  MessagePart(T number) : kind_(Kind::kSigned), signed_(number) {}  // NOLINT
  template <std::unsigned_integral T>
  MessagePart(T number) : kind_(Kind::kUnsigned), unsigned_(number) {}  // NOLINT
  template <std::floating_point T>
  MessagePart(T number) : kind_(Kind::kFloat), float_(static_cast<double>(number)) {}  // NOLINT
  template <std::convertible_to<std::string_view> T>
  MessagePart(const T& text) : kind_(Kind::kText), text_(text) {}  // NOLINT

  void append_to(std::string& out) const;

 private:
  enum class Kind : std::uint8_t { kCharacter, kSigned, kUnsigned, kFloat, kText };
  Kind kind_;
  union {
    char character_;
    std::int64_t signed_;
    std::uint64_t unsigned_;
    double float_;
    std::string_view text_;
  };
};

[[nodiscard]] std::string concatenate(std::initializer_list<MessagePart> parts);
[[nodiscard]] tl::unexpected<Error> make_error(ErrorCode code,
                                               std::initializer_list<MessagePart> parts);

/// Concatenates strings, characters and numbers, for messages.
template <class... Parts>
[[nodiscard]] std::string cat(const Parts&... parts) {
  return concatenate({MessagePart(parts)...});
}

/// `return fail(ErrorCode::kIo, "cannot open '", path, "'");` works in a function that returns any
/// Result.
template <class... Parts>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, const Parts&... parts) {
  return make_error(code, {MessagePart(parts)...});
}
template <class... Parts>
[[nodiscard]] tl::unexpected<Error> invalid_model(const Parts&... parts) {
  return fail(ErrorCode::kInvalidModel, parts...);
}
template <class... Parts>
[[nodiscard]] tl::unexpected<Error> unsupported(const Parts&... parts) {
  return fail(ErrorCode::kUnsupported, parts...);
}
template <class... Parts>
[[nodiscard]] tl::unexpected<Error> invalid_argument(const Parts&... parts) {
  return fail(ErrorCode::kInvalidArgument, parts...);
}

}  // namespace trivet

#define TRIVET_CONCAT_INNER(a, b) a##b
#define TRIVET_CONCAT(a, b) TRIVET_CONCAT_INNER(a, b)

/// `TRIVET_ASSIGN(const Tensor weight, load(...));` unwraps the value or returns the error from
/// this function. A macro because only a macro can return from its caller.
#define TRIVET_ASSIGN(declaration, expression)                       \
  auto TRIVET_CONCAT(trivet_result_, __LINE__) = (expression);       \
  if (!TRIVET_CONCAT(trivet_result_, __LINE__))                      \
    return tl::unexpected<::trivet::Error>(                          \
        std::move(TRIVET_CONCAT(trivet_result_, __LINE__)).error()); \
  declaration = std::move(*TRIVET_CONCAT(trivet_result_, __LINE__))

/// `TRIVET_TRY(graph.verify());` returns the error from this function, if there is one.
#define TRIVET_TRY(expression)                                                                    \
  do {                                                                                            \
    auto trivet_result = (expression);                                                            \
    if (!trivet_result) return tl::unexpected<::trivet::Error>(std::move(trivet_result).error()); \
  } while (false)

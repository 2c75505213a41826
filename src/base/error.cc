#include "base/error.h"

namespace trivet {

void MessagePart::append_to(std::string& out) const {
  switch (kind_) {
    case Kind::kCharacter: out += character_; break;
    case Kind::kSigned: out += std::to_string(signed_); break;
    case Kind::kUnsigned: out += std::to_string(unsigned_); break;
    case Kind::kFloat: out += std::to_string(float_); break;
    case Kind::kText: out += text_; break;
  }
}

std::string concatenate(std::initializer_list<MessagePart> parts) {
  std::string out;
  for (const MessagePart& part : parts) part.append_to(out);
  return out;
}

tl::unexpected<Error> make_error(ErrorCode code, std::initializer_list<MessagePart> parts) {
  return tl::unexpected<Error>(Error{code, concatenate(parts)});
}

}  // namespace trivet

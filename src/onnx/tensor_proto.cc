#include "onnx/tensor_proto.h"

#include <new>

#include "onnx/tensor_reader.h"
#include "onnx/text.h"
#include "onnx/wire.h"

namespace trivet {
namespace {

using onnx::Bytes;

/// What a SequenceProto or an OptionalProto has where a TensorProto has something else: messages in
/// field 3, which is `segment` and which nobody writes; and a name in field 1, which holds the
/// dimensions, as single numbers unless a writer packs them.
struct ContainerSigns {
  bool certain = false;
  bool possible = false;
};

ContainerSigns container_signs(std::string_view bytes) {
  ContainerSigns out;
  onnx::Message message(bytes, "TensorProto");
  while (message.next()) {
    if (message.field() == 3) out.certain = true;
    if (message.field() == 1 && message.is_length_delimited()) out.possible = true;
  }
  return out;
}

Result<NamedTensor> read(const Bytes& source, onnx::ExternalFiles external) {
  try {
    const ContainerSigns signs = container_signs(source.view);
    auto record = onnx::read_tensor_proto(source, external);
    if (signs.certain || (signs.possible && !record)) {
      return unsupported("it holds a sequence or an optional, not a tensor; only tensors are read");
    }
    if (!record) return tl::unexpected(onnx::one_line(std::move(record).error()));
    return NamedTensor{std::string(record->name), std::move(record->tensor)};
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kOutOfMemory, "not enough memory to read the tensor");
  }
}

}  // namespace

Result<NamedTensor> parse_tensor(std::span<const std::byte> bytes) {
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return read({view, nullptr, nullptr}, onnx::ExternalFiles(std::nullopt));
}

Result<NamedTensor> read_named_tensor_file(const std::string& path) {
  TRIVET_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto tensor = read(Bytes::of(std::move(file)), onnx::ExternalFiles(std::nullopt));
  if (!tensor) return tl::unexpected(std::move(tensor).error().at(path));
  return tensor;
}

Result<Tensor> read_tensor_file(const std::string& path) {
  TRIVET_ASSIGN(NamedTensor named, read_named_tensor_file(path));
  return std::move(named.tensor);
}

}  // namespace trivet

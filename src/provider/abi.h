// Between the C ABI of providers and the types of this library.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"
#include "trivet/provider.h"

namespace trivet::abi {

/// Fills *out and returns its code.
std::int32_t fail(TrvError* out, const Error& error);
/// The error that a function of the ABI reported with `code`.
[[nodiscard]] Error to_error(std::int32_t code, const TrvError& error);

/// The tensor as the ABI shows it. `strings` keeps what a string tensor needs and must live as
/// long.
[[nodiscard]] TrvTensor to_abi(const Tensor& tensor, std::vector<TrvString>& strings);
/// A view of the bytes, or a copy where they are strings. Refuses a type or shape that is not one.
[[nodiscard]] Result<Tensor> from_abi(const TrvTensor& tensor);
/// As from_abi, for strings.
[[nodiscard]] Result<Tensor> strings_from_abi(std::span<const std::int64_t> dims,
                                              const TrvString* values);

}  // namespace trivet::abi

// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace trivet::cli {

/// "512 B", "13.6 MB": powers of 1000, three digits.
[[nodiscard]] std::string format_bytes(double bytes);
/// "512", "21.7 M", "1.54 G": powers of 1000, three digits.
[[nodiscard]] std::string format_scaled(double value);
/// "56,510,400".
[[nodiscard]] std::string format_count(std::int64_t count);
/// "0.412 ms", "12.3 ms", "4.10 s".
[[nodiscard]] std::string format_ms(double milliseconds);
/// Six significant digits, as short as they allow; "nan", "inf".
[[nodiscard]] std::string format_number(double value);
/// "0.93" as "93.0 %".
[[nodiscard]] std::string format_percent(double fraction);
/// With control characters escaped, and cut to `limit` characters.
[[nodiscard]] std::string format_text(const std::string& text, std::size_t limit = 200);

}  // namespace trivet::cli

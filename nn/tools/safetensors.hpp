// Named tensors in a file, in the safetensors format:
//
//   8 bytes        length n of the header, little-endian
//   n bytes        a JSON object, padded with spaces:
//                    {"__metadata__": {"key": "text"},
//                     "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}}
//   the rest       the numbers; the offsets count from here and fill it without gap or overlap
//
// Reading believes nothing: each length is held against the bytes that are really there before it
// is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/tensor.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// What a file holds. A name stands in one of the two maps only.
struct SafeTensors {
  std::map<std::string, Tensor> tensors;        // F32 and F64, on reading also F16 and BF16
  std::map<std::string, Tokens> integers;       // I64
  std::map<std::string, std::string> metadata;  // texts; an empty map is not written
};

/// The longest header that is read or written, in bytes.
inline constexpr std::size_t longest_safetensors_header = 100'000'000;

/// Reads a whole file. Numbers are rounded to Real, so an F64 too large for float becomes infinity
/// in the float build. Throws FileError when the file cannot be read, breaks the format, or holds
/// another dtype or more than eight axes.
SafeTensors read_safetensors(const std::filesystem::path& path, Where where = Where::current());

/// Writes a file that has either its old content or all of the new one, whatever goes wrong: the
/// bytes go to `path`.tmp first (left over from a kill, it is overwritten), are flushed to the
/// disk, and then take the place of the old file. Of several writers at once the last wins. Throws
/// FileError, and what format_safetensors throws.
void write_safetensors(const std::filesystem::path& path, const SafeTensors& content,
                       Where where = Where::current());

/// The content of a file that is in memory already; errors call it `name`. Throws FileError.
SafeTensors parse_safetensors(std::span<const std::byte> bytes,
                              const std::string& name = "safetensors",
                              Where where = Where::current());

/// The bytes of a file: equal content gives equal bytes. Real is F32 in the float build and F64 in
/// the double build. Throws ValueError for a name in both maps, the name "__metadata__", text that
/// is not UTF-8 and too long a header, and ShapeError for integers that do not fill their shape.
std::vector<std::byte> format_safetensors(const SafeTensors& content,
                                          Where where = Where::current());

/// The float equal to a 16-bit one: half precision (5 exponent bits) or bfloat16 (8 of them).
float half_to_float(std::uint16_t half);
float bfloat16_to_float(std::uint16_t bfloat16);

/// The nearest 16-bit float, the even one of two; too large ones become infinity.
std::uint16_t float_to_half(float value);
std::uint16_t float_to_bfloat16(float value);

}  // namespace segue

#include "nn/tools/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "nn/tools/json.hpp"
#include "nn/tools/replace_file.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they lie in memory");
static_assert(std::numeric_limits<float>::is_iec559,
              "a double too large for float must become infinity");

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view real_dtype = sizeof(Real) == sizeof(float) ? "F32" : "F64";

// ---- reading ----

struct Entry {
  std::string name, dtype;
  Shape shape;
  Index begin = 0, end = 0;
};

std::string to_string(const Entry& e) {
  return fmt::format("tensor {:?}, {:?} {} at {} .. {},", e.name.substr(0, 100),
                     e.dtype.substr(0, 100), e.shape, e.begin, e.end);
}

// {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
Entry read_entry(JsonReader& json, const std::string& name) {
  Entry entry;
  entry.name = name;
  int fields = 0, offsets = 0;
  json.object([&](const std::string& key) {
    ++fields;
    if (key == "dtype") {
      entry.dtype = json.string();
    } else if (key == "shape") {
      json.array([&] {
        if (entry.shape.rank() == Shape::max_rank)
          json.wrong("no more than eight axes of " + to_string(entry));
        entry.shape.push_back(json.integer());
      });
    } else if (key == "data_offsets") {
      json.array([&] {
        if (offsets == 2) json.wrong("no more than two data_offsets");
        (offsets++ == 0 ? entry.begin : entry.end) = json.integer();
      });
    } else {
      json.wrong(fmt::format("dtype, shape or data_offsets, not {:?},", key.substr(0, 100)));
    }
  });
  if (fields != 3 || offsets != 2) json.wrong("a dtype, a shape and two data_offsets before this");
  return entry;
}

// Bytes for each number, 0 for a dtype that is not read.
Index width(std::string_view dtype) {
  return dtype == "F64" || dtype == "I64"    ? 8
         : dtype == "F32"                    ? 4
         : dtype == "F16" || dtype == "BF16" ? 2
                                             : 0;
}

// Sorts the entries as they lie in the file; they must fill its `size` bytes, each as long as its
// shape says.
void check_layout(std::vector<Entry>& entries, Index size, const std::string& file, Where where) {
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  Index filled = 0;
  for (const Entry& e : entries) {
    if (e.begin != filled || e.end < e.begin || e.end > size) {
      fail<FileError>(where, "{}: {} should begin at {} and end before {}", file, to_string(e),
                      filled, size);
    }
    if (width(e.dtype) == 0) {
      fail<FileError>(where, "{}: {} has a dtype other than F64, F32, F16, BF16 and I64", file,
                      to_string(e));
    }
    Index most = std::numeric_limits<Index>::max() /
                 width(e.dtype);  // so that the sizes below can be counted
    for (const Index length : e.shape) most /= std::max<Index>(length, 1);
    if (most == 0 || e.shape.size() * width(e.dtype) != e.end - e.begin) {
      fail<FileError>(where, "{}: {} has another number of bytes than its shape needs", file,
                      to_string(e));
    }
    filled = e.end;
  }
  if (filled != size)
    fail<FileError>(where, "{}: {} bytes too many after the last tensor", file, size - filled);
}

// Converts numbers, which may lie at any address, to the type of `out`.
template <class Stored, class Out, class Convert>
void copy_numbers(const std::byte* bytes, Index n, Out* out, const Convert& convert) {
  for (Index i = 0; i < n; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * static_cast<Index>(sizeof(Stored)), sizeof(Stored));
    out[i] = static_cast<Out>(convert(stored));
  }
}

void read_numbers(SafeTensors& content, const Entry& entry, const std::byte* bytes, Where where) {
  const auto same = [](auto number) { return number; };
  if (entry.dtype == "I64") {
    Tokens& tokens = content.integers[entry.name] = Tokens(entry.shape, where);
    return copy_numbers<Index>(bytes, tokens.size(), tokens.ids.data(), same);
  }
  Tensor& tensor = content.tensors[entry.name] = Tensor::uninitialized(entry.shape, where);
  Real* const out = tensor.data_in_place();
  if (entry.dtype == "F64") copy_numbers<double>(bytes, tensor.size(), out, same);
  if (entry.dtype == "F32") copy_numbers<float>(bytes, tensor.size(), out, same);
  if (entry.dtype == "F16") copy_numbers<std::uint16_t>(bytes, tensor.size(), out, half_to_float);
  if (entry.dtype == "BF16")
    copy_numbers<std::uint16_t>(bytes, tensor.size(), out, bfloat16_to_float);
}

// ---- writing ----

// The header, padded to a multiple of 8, and how many bytes follow it. I64 come first, so that all
// numbers begin at a multiple of their size.
std::pair<std::string, Index> format_header(const SafeTensors& content, Where where) {
  const auto check_length = [where](std::size_t n) {
    if (n <= longest_safetensors_header) return;
    fail<ValueError>(where, "a header of {} bytes; at most {} are written", n,
                     longest_safetensors_header);
  };
  const auto quote = [&](const std::string& text) {
    check_length(text.size());  // before it is copied
    return json_quote(text, where);
  };
  std::vector<std::string> members;
  if (!content.metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, text] : content.metadata)
      texts.push_back(quote(key) + ":" + quote(text));
    members.push_back(fmt::format(R"("{}":{{{}}})", metadata_key, fmt::join(texts, ",")));
  }
  Index end = 0;
  const auto add = [&](const std::string& name, std::string_view dtype, const Shape& shape) {
    if (name == metadata_key)
      fail<ValueError>(where, "{} cannot name a tensor: it stands for the texts", name);
    const Index begin = std::exchange(end, end + shape.size() * width(dtype));
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  quote(name), dtype, fmt::join(shape.begin(), shape.end(), ","),
                                  begin, end));
  };
  for (const auto& [name, tokens] : content.integers) {
    if (content.tensors.contains(name))
      fail<ValueError>(where, "{:?} names both a tensor and integers", name);
    check_shape(tokens.shape, where);
    if (tokens.size() != tokens.shape.size()) {
      fail<ShapeError>(where, "{:?}: {} integers do not fill shape {}", name, tokens.size(),
                       tokens.shape);
    }
    add(name, "I64", tokens.shape);
  }
  for (const auto& [name, tensor] : content.tensors) add(name, real_dtype, tensor.shape());
  std::string header = fmt::format("{{{}}}", fmt::join(members, ","));
  header.resize((header.size() + 7) / 8 * 8, ' ');
  check_length(header.size());
  return {header, end};
}

}  // namespace

SafeTensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name,
                              Where where) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    fail<FileError>(where, "{}: {} bytes, expected 8 for the length of the header", name,
                    bytes.size());
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes = bytes.subspan(sizeof length);
  if (length > longest_safetensors_header) {
    fail<FileError>(where, "{}: a header of {} bytes; at most {} are read", name, length,
                    longest_safetensors_header);
  }
  if (length > bytes.size()) {
    fail<FileError>(where, "{}: a header of {} bytes, but only {} follow", name, length,
                    bytes.size());
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()),
                                static_cast<std::size_t>(length));
  bytes = bytes.subspan(header.size());

  SafeTensors content;
  std::vector<Entry> entries;
  JsonReader json(header, name, where);
  json.object([&](const std::string& key) {
    if (key == metadata_key) {
      json.object([&](const std::string& text) { content.metadata[text] = json.string(); });
    } else {
      entries.push_back(read_entry(json, key));
    }
  });
  json.end();
  check_layout(entries, static_cast<Index>(bytes.size()), name, where);
  for (const Entry& entry : entries)
    read_numbers(content, entry, bytes.data() + entry.begin, where);
  return content;
}

SafeTensors read_safetensors(const std::filesystem::path& path, Where where) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) fail<FileError>(where, "cannot read {}: {}", path.string(), error.message());
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    fail<FileError>(where, "cannot read the {} bytes of {}", size, path.string());
  }
  return parse_safetensors(bytes, path.string(), where);
}

std::vector<std::byte> format_safetensors(const SafeTensors& content, Where where) {
  const auto [header, number_bytes] = format_header(content, where);
  const std::uint64_t length = header.size();
  std::vector<std::byte> bytes(sizeof length + header.size() +
                               static_cast<std::size_t>(number_bytes));
  auto out = bytes.begin();
  const auto append = [&out](const auto* numbers, auto count) {
    out = std::ranges::copy(std::as_bytes(std::span(numbers, static_cast<std::size_t>(count))), out)
              .out;
  };
  append(&length, 1);
  append(header.data(), header.size());
  for (const auto& [name, tokens] : content.integers) append(tokens.ids.data(), tokens.size());
  for (const auto& [name, tensor] : content.tensors)
    append(tensor.contiguous().data(), tensor.size());
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const SafeTensors& content, Where where) {
  replace_file(path, format_safetensors(content, where), where);
}

// ---- 16-bit floats ----

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude < 0x0400)
    return (sign != 0 ? -0x1p-24f : 0x1p-24f) * static_cast<float>(magnitude);  // subnormal
  const std::uint32_t bias =
      magnitude < 0x7c00 ? 127 - 15 : 255 - 31;  // infinity and NaN have the top exponent
  return std::bit_cast<float>(sign | ((magnitude << 13) + (bias << 23)));
}

float bfloat16_to_float(std::uint16_t bfloat16) {
  return std::bit_cast<float>(std::uint32_t{bfloat16} << 16);
}

// Drops the lowest bits: adds just under half of the lowest bit kept, and one more where that bit
// is odd.
static std::uint32_t round_off(std::uint32_t bits, int dropped) {
  return (bits + (1u << (dropped - 1)) - 1 + ((bits >> dropped) & 1)) >> dropped;
}

std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffff;
  std::uint32_t half = 0x7e00;  // NaN
  if (magnitude <
      0x38800000) {  // below 2^-14: the steps are 2^-24, as they are between 0.5 and 1 in float
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else if (magnitude <= 0x7f800000) {  // from 65520 on it is infinity
    half = std::min(round_off(magnitude - ((127u - 15) << 23), 13), 0x7c00u);
  }
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | half);
}

std::uint16_t float_to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (value != value)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // rounding could make it infinity
  return static_cast<std::uint16_t>(round_off(bits, 16));
}

}  // namespace segue

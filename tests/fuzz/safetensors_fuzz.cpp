// Any bytes are either refused with a FileError or read into content that survives being written and read again.
//
// With clang, -fsanitize=fuzzer,address,undefined and -DSEGUE_LIBFUZZER this is a libFuzzer target; without, a program
// that replays the files named by its arguments.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "nn/tools/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  segue::SafeTensors content;
  try {
    content = segue::parse_safetensors(std::as_bytes(std::span(data, size)));
  } catch (const segue::FileError&) {
    return 0;
  }
  const std::vector<std::byte> written = segue::format_safetensors(content);
  if (segue::format_safetensors(segue::parse_safetensors(written)) != written) std::abort();
  return 0;
}

#ifndef SEGUE_LIBFUZZER
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", arguments[i]);
      return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
}
#endif

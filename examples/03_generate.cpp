// Continues a prompt, one byte a step: everything before it is in the memory.
#include <fmt/format.h>

#include <cstdio>

#include "examples/support/bytes.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/training.hpp"
#include "tensor/parallel.hpp"
#include "xl/tools/generation.hpp"

using namespace segue;

namespace {

struct Settings {
  std::string checkpoint = "out/train_text.safetensors", prompt = "The memory ", stop = "";
  Index length = 400, memory_length = -1, top_k = 0, seed = 1, threads = 1;
  double temperature = 0.7, top_p = 1;
};

void tell(const Settings& s) {
  if (s.prompt.empty()) throw ArgumentError("prompt: expected at least one byte, got \"\"");
  set_thread_count(static_cast<int>(s.threads));
  const TransformerXL model = load_byte_model(s.checkpoint);
  const Sampling sampling = {static_cast<Real>(s.temperature), s.top_k, static_cast<Real>(s.top_p)};
  Random random(static_cast<std::uint64_t>(s.seed));

  Generator generator(model, s.memory_length < 0 ? model.config.memory_length : s.memory_length);
  generator.read(to_bytes(s.prompt));
  fmt::print("{}", s.prompt);
  PrintableText text;
  std::string written;
  for (Index i = 0; i < s.length && !interrupted(); ++i) {
    const Index byte = generator.next(sampling, random);
    written += static_cast<char>(byte);
    fmt::print("{}", text.next(byte));
    if (std::fflush(stdout) != 0) throw FileError("cannot write to stdout");
    if (!s.stop.empty() && written.ends_with(s.stop)) break;
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("generate", "Continues a prompt with a model that train_text saved.");
  arguments.add("checkpoint", s.checkpoint, "the model's file");
  arguments.add("prompt", s.prompt, "the text to continue, at least one byte");
  arguments.add("length", s.length, "bytes to write", 0);
  arguments.add("stop", s.stop, "end once this was written, such as stop=.; empty for never");
  arguments.add("memory_length", s.memory_length, "memory M in bytes; -1 is that of the training", -1, 65536);
  arguments.add("temperature", s.temperature, "0 takes the likeliest byte, 1 draws as the model predicts", 0.0, 1e6);
  arguments.add("top_k", s.top_k, "draw from the k likeliest bytes only; 0 is off", 0);
  arguments.add("top_p", s.top_p, "draw from the likeliest bytes with this probability together", 1e-6, 1.0);
  arguments.add("seed", s.seed, "seed of the draws", 0);
  arguments.add("threads", s.threads, "threads", 1, 256);
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}

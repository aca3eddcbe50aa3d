#include "xl/tools/checkpoint.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "nn/tools/safetensors.hpp"
#include "tensor/fail.hpp"
#include "xl/tools/config_metadata.hpp"

namespace segue {
namespace {

const std::string run_prefix =
    "training.";  // names of what belongs to a run and not to the model begin so

// The largest count that is believed: the run's next tokens can still be added to it.
constexpr Index largest_count = Index(1) << 62;
const std::string vocabulary_key = "vocabulary_fingerprint";  // in the metadata

SafeTensors model_content(TransformerXL& model, const Vocabulary* vocabulary) {
  SafeTensors content;
  for (const Parameter& p : parameters(model)) content.tensors[p.name] = p.variable.value();
  content.metadata = to_metadata(model.config);
  if (vocabulary != nullptr) content.metadata[vocabulary_key] = fingerprint(*vocabulary);
  return content;
}

Tensor tensor_of(const SafeTensors& content, const std::string& name, const Shape& shape,
                 Where where) {
  const auto found = content.tensors.find(name);
  if (found == content.tensors.end()) fail<FileError>(where, "the checkpoint has no {}", name);
  if (!(found->second.shape() == shape)) {
    fail<FileError>(where, "the checkpoint has {} in shape {}, expected {}", name,
                    found->second.shape(), shape);
  }
  return found->second.contiguous();
}

const Tokens& integers_of(const SafeTensors& content, const std::string& name, const Shape& shape,
                          Where where) {
  const auto found = content.integers.find(run_prefix + name);
  if (found == content.integers.end() || !(found->second.shape == shape)) {
    fail<FileError>(where,
                    "the checkpoint has no {} of shape {}, so no run can be taken up from it",
                    run_prefix + name, shape);
  }
  return found->second;
}

// What the first version of these files did not hold: then all are 0.
std::vector<Index> later_integers_of(const SafeTensors& content, const std::string& name,
                                     Index size, Index most, Where where) {
  if (!content.integers.contains(run_prefix + name))
    return std::vector<Index>(static_cast<std::size_t>(size), 0);
  const std::vector<Index>& all = integers_of(content, name, {size}, where).ids;
  for (const Index n : all) {
    if (n < 0 || n > most)
      fail<FileError>(where, "the checkpoint's {} is {}, outside 0 .. {}", run_prefix + name, n,
                      most);
  }
  return all;
}

// The values of all parameters, in their order. Whatever the file holds beside them must belong to
// a run.
std::vector<Tensor> model_values(const SafeTensors& content, TransformerXL& model, Where where) {
  std::vector<Tensor> values;
  std::set<std::string> names;
  for (const Parameter& p : parameters(model)) {
    values.push_back(tensor_of(content, p.name, p.variable.shape(), where));
    names.insert(p.name);
  }
  const auto check_name = [&](const std::string& name) {
    if (!names.contains(name) && !name.starts_with(run_prefix))
      fail<FileError>(where, "the model has no parameter {}", name);
  };
  for (const auto& [name, tensor] : content.tensors) check_name(name);
  for (const auto& [name, tokens] : content.integers) check_name(name);
  return values;
}

void set_values(TransformerXL& model, const std::vector<Tensor>& values) {
  std::size_t next = 0;
  for (Parameter& p : parameters(model)) p.variable.set_value(values[next++]);
}

// The config that the file states, once the file is known to hold the parts from which all other
// sizes follow: a small file must not ask for a giant model.
Config config_of(const SafeTensors& content, Where where) {
  const Config c = config_from_metadata(content.metadata, where);
  const std::string last = "layers." + std::to_string(c.layers - 1);
  tensor_of(content, "embedding.table", {c.vocabulary, c.width}, where);
  tensor_of(content, "u", {c.heads, c.head_width}, where);
  tensor_of(content, last + ".attention.w_q", {c.width, c.heads * c.head_width}, where);
  tensor_of(content, last + ".feed_forward.inner.w", {c.width, c.feed_forward_width}, where);
  if (c.layers > static_cast<Index>(content.tensors.size())) {
    fail<FileError>(where, "the checkpoint has {} tensors, too few for {} layers",
                    content.tensors.size(), c.layers);
  }
  return c;
}

Random random_of(const SafeTensors& content, Where where) {
  const auto found = content.metadata.find("random");
  Random random(0);
  try {
    random.restore(found == content.metadata.end() ? "" : found->second, where);
  } catch (const ValueError& error) {
    throw FileError(std::string("the checkpoint's random numbers: ") + error.what());
  }
  return random;
}

std::string layer_name(std::size_t layer) { return run_prefix + "memory." + std::to_string(layer); }

}  // namespace

void save_model(const std::filesystem::path& path, TransformerXL& model,
                const Vocabulary* vocabulary, Where where) {
  write_safetensors(path, model_content(model, vocabulary), where);
}

TransformerXL load_model(const std::filesystem::path& path, Where where) {
  const SafeTensors content = read_safetensors(path, where);
  Random random(0);
  TransformerXL model(config_of(content, where), random, where);
  set_values(model, model_values(content, model, where));
  return model;
}

void save_training(const std::filesystem::path& path, TransformerXL& model, const Adam& optimizer,
                   const TrainingState& state, Index stream_position, const Vocabulary* vocabulary,
                   Where where) {
  SafeTensors content = model_content(model, vocabulary);
  for (std::size_t k = 0; k < optimizer.parameters.size(); ++k) {
    content.tensors[run_prefix + "first_moment." + optimizer.parameters[k].name] =
        optimizer.first_moment[k];
    content.tensors[run_prefix + "second_moment." + optimizer.parameters[k].name] =
        optimizer.second_moment[k];
  }
  for (std::size_t n = 0; n < state.memory.layers.size(); ++n) {
    content.tensors[layer_name(n)] = state.memory.layers[n].value();
  }
  content.integers[run_prefix + "tokens_read"] =
      Tokens({state.memory.batch()}, state.memory.tokens_read);
  content.integers[run_prefix + "counters"] =
      Tokens({6}, {state.step, optimizer.steps, stream_position, state.memory.limit,
                   state.memory.batch(), state.memory.length()});
  content.integers[run_prefix + "without_targets"] = Tokens({1}, {state.without_targets});
  content.integers[run_prefix + "missed"] =
      Tokens({static_cast<Index>(optimizer.missed.size())}, optimizer.missed);
  content.metadata["random"] = state.random.state();
  write_safetensors(path, content, where);
}

Index load_training(const std::filesystem::path& path, TransformerXL& model, Adam& optimizer,
                    TrainingState& state, Where where) {
  const SafeTensors content = read_safetensors(path, where);
  if (!same_but_for_rounding(config_from_metadata(content.metadata, where), model.config)) {
    fail<FileError>(where, "{} holds a model of another config", path.string());
  }
  const std::vector<Tensor> values = model_values(content, model, where);
  std::vector<Tensor> first, second;
  for (const Parameter& p : optimizer.parameters) {
    first.push_back(
        tensor_of(content, run_prefix + "first_moment." + p.name, p.variable.shape(), where));
    second.push_back(
        tensor_of(content, run_prefix + "second_moment." + p.name, p.variable.shape(), where));
  }
  const Tokens& counters = integers_of(content, "counters", {6}, where);
  const Index limit = counters[3], B = counters[4], M = counters[5];
  const Tokens& tokens_read = integers_of(content, "tokens_read", {B}, where);
  const auto countable = [](Index n) { return n >= 0 && n <= largest_count; };
  if (!std::ranges::all_of(counters.ids, countable) || B == 0 || M > limit ||
      !std::ranges::all_of(tokens_read.ids, countable)) {
    fail<FileError>(where,
                    "the numbers in the checkpoint's {0}counters and {0}tokens_read make no sense",
                    run_prefix);
  }
  TrainingState loaded = {counters[0], empty_memory(model.config, B, limit, where),
                          random_of(content, where),
                          later_integers_of(content, "without_targets", 1, counters[0], where)[0]};
  for (std::size_t n = 0; n < loaded.memory.layers.size(); ++n) {
    loaded.memory.layers[n] =
        Variable(tensor_of(content, layer_name(n), {B, M, model.config.width}, where));
  }
  loaded.memory.tokens_read = tokens_read.ids;
  std::vector<Index> missed = later_integers_of(
      content, "missed", static_cast<Index>(optimizer.parameters.size()), counters[1], where);

  set_values(model, values);
  optimizer.first_moment = std::move(first);
  optimizer.second_moment = std::move(second);
  optimizer.steps = counters[1];
  optimizer.missed = std::move(missed);
  state = std::move(loaded);
  return counters[2];
}

std::optional<Vocabulary> load_words(const std::filesystem::path& checkpoint, Where where) {
  const SafeTensors content = read_safetensors(checkpoint, where);
  const auto saved_with = content.metadata.find(vocabulary_key);
  const bool says = saved_with != content.metadata.end();
  const std::filesystem::path file = vocabulary_beside(checkpoint);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    if (!says) return {};
    fail<FileError>(where, "{} holds a model of words, and its vocabulary {} is missing",
                    checkpoint.string(), file.string());
  }
  Vocabulary words = load_vocabulary(file, where);
  if (says && saved_with->second != fingerprint(words)) {
    fail<FileError>(where, "{} is not the vocabulary that {} was saved with: {} and {}",
                    file.string(), checkpoint.string(), fingerprint(words), saved_with->second);
  }
  const Index V = config_from_metadata(content.metadata, where).vocabulary;
  if (words.size() == V) return words;
  fail<FileError>(where, "{} has {} words, but the model in {} knows {} tokens", file.string(),
                  words.size(), checkpoint.string(), V);
}

}  // namespace segue

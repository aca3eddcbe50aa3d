#include "golden.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "autograd/backward.hpp"
#include "nn/loss.hpp"
#include "nn/tools/safetensors.hpp"
#include "tensor/fail.hpp"
#include "tensor/indexing.hpp"
#include "xl/model.hpp"

namespace segue {
namespace {

// One recording with look-ups that say what is missing.
struct Recording {
  explicit Recording(const std::filesystem::path& path) : file(read_safetensors(path)), name(path.string()) {}

  const Tensor& tensor(const std::string& key) const { return find(file.tensors, key); }
  const Tokens& integers(const std::string& key) const { return find(file.integers, key); }
  const std::string& text(const std::string& key) const { return find(file.metadata, key); }
  Index number(const std::string& key) const {
    const std::string& digits = text(key);
    Index value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      fail<FileError>(Where::current(), "{}: {} is no whole number: {}", name, key, digits);
    }
    return value;
  }
  bool flag(const std::string& key) const { return text(key) == "True"; }

  SafeTensors file;
  std::string name;

 private:
  template <class Map>
  const typename Map::mapped_type& find(const Map& map, const std::string& key) const {
    const auto found = map.find(key);
    if (found == map.end()) fail<FileError>(Where::current(), "{}: holds no {}, so it is no recorded run", name, key);
    return found->second;
  }
};

Config config_of(const Recording& recording) {
  Config config;
  config.vocabulary = recording.number("vocab");
  config.layers = recording.number("n_layer");
  config.heads = recording.number("n_head");
  config.head_width = recording.number("d_head");
  config.width = recording.number("d_model");
  config.feed_forward_width = recording.number("d_inner");
  config.memory_length = recording.number("mem_len");
  config.pre_norm = recording.flag("pre_lnorm");
  config.same_length = recording.flag("same_length");
  config.clamp_length = std::max<Index>(recording.number("clamp_len"), 0);
  config.tie_weights = recording.flag("tie_weight");
  // A few digits of metadata must not ask for more memory than the weights in the file take.
  const auto agree = [&](const std::string& key, const Shape& shape) {
    if (recording.tensor("param." + key).shape() == shape) return;
    fail<FileError>(Where::current(), "{}: {} does not have the shape {} of the metadata", recording.name, key, shape);
  };
  agree("word_emb.emb_layers.0.weight", {config.vocabulary, config.width});
  agree("r_w_bias", {config.heads, config.head_width});
  agree(fmt::format("layers.{}.pos_ff.CoreNet.0.weight", config.layers - 1), {config.feed_forward_width, config.width});
  return config;
}

// A recorded weight, or its gradient, under our name and in our layout. `prefix` is "param." or "segment0.grad.".
Tensor recorded(const Recording& recording, const std::string& prefix, const std::string& our_name,
                const Config& config) {
  const auto get = [&](const std::string& key) { return recording.tensor(prefix + key); };
  if (our_name == "embedding.table") return get("word_emb.emb_layers.0.weight");
  if (our_name == "u") return get("r_w_bias");
  if (our_name == "v") return get("r_r_bias");
  if (our_name == "output_weight") return get("crit.out_layers.0.weight");
  if (our_name == "output_bias") return get("crit.out_layers.0.bias");
  const auto dot = our_name.find('.', 7);  // "layers.N.part"
  const std::string layer = our_name.substr(0, dot + 1), part = our_name.substr(dot + 1);
  const Index rows = config.heads * config.head_width;
  const auto qkv = [&](Index which) {
    return get(layer + "dec_attn.qkv_net.weight").narrow(0, which * rows, rows).transpose(0, 1);
  };
  if (part == "attention.w_q") return qkv(0);
  if (part == "attention.w_k_E") return qkv(1);
  if (part == "attention.w_v") return qkv(2);
  if (part == "attention.w_k_R") return get(layer + "dec_attn.r_net.weight").transpose(0, 1);
  if (part == "attention.w_o") return get(layer + "dec_attn.o_net.weight").transpose(0, 1);
  if (part == "attention_norm.gain") return get(layer + "dec_attn.layer_norm.weight");
  if (part == "attention_norm.bias") return get(layer + "dec_attn.layer_norm.bias");
  if (part == "feed_forward.inner.w") return get(layer + "pos_ff.CoreNet.0.weight").transpose(0, 1);
  if (part == "feed_forward.inner.b") return get(layer + "pos_ff.CoreNet.0.bias");
  if (part == "feed_forward.outer.w") return get(layer + "pos_ff.CoreNet.3.weight").transpose(0, 1);
  if (part == "feed_forward.outer.b") return get(layer + "pos_ff.CoreNet.3.bias");
  if (part == "feed_forward_norm.gain") return get(layer + "pos_ff.layer_norm.weight");
  if (part == "feed_forward_norm.bias") return get(layer + "pos_ff.layer_norm.bias");
  fail<FileError>(Where::current(), "{}: no recorded weight for {}", recording.name, our_name);
}

Tokens batch_first(const Tokens& tokens) {
  Tokens turned(Shape{tokens.shape[1], tokens.shape[0]});
  for (Index t = 0; t < tokens.shape[0]; ++t) {
    for (Index b = 0; b < tokens.shape[1]; ++b) turned[b * tokens.shape[0] + t] = tokens[t * tokens.shape[1] + b];
  }
  return turned;
}

double largest_difference(const Tensor& ours, const Tensor& theirs) {
  if (!(ours.shape() == theirs.shape())) {
    fail<ShapeError>(Where::current(), "ours has shape {}, the recorded one {}", ours.shape(), theirs.shape());
  }
  const std::vector<Real> a = ours.to_vector(), b = theirs.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i] - b[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN stays
  }
  return largest;
}

}  // namespace

std::map<std::string, double> replay(const std::filesystem::path& path) {
  const Recording recording(path);
  const Config config = config_of(recording);
  Random random(1);
  TransformerXL model(config, random);
  const std::vector<Parameter> all = parameters(model);
  for (Parameter p : all) p.variable.set_value(recorded(recording, "param.", p.name, config).contiguous());

  std::map<std::string, double> differences = {{"logits", 0}, {"loss", 0}, {"memory", 0}, {"gradient", 0}};
  const auto compare = [&](const std::string& kind, const Tensor& ours, const Tensor& theirs) {
    const double difference = largest_difference(ours, theirs);
    if (!(difference <= differences[kind])) differences[kind] = difference;
  };

  Memory memory = empty_memory(config, recording.number("batch"), config.memory_length);
  const std::string& lengths = recording.text("segment_lengths");
  const auto segments = std::count(lengths.begin(), lengths.end(), ',') + 1;
  for (Index s = 0; s < segments; ++s) {
    const std::string segment = fmt::format("segment{}.", s);
    const Tokens targets = batch_first(recording.integers(segment + "targets"));
    const Output output = model(batch_first(recording.integers(segment + "tokens")), memory, Mode::evaluate());
    compare("logits", output.logits.value(), recording.tensor(segment + "logits").transpose(0, 1));
    compare("loss", cross_entropy(output.logits, targets).value(), recording.tensor(segment + "loss").transpose(0, 1));

    memory = output.memory;
    for (std::size_t n = 0; config.memory_length > 0 && n < memory.layers.size(); ++n) {
      const Tensor& theirs = recording.tensor(fmt::format("{}memory_after.{}", segment, n));
      compare("memory", memory.layers[n].value(), theirs.transpose(0, 1));
    }

    clear_gradients(all);
    backward(mean_cross_entropy(output.logits, targets).loss);
    for (const Parameter& p : all) {
      compare("gradient", p.variable.gradient(), recorded(recording, segment + "grad.", p.name, config));
    }
  }
  return differences;
}

}  // namespace segue

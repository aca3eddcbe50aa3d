#include "nn/tools/safetensors.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "nn/tools/json.hpp"
#include "tests/support/tensors.hpp"

namespace segue::nn_safetensors_test {

namespace {

constexpr bool is_double = sizeof(Real) == sizeof(double);
constexpr Real infinity = std::numeric_limits<Real>::infinity();

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Number>
std::string raw(Number number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

std::string file_of(const std::string& header, const std::string& numbers) {
  return raw(std::uint64_t{header.size()}) + header + numbers;
}
SafeTensors parse(const std::string& file) { return parse_safetensors(bytes_of(file), "file"); }

// The message of the FileError, or what came instead.
std::string error_of(const std::string& file) {
  try {
    parse(file);
    return "no error";
  } catch (const FileError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not a FileError: ") + error.what();
  }
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// One tensor called w over the eight bytes that follow.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}
std::string error_of_entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return error_of(file_of(entry(dtype, shape, offsets), std::string(8, '\1')));
}

SafeTensors sample() {
  SafeTensors content;
  const Tensor matrix({2, 3}, {1, -2, Real(0.1), 4, 5, 6});
  content.tensors["matrix"] = matrix;
  content.tensors["view"] = matrix.transpose(0, 1);
  content.tensors["scalar"] = Tensor::scalar(7);
  content.tensors["one"] = Tensor({1}, {8});
  content.tensors["nothing"] = Tensor({2, 0, 3}, {});
  content.tensors["special"] = Tensor({4}, {-infinity, infinity, std::numeric_limits<Real>::quiet_NaN(), Real(-0.0)});
  content.tensors["eight axes"] = Tensor::full({1, 1, 1, 1, 1, 1, 1, 2}, 3);
  content.integers["ids"] =
      Tokens({2, 2}, {0, -1, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()});
  content.integers["step"] = Tokens(Shape{}, {42});
  content.metadata = {
      {"", ""}, {"quotes \" and \\", "line\nline\ttab \x01\x1f/\x7f"}, {"unicode", "\u00e9\u20ac\U0001F600"}};
  return content;
}

bool equal(const SafeTensors& a, const SafeTensors& b) {
  bool same = a.integers == b.integers && a.metadata == b.metadata && a.tensors.size() == b.tensors.size();
  for (const auto& [name, tensor] : a.tensors) same = same && same_bits(tensor, b.tensors.at(name));
  return same;
}

// A folder of its own that goes away with it.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("segue_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
std::string get(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// ---- the format ----

TEST_CASE("what is written comes back bit for bit, whatever its shape, strides and texts") {
  const SafeTensors content = sample(), back = parse_safetensors(format_safetensors(content));
  CHECK(equal(content, back));
  CHECK(back.tensors.at("scalar").shape() == Shape{});
  CHECK(back.tensors.at("one").shape() == Shape{1});
  CHECK(std::signbit(back.tensors.at("special").at({3})));
}

TEST_CASE("the bytes are those of the format, I64 first, names in order, padded to a multiple of eight") {
  SafeTensors content;
  content.tensors["b"] = Tensor({1, 2}, {1, 2});
  content.tensors["a"] = Tensor::scalar(3);
  content.integers["z"] = Tokens({1}, {-2});
  content.metadata["k"] = "\"v\"\n";
  const std::string file = text_of(format_safetensors(content));
  const std::string header =
      is_double
          ? R"({"__metadata__":{"k":"\"v\"\n"},"z":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
            R"("a":{"dtype":"F64","shape":[],"data_offsets":[8,16]},"b":{"dtype":"F64","shape":[1,2],"data_offsets":[16,32]}})"
          : R"({"__metadata__":{"k":"\"v\"\n"},"z":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
            R"("a":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[12,20]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(file == file_of(header + padding, raw(Index{-2}) + raw(Real(3)) + raw(Real(1)) + raw(Real(2))));
}

TEST_CASE("equal content gives equal bytes, and so does what was read") {
  const auto bytes = format_safetensors(sample());
  CHECK(bytes == format_safetensors(sample()));
  CHECK(bytes == format_safetensors(parse_safetensors(bytes)));
}

TEST_CASE("a file of texts only and an empty one are files like any other") {
  SafeTensors texts;
  texts.metadata["key"] = "value";
  CHECK(equal(texts, parse_safetensors(format_safetensors(texts))));
  CHECK(text_of(format_safetensors({})) == file_of("{}      ", ""));
  CHECK(equal({}, parse(file_of("{}", ""))));
  CHECK(equal({}, parse(file_of(R"({"__metadata__":{}})", ""))));
  CHECK(contains(error_of(file_of(R"({"__metadata__":null})", "")), "expected '{' at byte 16"));
}

TEST_CASE("a file cut at any byte is refused") {
  const std::string file = text_of(format_safetensors(sample()));
  for (std::size_t n = 0; n < file.size(); ++n) {
    const std::string error = error_of(file.substr(0, n));
    REQUIRE_MESSAGE(error.starts_with("file: "), n << " bytes: " << error);
  }
}

TEST_CASE("bytes after the last tensor are refused and counted") {
  CHECK(contains(error_of(text_of(format_safetensors(sample())) + "x"), "1 bytes too many"));
  CHECK(contains(error_of(file_of("{}", "12345")), "5 bytes too many"));
}

TEST_CASE("any byte changed gives other content or a FileError, never another error") {
  const std::string file = text_of(format_safetensors(sample()));
  for (std::size_t n = 0; n < file.size(); ++n) {
    for (const char c : {'\0', '"', '9', '}', '\x80', static_cast<char>(file[n] + 1)}) {
      std::string changed = file;
      changed[n] = c;
      const std::string error = error_of(changed);
      REQUIRE_MESSAGE((error == "no error" || error.starts_with("file: ")), n << ": " << error);
    }
  }
}

TEST_CASE("the length of the header is held against the file and the cap without overflow") {
  CHECK(contains(error_of(""), "0 bytes"));
  CHECK(contains(error_of("abc"), "3 bytes"));
  CHECK(contains(error_of(std::string(8, '\xff') + "{}"), "a header of 18446744073709551615 bytes; at most 100000000"));
  CHECK(contains(error_of(raw(std::uint64_t{132'095'296}) + "{}"), "at most 100000000 are read"));
  CHECK(contains(error_of(raw(std::uint64_t{100'000'000}) + "{}"), "only 2 follow"));
  CHECK(contains(error_of(raw(std::uint64_t{3}) + "{}"), "a header of 3 bytes, but only 2 follow"));
  CHECK(contains(error_of(raw(std::uint64_t{0})), "expected '{' at byte 0 of the JSON text, found the end"));
}

TEST_CASE("a shape must be whole numbers that fit the bytes exactly") {
  CHECK(error_of_entry(R"("F32")", "[2]", "[0,8]") == "no error");
  for (const char* shape :
       {"[1000,1000]", "[1]", "[3]", "[]", "[0]", "[2,0]", "[4611686018427387905,2]",
        "[0,4611686018427387904,4611686018427387904]", "[4611686018427387904,4611686018427387904,0]",
        "[9223372036854775807,9223372036854775807]"}) {
    CHECK_MESSAGE(contains(error_of_entry(R"("F32")", shape, "[0,8]"), "bytes than its shape needs"), shape);
  }
  for (const char* shape : {"[-1,4]",  "[-0]",    "[+2]",  "[02]",  "[.5]", "[9223372036854775808]",
                            "[1e300]", "[1.5]",   "[2.0]", "[2,]",  "[,2]", "[2 2]",
                            "[true]",  "[\"2\"]", "[[2]]", "[0x2]", "2",    "\"2\"",
                            "{}",      "null",    "[2"}) {
    CHECK_MESSAGE(contains(error_of_entry(R"("F32")", shape, "[0,8]"), "expected"), shape);
  }
  CHECK(contains(error_of_entry(R"("F32")", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), "eight axes"));
  CHECK(parse(file_of(entry(R"("F32")", "[]", "[0,4]"), raw(5.0f))).tensors.at("w").item() == 5);
}

TEST_CASE("data_offsets must be two numbers in order and inside the file") {
  for (const char* offsets : {"[0]", "[]", "[0,8,8]", "['0','8']", "[\"0\",\"8\"]", "8", "[0,8.0]", "[-8,0]", "{}"}) {
    CHECK_MESSAGE(contains(error_of_entry(R"("F32")", "[2]", offsets), "expected"), offsets);
  }
  for (const char* offsets :
       {"[8,0]", "[0,9]", "[1,9]", "[8,16]", "[0,9223372036854775807]", "[9223372036854775807,8]"}) {
    CHECK_MESSAGE(contains(error_of_entry(R"("F32")", "[2]", offsets), "should begin at 0 and end before 8"), offsets);
  }
}

TEST_CASE("tensors tile the file without gap or overlap, named in any order") {
  const auto two = [](const std::string& first, const std::string& second) {
    return file_of(R"({"k":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
                       R"(},"v":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}",
                   raw(1.0f) + raw(2.0f));
  };
  CHECK(parse(two("[0,4]", "[4,8]")).tensors.at("k").item() == 1);
  CHECK(parse(two("[4,8]", "[0,4]")).tensors.at("k").item() == 2);
  CHECK(contains(error_of(two("[0,4]", "[0,4]")), "should begin at 4"));               // alias
  CHECK(contains(error_of(two("[0,4]", "[2,6]")), "should begin at 4"));               // overlap
  CHECK(contains(error_of(two("[0,4]", "[4,8]") + raw(3.0f)), "4 bytes too many"));    // tail
  CHECK(contains(error_of(two("[0,4]", "[8,12]") + raw(3.0f)), "should begin at 4"));  // gap
  CHECK(contains(error_of(two("[4,8]", "[8,12]") + raw(3.0f)), "should begin at 0"));  // gap at the start
  const std::string empty_between =
      R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
      R"("c":{"dtype":"I64","shape":[5,0],"data_offsets":[8,8]}})";
  CHECK(parse(file_of(empty_between, raw(1.0f) + raw(2.0f))).integers.at("c").shape == Shape{5, 0});
}

TEST_CASE("an entry has a known dtype and each of the three fields once") {
  CHECK(contains(error_of_entry(R"("Q7")", "[2]", "[0,8]"), "\"Q7\""));
  CHECK(contains(error_of_entry(R"("I32")", "[2]", "[0,8]"), "F64, F32, F16, BF16 and I64"));
  CHECK(contains(error_of_entry("32", "[2]", "[0,8]"), "expected a string"));
  for (
      const char* header :
      {R"({"w":{"dtype":"F32","shape":[2]}})",
       R"({"w":{"dtype":"F32","data_offsets":[0,8]}})",
       R"({"w":{"shape":[2],"data_offsets":[0,8]}})",
       R"({"w":{}})",
       R"({"w":[]})",
       R"({"w":null})",
       R"({"w":"F32"})",
       R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":[1]}})",
       R"({"w":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})",
       R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"\u0077":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}})",
       R"({"__metadata__":{},"__metadata__":{}})",
       R"({"__metadata__":{"a":1}})",
       R"({"__metadata__":{"a":"1","a":"2"}})",
       "[]",
       "",
       "null",
       "3",
       "\"w\"",
       "{",
       "{}{}",
       "{} x",
       "{,}",
       "{\"w\"}",
       "{w:1}",
       "\xef\xbb\xbf{}",
       "{}\0"}) {
    const std::string error = error_of(file_of(header, std::string(8, '\0')));
    const bool typed = contains(error, "expected") || contains(error, "bytes too many");  // the last: {}, then a tail
    CHECK_MESSAGE(typed, header << ": " << error);
  }
  CHECK(contains(error_of(file_of(std::string("{}\0", 3), "")), "nothing more"));
  CHECK(contains(error_of(file_of(std::string(100'000, '[') + std::string(100'000, ']'), "")), "expected '{'"));
  CHECK(contains(error_of(file_of("{\"\xff\":{}}", "")), "not UTF-8"));
}

TEST_CASE("an error names the file, the tensor and the caller's line, and stays one short line") {
  const std::string error = error_of_entry(R"("F32")", "[2,3]", "[0,8]");
  CHECK(contains(error, R"(file: tensor "w", "F32" [2, 3] at 0 .. 8, has)"));
  CHECK(contains(error, "nn/safetensors_test.cpp:"));
  const std::string long_name(100'000, 'n');
  const std::string file = file_of("{\"" + long_name + R"(\n":{"dtype":"\n","shape":[],"data_offsets":[0,0]}})", "");
  CHECK(error_of(file).size() < 400);
  CHECK(!contains(error_of(file), "\n"));
}

TEST_CASE("every dtype is read as its number, wherever it begins") {
  const std::string header =
      R"({"e":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"f":{"dtype":"F32","shape":[1],"data_offsets":[2,6]},)"
      R"("g":{"dtype":"F64","shape":[2],"data_offsets":[6,22]},"h":{"dtype":"I64","shape":[1],"data_offsets":[22,30]},)"
      R"("i":{"dtype":"BF16","shape":[1],"data_offsets":[30,32]}})";
  const std::string numbers =
      raw(std::uint16_t{0x3555}) + raw(0.1f) + raw(0.1) + raw(-1e300) + raw(Index{-5}) + raw(std::uint16_t{0xc049});
  for (const char* padding : {"", " ", "  ", "   "}) {
    const SafeTensors content = parse(file_of(header + padding, numbers));
    CHECK(content.tensors.at("e").item() == Real(0.333251953125));
    CHECK(content.tensors.at("f").item() == Real(0.1f));
    CHECK(content.tensors.at("g").at({0}) == Real(0.1));
    CHECK(content.tensors.at("g").at({1}) == (is_double ? Real(-1e300) : -infinity));
    CHECK(content.integers.at("h")[0] == -5);
    CHECK(content.tensors.at("i").item() == Real(-3.140625));
  }
}

TEST_CASE("what the format cannot hold is refused before anything is written") {
  SafeTensors both = sample(), reserved = sample(), latin1 = sample(), text = sample(), ids = sample(), huge;
  both.integers["matrix"] = Tokens({1});
  CHECK_THROWS_AS(format_safetensors(both), ValueError);
  reserved.tensors["__metadata__"] = Tensor::scalar(1);
  CHECK_THROWS_AS(format_safetensors(reserved), ValueError);
  latin1.tensors["caf\xe9"] = Tensor::scalar(1);
  CHECK_THROWS_AS(format_safetensors(latin1), ValueError);
  text.metadata["k"] = "\xed\xa0\x80";
  CHECK_THROWS_AS(format_safetensors(text), ValueError);
  ids.integers["ids"].ids.pop_back();
  CHECK_THROWS_AS(format_safetensors(ids), ShapeError);
  huge.metadata["k"] = std::string(longest_safetensors_header + 1, 'x');
  CHECK_THROWS_WITH_AS(format_safetensors(huge), doctest::Contains("at most 100000000 are written"), ValueError);
}

// ---- JSON ----

TEST_CASE("JSON strings know all escapes and come back from their quoted form") {
  const auto read = [](const std::string& text) { return JsonReader(text, "text").string(); };
  CHECK(read(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(read(R"("\u0041\u00e9\u20AC\uD83D\ude00")") == "A\u00e9\u20ac\U0001F600");
  CHECK(read(R"("\u0000")") == std::string(1, '\0'));
  CHECK(json_quote("\x01\x1f\b") == R"("\u0001\u001f\b")");
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff";
  CHECK(read(json_quote(all)) == all);
  for (const char* bad :
       {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\u-123")", R"("\u 123")", R"("\ud83d")", R"("\ud83dx")",
        R"("\ud83d\n")", R"("\ud83d\u0041")", R"("\ude00")", "\"\n\"", "\"", "\"\\", "\"\\u", "'a'", "a"}) {
    CHECK_THROWS_AS_MESSAGE(read(bad), FileError, bad);
  }
}

TEST_CASE("text that is not UTF-8 is not JSON") {
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "\xe2\x82", "\xe2(\xa1"}) {
    CHECK_THROWS_AS(JsonReader(bad, "text"), FileError);
    CHECK_THROWS_AS(json_quote(bad), ValueError);
  }
}

TEST_CASE("JSON arrays, numbers and white space are read as JSON says") {
  JsonReader json(" { \"a\" : [ 0 ,\t9223372036854775807 ] ,\r\n \"b\" : [ ] } ", "text");
  std::vector<Index> numbers;
  std::string keys;
  json.object([&](const std::string& key) {
    keys += key;
    json.array([&] { numbers.push_back(json.integer()); });
  });
  json.end();
  CHECK(keys == "ab");
  CHECK(numbers == std::vector<Index>{0, std::numeric_limits<Index>::max()});
}

// ---- files ----

namespace {

const std::string temporary = ".tmp";  // what a file being written ends in

}  // namespace

TEST_CASE("a file takes the place of the old one whole, and only it stays in the folder") {
  const Folder folder;
  const auto path = folder.path / "model.safetensors";
  write_safetensors(path, {});
  write_safetensors(path, sample());
  CHECK(equal(sample(), read_safetensors(path)));
  CHECK(get(path) == text_of(format_safetensors(sample())));
  CHECK(folder.files() == 1);
}

TEST_CASE("a temporary file left by a kill is never read and gives way to the next write") {
  const Folder folder;
  const auto path = folder.path / "model", other = folder.path / "other";
  const std::string part = path.string() + temporary;
  put(part, text_of(format_safetensors(sample())));
  CHECK_THROWS_AS(read_safetensors(path), FileError);
  put(part, std::string(100'000, 'x'));
  write_safetensors(path, sample());
  CHECK(equal(sample(), read_safetensors(path)));
  CHECK(folder.files() == 1);
  put(other, "precious");
  std::filesystem::create_symlink(other, part);  // nor does it lead the write elsewhere
  write_safetensors(path, {});
  CHECK(get(other) == "precious");
  CHECK(equal({}, read_safetensors(path)));
}

TEST_CASE("a failed write is a FileError that leaves the old file and no other") {
  const Folder folder;
  const auto path = folder.path / "model";
  CHECK_THROWS_WITH_AS(write_safetensors(folder.path / "missing" / "model", {}), doctest::Contains("No such file"),
                       FileError);
  CHECK_THROWS_AS(write_safetensors("", {}), FileError);
  CHECK(!std::filesystem::exists(temporary));
  CHECK_THROWS_AS(write_safetensors(folder.path, {}), FileError);  // a folder
  CHECK(!std::filesystem::exists(folder.path.string() + temporary));

  write_safetensors(path, sample());
  const std::string old = get(path);
  SafeTensors large;
  large.tensors["w"] = Tensor::zeros({10'000});
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit small{8'000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);  // a disk that fills up in the middle of the file
  std::string error;
  try {
    write_safetensors(path, large);
  } catch (const FileError& e) {
    error = e.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(error, "File too large"));
  CHECK(get(path) == old);
  CHECK(folder.files() == 1);

  SafeTensors reserved;
  reserved.tensors["__metadata__"] = Tensor::scalar(1);
  CHECK_THROWS_AS(write_safetensors(path, reserved), ValueError);
  CHECK(get(path) == old);
}

TEST_CASE("a file that cannot be read is a FileError that names it") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(read_safetensors(folder.path / "missing"), doctest::Contains("missing: No such file"),
                       FileError);
  CHECK_THROWS_AS(read_safetensors(folder.path), FileError);
  put(folder.path / "empty", "");
  CHECK_THROWS_WITH_AS(read_safetensors(folder.path / "empty"), doctest::Contains("empty: 0 bytes"), FileError);
}

// ---- 16-bit floats ----

namespace {

// Checks the rounding by its definition: of all neighbours a < b, what lies nearer to a becomes a, what lies nearer to
// b becomes b, and the middle becomes the one with the even number.
int wrong_roundings(float (*widen)(std::uint16_t), std::uint16_t (*round)(float), std::uint16_t top, double after_top) {
  int wrong = 0;
  for (std::uint16_t low = 0; low < top; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const float a = widen(low);
    const double b = high == top ? after_top : double{widen(high)};
    const float middle = static_cast<float>((double{a} + b) / 2);
    const float above = std::nextafter(middle, INFINITY), below = std::nextafter(middle, 0.0f);
    for (const int sign : {0, 0x8000}) {
      const float s = sign == 0 ? 1.0f : -1.0f;
      wrong += round(s * a) != (low | sign);
      wrong += round(s * below) != (low | sign);
      wrong += round(s * middle) != ((low % 2 == 0 ? low : high) | sign);
      wrong += round(s * above) != (high | sign);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("half precision rounds to the nearest, ties to even, subnormals and infinity included") {
  CHECK(wrong_roundings(half_to_float, float_to_half, 0x7c00, 0x1p16) == 0);
  const std::pair<float, int> known[] = {{1.0f, 0x3c00},     {-2.0f, 0xc000},   {0x1p-24f, 0x0001}, {0x1p-15f, 0x0200},
                                         {0x1p-25f, 0x0000}, {3 * 0x1p-25f, 2}, {65504.0f, 0x7bff}, {65520.0f, 0x7c00},
                                         {0.1f, 0x2e66},     {2049.0f, 0x6800}, {2051.0f, 0x6802},  {-0.0f, 0x8000},
                                         {1e-8f, 0x0000},    {1e30f, 0x7c00},   {-INFINITY, 0xfc00}};
  for (const auto& [value, half] : known) CHECK(float_to_half(value) == half);
  CHECK(half_to_float(0x3555) == 0.333251953125f);
  CHECK(half_to_float(0x0001) == 0x1p-24f);
  CHECK(half_to_float(0x83ff) == -1023 * 0x1p-24f);
  CHECK(half_to_float(0x7bff) == 65504.0f);
  CHECK(half_to_float(0xfc00) == -INFINITY);
  CHECK(std::signbit(half_to_float(0x8000)));
  CHECK(std::isnan(half_to_float(0x7c01)));
  CHECK(std::isnan(half_to_float(float_to_half(NAN))));
}

TEST_CASE("bfloat16 rounds to the nearest, ties to even, and keeps NaN") {
  CHECK(wrong_roundings(bfloat16_to_float, float_to_bfloat16, 0x7f80, 0x1p128) == 0);
  CHECK(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x3e89ccd5u))) == 0.26953125f);
  CHECK(float_to_bfloat16(std::bit_cast<float>(0x3f808000u)) == 0x3f80);
  CHECK(float_to_bfloat16(std::bit_cast<float>(0x3f818000u)) == 0x3f82);
  CHECK(float_to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(bfloat16_to_float(0xff80) == -INFINITY);
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x7fffffffu)))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0xff800001u)))));
}

}  // namespace segue::nn_safetensors_test

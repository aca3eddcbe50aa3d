#include "examples/support/arguments.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <locale>

#include "examples/support/lesson.hpp"

namespace segue::examples_arguments_test {

namespace {

struct Settings {
  Index steps = 600;
  Index threads = 2;
  double rate = 0.003;
  bool dropout = false;
  std::string out = "out";
  std::vector<Index> lengths = {0, 16, 32};
};

Arguments arguments_of(Settings& settings) {
  Arguments arguments("lesson", "Shows something.");
  arguments.add("steps", settings.steps, "training steps", 1);
  arguments.add("threads", settings.threads, "threads", 1, 256);
  arguments.add("rate", settings.rate, "learning rate", positive);
  arguments.add("dropout", settings.dropout, "whether units are dropped");
  arguments.add("out", settings.out, "folder for files");
  arguments.add("lengths", settings.lengths, "memory lengths", 0);
  return arguments;
}

Settings parsed(const std::vector<std::string>& words) {
  Settings settings;
  arguments_of(settings).parse(words);
  return settings;
}

std::string complaint(const std::string& word) {
  try {
    parsed({word});
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int status_of(std::vector<const char*> words, const std::function<void()>& story) {
  Settings settings;
  words.insert(words.begin(), "program");
  return run_lesson(arguments_of(settings), static_cast<int>(words.size()), words.data(), story);
}

// A locale that writes 1.5 as "1,5" and 1000 as "1.000".
struct CommaNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("every kind of argument takes its value and the others keep their default") {
  const Settings s = parsed({"steps=12", "threads=3", "rate=1e-2", "dropout=true", "out=a=b c", "lengths=5,-0,7"});
  CHECK(s.steps == 12);
  CHECK(s.threads == 3);
  CHECK(s.rate == 0.01);
  CHECK(s.dropout);
  CHECK(s.out == "a=b c");
  CHECK(s.lengths == std::vector<Index>{5, 0, 7});
  const Settings untouched = parsed({"out="});
  CHECK(untouched.out.empty());
  CHECK(untouched.steps == 600);
  CHECK(untouched.rate == 0.003);
  CHECK(untouched.lengths == std::vector<Index>{0, 16, 32});
}

TEST_CASE("numbers are read to the last digit, at the ends of their range too") {
  CHECK(parsed({"steps=9223372036854775807"}).steps == std::numeric_limits<Index>::max());
  CHECK(parsed({"rate=1.7976931348623157e308"}).rate == std::numeric_limits<double>::max());
  CHECK(parsed({"rate=.1"}).rate == 0.1);
  CHECK(parsed({"rate=5."}).rate == 5);
  CHECK(parsed({"rate=3E0"}).rate == 3);
  CHECK(parsed({"rate=0.30000000000000004"}).rate == 0.1 + 0.2);
}

TEST_CASE("a number means the same whatever the locale") {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  const Settings settings = parsed({"rate=1.5", "steps=12345"});
  const std::string wrong = complaint("rate=1,5");
  Settings defaults;
  const std::string help = arguments_of(defaults).help();
  std::locale::global(before);
  CHECK(settings.rate == 1.5);
  CHECK(settings.steps == 12345);
  CHECK(wrong != "");
  CHECK(contains(help, "rate=0.003"));
}

TEST_CASE("a value that is not wholly what is expected is an error that names the argument and what was expected") {
  for (const char* value : {"abc", "", "1e3", "1.0", "12x", " 12", "12 ", "+12", "0x10", "0", "-1",
                            "9223372036854775808", "99999999999999999999999"}) {
    CAPTURE(value);
    const std::string word = std::string("steps=") + value;
    CHECK(complaint(word) == "steps: expected a whole number of at least 1, got \"" + std::string(value) + "\"");
  }
  for (const char* value :
       {"", "abc", "nan", "inf", "-inf", "1e999", "0x1p3", "1.5.2", "1e", "e5", "-", "1 ", "0", "-1", "1,5", "--1"}) {
    CAPTURE(value);
    CHECK(contains(complaint(std::string("rate=") + value), "rate: expected a number above 0, got"));
  }
  for (const char* value : {"", ",", "1,", ",1", "1,,2", "1;2", "1, 2", "-1", "1,x", "3,3", "0,-0"}) {
    CAPTURE(value);
    CHECK(contains(complaint(std::string("lengths=") + value), "lengths: expected whole numbers of at least 0 with"));
  }
  CHECK(contains(complaint("threads=257"), "threads: expected a whole number from 1 to 256, got \"257\""));
  CHECK(contains(complaint("threads=4294967297"), "from 1 to 256"));
  CHECK(contains(complaint("dropout=yes"), "dropout: expected true or false, got \"yes\""));
}

TEST_CASE("a choice that is none is an error that lists those there are") {
  check_choice("unit", "words", {"bytes", "words"});
  try {
    check_choice("unit", "letters", {"bytes", "words"});
    FAIL("no error");
  } catch (const ArgumentError& error) {
    CHECK(std::string(error.what()) == "unit: expected one of bytes, words, got \"letters\"");
  }
}

TEST_CASE("a refused value leaves its setting as it was") {
  Settings settings;
  const Arguments arguments = arguments_of(settings);
  CHECK_THROWS_AS(arguments.parse({"rate=-1"}), ArgumentError);
  CHECK_THROWS_AS(arguments.parse({"lengths=1,x"}), ArgumentError);
  CHECK(settings.rate == 0.003);
  CHECK(settings.lengths.size() == 3);
}

TEST_CASE("an unknown key suggests the nearest one") {
  CHECK(contains(complaint("step=5"), "no argument \"step\", did you mean \"steps\""));
  CHECK(contains(complaint("lenghts=5"), "did you mean \"lengths\""));
  CHECK(contains(complaint("--rate=5"), "did you mean \"rate\""));
  CHECK(contains(complaint("otu=5"), "did you mean \"out\""));
  CHECK(contains(complaint("Dropout=true"), "did you mean \"dropout\""));
  CHECK(contains(complaint("--STEPS=5"), "did you mean \"steps\""));
  for (const char* word : {"foo=1", "h", "--", "-x=1"}) {
    CAPTURE(word);
    CHECK_FALSE(contains(complaint(word), "did you mean"));
    CHECK(contains(complaint(word), "--help lists all"));
  }
  CHECK(complaint("=5") != "");
  CHECK(complaint("") != "");
  CHECK_THROWS_AS(Arguments("none", "").parse({"a=1"}), ArgumentError);
}

TEST_CASE("a key without a value and a key given twice are errors") {
  CHECK(contains(complaint("steps"), "steps: expected steps=600"));
  CHECK_THROWS_AS(parsed({"steps=1", "steps=2"}), ArgumentError);
}

TEST_CASE("help lists every argument with its default, meaning and bounds") {
  Settings settings;
  const std::string help = arguments_of(settings).help();
  for (const char* part : {"Shows something.", "usage: lesson [key=value ...]", "steps=600", "training steps",
                           "a whole number of at least 1", "rate=0.003", "a number above 0", "dropout=false", "out=out",
                           "lengths=0,16,32", "from 1 to 256"}) {
    CAPTURE(part);
    CHECK(contains(help, part));
  }
}

TEST_CASE("a long line of help goes on under its meaning") {
  Index value = 7;
  Arguments arguments("lesson", "");
  std::string meaning = "word";
  for (int k = 0; k < 40; ++k) meaning += " word";
  arguments.add("value", value, meaning);
  const std::string help = arguments.help();
  CHECK(contains(help, "\n  value=7  word"));
  CHECK(contains(help, "\n           word"));
  std::size_t begin = 0;
  for (std::size_t end = help.find('\n'); end != std::string::npos; begin = end + 1, end = help.find('\n', begin))
    CHECK(end - begin <= 100);
}

TEST_CASE("a lesson's exit status is 0 for success, 1 for a failure and 2 for a wrong argument") {
  int runs = 0;
  CHECK(status_of({"steps=3"}, [&] { ++runs; }) == 0);
  CHECK(runs == 1);
  CHECK(status_of({"steps=abc"}, [&] { ++runs; }) == 2);
  for (const char* help : {"--help", "-help", "help", "-h"}) {
    CHECK(status_of({"steps=abc", help}, [&] { ++runs; }) == 0);
  }
  CHECK(runs == 1);
  CHECK(status_of({}, [] { throw std::runtime_error("expected failure"); }) == 1);
  CHECK(status_of({}, [] { throw ArgumentError("expected refusal"); }) == 2);
}

}  // namespace segue::examples_arguments_test

// Configs: the stories of tests/broker/config, and that every config survives being written and read. Commands of the stories:
//   parse [name]      a config in any form, as canonical YAML, or everything that is wrong with it; read as name, or c.txt
//   to FORM           the same, in that form
//   form              whether it is taken for yaml or protobuf
//   check             what configure would say of it: "right", or the reason why not
//   keep              a config that later merges start from
//   merge             a patch; the config kept, merged with it
//   resources         the names of all resources of a config
//   data FILE         a file of tests/broker/data, as YAML, and its check

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "evenkeel/base/file.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/broker/config_file.h"
#include "tests/story/story.h"

namespace evenkeel::broker {
namespace {

constexpr ConfigForm whole_forms[] = {ConfigForm::yaml, ConfigForm::json, ConfigForm::protobuf};

// Every story checks the round trip on the side.
void expect_round_trip(const Config& config) {
  for (const ConfigForm form : whole_forms) {
    const auto text = format_config(config, form);
    ASSERT_TRUE(text.has_value()) << text.error().message;
    const auto again = parse_config(*text, "again");
    ASSERT_TRUE(again.has_value()) << again.error().format() << "\n" << *text;
    EXPECT_EQ(*again, config) << *text;
    EXPECT_EQ(is_protobuf_text(*text), form == ConfigForm::protobuf) << *text;
    // A whole config is also a patch, and on nothing it gives itself, but for names given twice.
    const auto patch = parse_patch(*text, "again");
    ASSERT_TRUE(patch.has_value()) << patch.error().format();
    if (check(config)) {
      EXPECT_EQ(merge({}, *patch), config);
      EXPECT_EQ(merge(config, *patch), config);
    }
  }
}

std::string parse(const std::string& text, const std::string& file, ConfigForm form) {
  const auto config = parse_config(text, file);
  if (!config) return config.error().format();
  expect_round_trip(*config);
  const auto formatted = format_config(*config, form);
  return formatted ? *formatted : formatted.error().message;
}

std::string said_of(const Config& config) {
  const auto right = check(config);
  return right ? "right" : right.error().message;
}

ConfigForm form_of(const std::string& word) {
  if (word == "json") return ConfigForm::json;
  if (word == "protobuf") return ConfigForm::protobuf;
  return word == "compaction" ? ConfigForm::compaction : ConfigForm::yaml;
}

class Desk {
 public:
  std::string handle(const story::Block& block) {
    if (block.command == "parse") return parse(block.input, block.args.empty() ? "c.txt" : block.args[0], ConfigForm::yaml);
    if (block.command == "to") return parse(block.input, "c.txt", form_of(block.args.at(0)));
    if (block.command == "form") return is_protobuf_text(block.input) ? "protobuf" : "yaml";
    if (block.command == "merge") return merge_patch(block.input);
    if (block.command == "data") {
      const auto text = read_file(std::string(EVENKEEL_TESTS_DIR "/broker/data/") + block.args.at(0), Bytes(1 << 20));
      return text ? with(*text, [](const Config& config) { return *format_config(config, ConfigForm::yaml) + said_of(config); })
                  : text.error().message;
    }
    if (block.command == "check") return with(block.input, said_of);
    if (block.command == "resources")
      return with(block.input, [](const Config& config) { return fmt::format("{}", fmt::join(resources_of(config), " ")); });
    if (block.command == "keep") {
      return with(block.input, [this](const Config& config) {
        kept_ = config;
        return std::string("kept");
      });
    }
    return "unknown command " + block.command;
  }

 private:
  static std::string with(const std::string& text, const std::function<std::string(const Config&)>& show) {
    const auto config = parse_config(text, "c.txt");
    if (!config) return config.error().format();
    expect_round_trip(*config);
    return show(*config);
  }
  std::string merge_patch(const std::string& text) {
    const auto patch = parse_patch(text, "patch.txt");
    if (!patch) return patch.error().format();
    return *format_config(merge(kept_, *patch), ConfigForm::yaml);
  }

  Config kept_;
};

TEST(BrokerConfig, Stories) {
  story::run_folder("broker/config", [] {
    auto desk = std::make_shared<Desk>();
    return [desk](const story::Block& block) { return desk->handle(block); };
  });
}

// Configs with everything that a name and a number may be. Built by an Rng, so that rapidcheck's seed replays them.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  Config make() {
    Config config;
    for (auto left = rng_.below(5); left > 0; --left) config.queues.push_back({name(), number(), amounts()});
    for (auto left = rng_.below(5); left > 0; --left) config.types.push_back({name(), name(), Micros(number())});
    config.limit = amounts();
    return config;
  }

 private:
  std::string name() {
    static constexpr std::string_view pieces[] = {"a",
                                                  "queue_default",
                                                  " ",
                                                  "\"",
                                                  "'",
                                                  "\\",
                                                  "\n",
                                                  "\t",
                                                  std::string_view("\0", 1),
                                                  "\x01",
                                                  "\x7f",
                                                  "\r",
                                                  "#",
                                                  ":",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "-",
                                                  "\u00e9",
                                                  "\u2028",
                                                  "\u0085",
                                                  "\ufeff",
                                                  "\U0001f600",
                                                  "null",
                                                  "~",
                                                  "0x1",
                                                  "5",
                                                  "\uffff",
                                                  "%",
                                                  "!",
                                                  "&",
                                                  "*",
                                                  "\\n",
                                                  "007",
                                                  "true",
                                                  ","};
    std::string out;
    for (auto left = rng_.below(6); left > 0; --left) out += pieces[rng_.below(std::size(pieces))];
    return out;
  }
  std::uint64_t number() {
    switch (rng_.below(4)) {
      case 0:
        return unlimited - rng_.below(2);
      case 1:
        return rng_.next();
      default:
        return rng_.below(1000);
    }
  }
  Amounts amounts() {
    Amounts out;
    const auto add = [&](std::string resource) {
      if (!find_amount(out, resource)) out.emplace_back(std::move(resource), number());
    };
    for (auto left = rng_.below(4); left > 0; --left) {
      static constexpr const char* usual[] = {"cpu", "memory", "disk", "Disk_2", "_", "7", "on"};
      add(rng_.chance(1, 4) ? name() : usual[rng_.below(std::size(usual))]);
    }
    return out;
  }

  Rng rng_;
};

TEST(BrokerConfig, EveryConfigSurvivesBeingWrittenAndRead) {
  EXPECT_TRUE(rc::check("parse(format(c)) == c", [](std::uint64_t seed) {
    const Config config = Generator(seed).make();
    for (const ConfigForm form : whole_forms) {
      const auto text = format_config(config, form);
      RC_ASSERT(text.has_value());
      const auto again = parse_config(*text, "again");
      if (!again) RC_FAIL(again.error().format() + "\n" + *text);
      RC_ASSERT(*again == config);
    }
  }));
}

TEST(BrokerConfig, CompactionSurvivesBeingWrittenAndRead) {
  EXPECT_TRUE(rc::check("through the old form", [](std::uint64_t seed) {
    Rng rng(seed);
    std::string text = "CompactionBroker {";
    for (std::uint64_t id = rng.below(3), left = 1 + rng.below(6); left > 0; --left, id += 1 + rng.below(2))
      text += fmt::format("Queue {{ QueueID: {} Quota: {} }}", id, rng.next() / 8);
    const auto config = parse_config(text + "}", "old");
    RC_ASSERT(config.has_value());
    RC_ASSERT(check(*config).has_value());
    const auto formatted = format_config(*config, ConfigForm::compaction);
    RC_ASSERT(formatted.has_value());
    const auto again = parse_config(*formatted, "again");
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *config);
    // One change of anything, and the old form cannot say it.
    Config other = *config;
    switch (rng.below(5)) {
      case 0:
        ++other.queues[rng.below(other.queues.size())].weight;
        break;
      case 1:
        other.types[rng.below(other.types.size())].default_duration += Micros(1);
        break;
      case 2:
        other.limit.emplace_back("memory", 1);
        break;
      case 3:
        other.queues.pop_back();
        break;
      default:
        other.types.push_back({"more", "queue_default"});
    }
    const auto refused = format_config(other, ConfigForm::compaction);
    RC_ASSERT(!refused.has_value());
    RC_ASSERT(refused.error().code == Code::refused);
  }));
}

TEST(BrokerConfig, TheDefaultIsRightAndInYdbsUnits) {
  const Config config = default_config();
  EXPECT_TRUE(check(config).has_value());
  EXPECT_EQ(config.queues.size(), 7);
  EXPECT_EQ(config.types.size(), 11);
  EXPECT_EQ(find_amount(config.limit, "memory"), 17179869184);
  EXPECT_EQ(find_amount(config.queues[0].limit, "memory"), std::nullopt);
  EXPECT_EQ(config.types[10].default_duration, Micros(300'000'000));
  expect_round_trip(config);
}

// What text cannot bring, but code can.
TEST(BrokerConfig, NamesThatNoFormHolds) {
  const auto message_of = [](const Config& config) {
    const auto text = format_config(config, ConfigForm::protobuf);
    return text ? *text : text.error().message;
  };
  EXPECT_EQ(message_of({.queues = {{"a\xff"}}}), "the name \"a\\xff\" is not valid UTF-8");
  EXPECT_EQ(message_of({.types = {{"t", std::string(70'000, 'q')}}}),
            fmt::format("the name \"{}\"… has more than 65536 bytes", std::string(80, 'q')));
  EXPECT_EQ(message_of({.limit = {{"CPU", 1}}}), "a resource may not be named \"CPU\"");
  EXPECT_EQ(message_of({.limit = {{"a", 1}, {"a", 2}}}), "resource \"a\" is given twice in one limit");
  Config config = default_config();
  config.limit = {{"Memory", 1}};
  EXPECT_EQ(said_of(config), "a resource may not be named 'Memory'; write 'cpu' or 'memory' in small letters, or rename it");
  config.limit = {{"disk", 1}, {"disk", 1}};
  EXPECT_EQ(said_of(config), "resource 'disk' is given twice in one limit; keep one");
  config.limit.clear();
  for (int i = 0; i < 62; ++i) config.queues[0].limit.emplace_back(fmt::format("r{}", i), 1);
  EXPECT_EQ(said_of(config), "right");
  config.limit.emplace_back("one_more", 1);
  EXPECT_EQ(said_of(config), "the limits name 65 resources, with cpu and memory; at most 64");
}

TEST(BrokerConfig, TextIsBounded) {
  const auto message_of = [](const std::string& text) {
    const auto config = parse_config(text, "c.txt");
    return config ? "right" : config.error().format();
  };
  EXPECT_EQ(message_of(std::string((16 << 20) + 1, ' ')),
            "c.txt: error: 16777217 bytes are too many\n  a config has at most 16777216 bytes");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "A{";
  EXPECT_EQ(message_of(deep), "c.txt:1:66: error: nested deeper than 32 levels\n  check the brackets");
  deep = "A:";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_EQ(message_of("B{" + deep), "c.txt:1:36: error: nested deeper than 32 levels\n  check the brackets");
  std::string many = "Queues {";
  for (int i = 0; i < 300'000; ++i) many += "a:1 ";
  EXPECT_EQ(message_of(many), "c.txt:1:1048583: error: more than 262144 values in one config\n  cut it down");
  std::string list = "queues: [";
  for (int i = 0; i < 300'000; ++i) list += "1,";
  EXPECT_EQ(message_of(list + "]"), "c.txt: error: more than 262144 values in one config\n  cut it down");
  EXPECT_EQ(message_of("Queues { Name: \"" + std::string(70'000, 'n') + "\" }"),
            "c.txt:1:16: error: a text of 70000 bytes, which starts with \"nnnnnnnnnnnnnnnnnnnn\"…\n  a single text has at most "
            "65536 bytes");
  EXPECT_EQ(message_of("Queues {\n\x01}"),
            "c.txt:2:1: error: control characters are not allowed\n  remove it, or write it as an escape in quotes");
  EXPECT_EQ(message_of("Queues {\n \xff}"), "c.txt:2:2: error: byte 0xff is not valid UTF-8\n  save the file as UTF-8");
  EXPECT_EQ(message_of("\xEF\xBB\xBFResourceLimit {}"), "right");
}

}  // namespace
}  // namespace evenkeel::broker

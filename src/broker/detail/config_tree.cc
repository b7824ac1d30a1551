#include "evenkeel/broker/detail/config_tree.h"

#include "evenkeel/base/document.h"
#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/protobuf_text.h"

namespace evenkeel::broker {
namespace {

// A byte order mark says nothing in UTF-8.
void remove_mark(std::string_view& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
}

enum class Guess : std::uint8_t { yaml, protobuf, either };

void skip_blanks_and_comments(std::string_view& text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with('#')) return;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

// Protobuf text starts with a name and a bracket: `Queues {`. With a colon between, `Queues: {` and `Queues: [` may be either; but
// YDB's names start with a capital, so `queues: [` and `resource_limit: {` are YAML.
Guess guess(std::string_view text) {
  remove_mark(text);
  skip_blanks_and_comments(text);
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const auto name = text.substr(0, text.find_first_not_of(letters));
  if (name.empty()) return Guess::yaml;
  text.remove_prefix(name.size());
  skip_blanks_and_comments(text);
  if (text.starts_with('{') || text.starts_with('<') || text.starts_with('[')) return Guess::protobuf;
  if (!text.starts_with(':')) return Guess::yaml;
  text.remove_prefix(1);
  skip_blanks_and_comments(text);
  if (text.starts_with('<')) return Guess::protobuf;
  const bool bracket = text.starts_with('{') || text.starts_with('[');
  return bracket && name[0] >= 'A' && name[0] <= 'Z' ? Guess::either : Guess::yaml;
}

ConfigNode to_node(Value value) {
  ConfigNode node;
  node.place = value.place();
  switch (value.kind()) {
    case Value::Kind::null:
      break;
    case Value::Kind::plain:
    case Value::Kind::text:
      node.kind = value.kind() == Value::Kind::plain ? ConfigNode::Kind::plain : ConfigNode::Kind::text;
      node.text = value.text();
      break;
    case Value::Kind::list:
      node.kind = ConfigNode::Kind::list;
      node.items.reserve(value.size());
      for (const Value item : value.items()) node.items.push_back(to_node(item));
      break;
    case Value::Kind::map:
      node.kind = ConfigNode::Kind::message;
      node.fields.reserve(value.size());
      for (const auto [key, item] : value.pairs()) node.fields.push_back({std::string(key.text()), key.place(), to_node(item)});
      break;
  }
  return node;
}

// Items of a list, and pairs of a map, below and including a value.
std::size_t count_values(Value value) {
  std::size_t count = 1;
  for (const Value item : value.items()) count += count_values(item);
  for (const auto [key, item] : value.pairs()) count += count_values(item);
  return count;
}

Parsed<ConfigTree> read_yaml(std::string_view text, std::string file) {
  auto document = Document::parse(text, std::move(file));
  if (!document) return unexpected(document.error());
  Diagnostics problems = document->problems();
  if (count_values(document->root()) > config_values_max) {
    problems.add({}, fmt::format("more than {} values in one config", config_values_max), "cut it down");
    return unexpected(std::move(problems));
  }
  return ConfigTree{.root = to_node(document->root()), .protobuf = false, .problems = std::move(problems)};
}

Parsed<ConfigTree> read_protobuf(std::string_view text, std::string file) {
  auto root = read_protobuf_text(text, file);
  if (!root) return unexpected(root.error());
  return ConfigTree{.root = *std::move(root), .protobuf = true, .problems = Diagnostics(std::move(file))};
}

}  // namespace

std::string ConfigNode::describe() const {
  switch (kind) {
    case Kind::nothing:
      return "nothing";
    case Kind::text:
      return fmt::format("the text {}", quote(text));
    case Kind::list:
      return "a list";
    case Kind::message:
      return "fields in braces";
    case Kind::plain:
      break;
  }
  return quote(text);
}

Parsed<ConfigTree> read_config_tree(std::string_view text, std::string file) {
  if (text.size() > config_bytes_max) {
    Diagnostics problems(std::move(file));
    problems.add({}, fmt::format("{} bytes are too many", text.size()),
                 fmt::format("a config has at most {} bytes", config_bytes_max));
    return unexpected(std::move(problems));
  }
  remove_mark(text);
  const Guess form = guess(text);
  if (form == Guess::yaml) return read_yaml(text, std::move(file));
  auto tree = read_protobuf(text, file);
  if (tree || form == Guess::protobuf) return tree;
  // A flow of YAML with YDB's names. Wrong in both ways, YDB's form is the likelier one.
  auto yaml = read_yaml(text, std::move(file));
  return yaml ? yaml : tree;
}

bool is_protobuf_config(std::string_view text) {
  const Guess form = guess(text);
  if (form != Guess::either) return form == Guess::protobuf;
  const auto tree = read_config_tree(text, "");
  return !tree || tree->protobuf;
}

}  // namespace evenkeel::broker

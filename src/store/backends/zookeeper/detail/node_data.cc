#include "evenkeel/store/backends/zookeeper/detail/node_data.h"

#include <optional>

#include "evenkeel/base/text.h"

namespace evenkeel::store::zookeeper {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view mark = "\0evenkeel"sv;

std::string marked(std::string_view what) { return fmt::format("{} {}", mark, what); }
std::string marked(std::string_view what, std::string_view value) { return fmt::format("{} {}\n{}", mark, what, value); }

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

std::optional<Revision> take_revision(std::string_view& text) {
  const auto number = parse_integer(take_digits(text));
  if (!number) return std::nullopt;
  return Revision(*number);
}

// The header's line after the mark; `content` has the node's own revisions, which it may correct. False: unknown.
bool parse_value_line(std::string_view line, NodeContent& content) {
  if (line == " value") return true;
  if (line == " born") {
    content.created = content.modified;
    return true;
  }
  if (!take(line, " since ")) return false;
  const auto created = take_revision(line);
  if (!created) return false;
  content.created = *created;
  if (line.empty()) return true;
  if (!take(line, " modified ")) return false;
  const auto modified = take_revision(line);
  if (!modified || !line.empty()) return false;
  content.modified = *modified;
  return true;
}

}  // namespace

Result<NodeContent> parse_node(std::string_view data, const NodeStat& stat) {
  NodeContent content{NodeKind::value, {}, Revision(stat.created), Revision(stat.modified)};
  if (!data.starts_with(mark)) {
    content.value = std::string(data);
    return content;
  }
  const std::string_view rest = data.substr(mark.size());
  if (rest == " folder" || rest == " tombstone") {
    content.kind = rest == " folder" ? NodeKind::folder : NodeKind::tombstone;
    content.created = {};
    return content;
  }
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || !parse_value_line(rest.substr(0, end), content))
    return fail(Code::invalid, "a node's data is marked as Evenkeel's and is of a kind this version does not know: {}",
                quote(rest.substr(0, end), 40));
  content.value = std::string(rest.substr(end + 1));
  return content;
}

std::string folder_data() { return marked("folder"); }
std::string tombstone_data() { return marked("tombstone"); }
std::string plain_data(std::string_view value) { return value.starts_with(mark) ? marked("value", value) : std::string(value); }
std::string born_data(std::string_view value) { return marked("born", value); }
std::string since_data(std::string_view value, Revision created) { return marked(fmt::format("since {}", created), value); }
std::string moved_data(std::string_view value, Revision created, Revision modified) {
  return marked(fmt::format("since {} modified {}", created, modified), value);
}

}  // namespace evenkeel::store::zookeeper

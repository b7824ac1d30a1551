// The stories of route. Each file has one table, empty at first. Commands:
//   table                 changes it, one a line:
//                           node NAME ADDRESS [ZONE]      it is live
//                           gone NAME                     it is not live any more
//                           workload NAME SHARDS [range] [idle=STATE]
//                           shard ID EPOCH.CHANGE [leader=NODE] [next=NODE] [NODE=STATE]…
//                         and shows what changed
//   pick ID ROLE [ZONE]   all who serve it in that role, best first
//   map FORMAT            the table as a file
//   left_out FORMAT       who is not in it
//   parse                 a file as JSON, shown as it would be written

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>

#include "evenkeel/route/route.h"
#include "tests/story/story.h"

namespace evenkeel::route {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> found;
  for (std::string word; in >> word;) found.push_back(word);
  return found;
}

ShardView view_of(const std::vector<std::string>& line) {
  ShardView view{.shard = parse_shard_id(line.at(1))->shard};
  const std::string& version = line.at(2);
  const std::size_t dot = version.find('.');
  view.version = {Epoch(std::stoull(version.substr(0, dot))), Change(std::stoull(version.substr(dot + 1)))};
  for (std::size_t i = 3; i < line.size(); ++i) {
    const std::string key = line[i].substr(0, line[i].find('='));
    const std::string value = line[i].substr(key.size() + 1);
    if (key == "leader") {
      view.leader = NodeId(value);
    } else if (key == "next") {
      view.next = NodeId(value);
    } else {
      view.others.push_back({NodeId(key), StateId(value)});
    }
  }
  return view;
}

class Teller {
 public:
  std::string operator()(const story::Block& block) {
    if (block.command == "table") return change(block.input);
    if (block.command == "pick") return pick(block.args);
    if (block.command == "map") return map(format_named(block.args.at(0)));
    if (block.command == "left_out") return left_out_of(format_named(block.args.at(0)));
    if (block.command == "parse") return parse(block.input);
    return "unknown command";
  }

 private:
  static MapFormat format_named(const std::string& name) { return name == "json" ? MapFormat::json : MapFormat::rocksplicator; }

  std::string change(const std::string& input) {
    const Table was = table_;
    std::istringstream in(input);
    for (std::string line; std::getline(in, line);) take(words(line));
    std::string out;
    for (const ShardId& id : table_.changed_since(was)) out += format(id) + " changed\n";
    return out.empty() ? "no shard changed" : out;
  }

  void take(const std::vector<std::string>& line) {
    if (line.at(0) == "node") {
      table_ =
          table_.with(LiveDocument{.node = NodeId(line.at(1)), .address = line.at(2), .zone = line.size() > 3 ? line[3] : ""});
    } else if (line[0] == "gone") {
      table_ = table_.without_live(NodeId(line.at(1)));
    } else if (line[0] == "workload") {
      Sharding& sharding = shardings_[line.at(1)];
      sharding = {.shards = static_cast<std::uint32_t>(std::stoul(line.at(2)))};
      for (std::size_t i = 3; i < line.size(); ++i) {
        if (line[i] == "range") sharding.key_map = KeyMap::range;
        if (line[i].starts_with("split_from=")) sharding.split_from = static_cast<std::uint32_t>(std::stoul(line[i].substr(11)));
        if (line[i].starts_with("idle=")) sharding.idle.emplace_back(line[i].substr(5));
      }
      table_ = table_.with(bucket(line[1], Bucket(0)));
    } else {
      const ShardId id = *parse_shard_id(line.at(1));
      // A bucket of each shard's own, behind the empty one of its workload.
      ViewBucket with = bucket(id.workload.str(), Bucket(id.shard.value() + 1));
      with.shards.push_back(view_of(line));
      table_ = table_.with(with);
    }
  }

  ViewBucket bucket(const std::string& workload, Bucket number) {
    const Sharding& sharding = shardings_.at(workload);
    return {.workload = WorkloadId(workload),
            .bucket = number,
            .shards_in_all = sharding.shards,
            .key_map = sharding.key_map,
            .split_from = sharding.split_from,
            .idle = sharding.idle};
  }

  std::string pick(const std::vector<std::string>& args) const {
    const Role role = args.at(1) == "leader" ? Role::leader : args[1] == "follower" ? Role::follower : Role::any;
    const std::string near = args.size() > 2 ? args[2] : "";
    std::string out;
    for (const Picked& to : table_.picks(*parse_shard_id(args[0]), role, near)) {
      out += fmt::format("{} {} at {}, epoch {}\n", to.node, to.state, to.address, to.version.epoch);
    }
    return out.empty() ? "nobody" : out;
  }

  std::string map(MapFormat format) const {
    std::string text = format_map(table_, format);
    if (format == MapFormat::json) {
      const auto again = parse_map(text, "map.json");
      if (!again) return again.error().message;
      EXPECT_EQ(*again, table_) << text;
      EXPECT_EQ(format_map(*again, format), text);
    }
    return text;
  }

  std::string left_out_of(MapFormat format) const {
    std::string out;
    for (const NodeId& node : left_out(table_, format)) out += node.str() + "\n";
    return out.empty() ? "nobody" : out;
  }

  static std::string parse(const std::string& input) {
    const auto table = parse_map(input, "map.json");
    if (!table) return fmt::format("{}\n{}", name(table.error().code), table.error().message);
    return format_map(*table, MapFormat::json);
  }

  Table table_;
  std::map<std::string, Sharding> shardings_;
};

TEST(Route, Stories) {
  story::run_folder("route/stories", [] { return story::Handler(Teller()); });
}

}  // namespace
}  // namespace evenkeel::route

// The stories of model. Commands:
//   parse [name]     a cluster file, shown in its canonical YAML, or everything that is wrong with it; read as name, or c.yaml
//   json             the same, shown as JSON
//   expand           the nodes of a file, one a line: name and zone
//   state_models     what a file's own models answer: for each pair of states the next step; for 3 replicas of 5 nodes the states
//   built_in NAME    the same for a built-in model, by its own name or Helix's
//   shard            one id a line
//   document KIND    a document of the store, shown in its one form, or what is wrong with it; KINDs are in document_kinds.h

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "evenkeel/model/model.h"
#include "tests/model/document_kinds.h"
#include "tests/story/story.h"

namespace evenkeel {
namespace {

std::string file_name(const story::Block& block) { return block.args.empty() ? "c.yaml" : block.args[0]; }

// What was read must be read back from what is written, in both syntaxes: every story checks the round trip on the side.
void expect_round_trip(const Cluster& cluster) {
  for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
    const auto text = format_cluster(cluster, syntax);
    const auto again = parse_cluster(text, "again", syntax);
    ASSERT_TRUE(again.has_value()) << again.error().format() << "\n" << text;
    EXPECT_EQ(*again, cluster) << text;
    EXPECT_EQ(format_cluster(*again, syntax), text);
  }
}

std::string parse(const story::Block& block, const std::function<std::string(const Cluster&)>& show) {
  const auto cluster = parse_cluster(block.input, file_name(block));
  if (!cluster) return cluster.error().format();
  expect_round_trip(*cluster);
  return show(*cluster);
}

std::string nodes_of(const Cluster& cluster) {
  std::string out;
  for (const Node& node : cluster.nodes) out += fmt::format("{} {}\n", node.name, node.zone.empty() ? "-" : node.zone);
  return out;
}

std::string describe(const StateModel& model) {
  std::string out =
      fmt::format("{}: initial {}, bounded {}\n", model.name(), model.initial(), model.bounded().value_or(StateId("none")));
  for (const State& state : model.states()) {
    out += fmt::format("  {} count {}{}{}\n", state.name, format(state.count), state.data ? "" : ", no data",
                       model.serves(state.name) ? ", serves" : "");
  }
  for (const StateId& state : model.idle()) out += fmt::format("  {} is not asked\n", state);
  std::vector<StateId> all;
  for (const State& state : model.states()) all.push_back(state.name);
  all.emplace_back("error");
  all.emplace_back("dropped");
  for (const StateId& from : all) {
    for (const StateId& to : all) {
      if (const auto next = model.next(from, to); next && *next != to)
        out += fmt::format("  {} to {} goes by {}\n", from, to, *next);
      if (!model.next(from, to) && from != to && to.str() != "error") out += fmt::format("  {} to {}: no way\n", from, to);
    }
  }
  return out + fmt::format("  3 replicas on 5 nodes: {}\n", fmt::join(model.states_for(3, 5), " "));
}

std::string state_models(const Cluster& cluster) {
  std::string out;
  for (const StateModel& model : cluster.state_models) out += describe(model);
  return out;
}

std::string shards(const std::string& input) {
  std::string out;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) {
    const auto id = parse_shard_id(line);
    out += id ? fmt::format("{} shard {}\n", id->workload, id->shard) : fmt::format("{}\n", id.error());
    if (id) {
      EXPECT_EQ(format(*id), line);
    }
  }
  return out;
}

std::string document(const story::Block& block) {
  const auto kind = std::ranges::find(document_kinds, block.args.at(0), &DocumentKind::name);
  if (kind == std::end(document_kinds)) return "unknown kind " + block.args[0];
  const auto text = kind->rewrite(block.input);
  if (text) return *text;
  return text.error().code == Code::refused ? fmt::format("{}", text.error()) : text.error().message;
}

std::string handle(const story::Block& block) {
  if (block.command == "parse") return parse(block, [](const Cluster& c) { return format_cluster(c, Syntax::yaml); });
  if (block.command == "json") return parse(block, [](const Cluster& c) { return format_cluster(c, Syntax::json); });
  if (block.command == "expand") return parse(block, nodes_of);
  if (block.command == "state_models") return parse(block, state_models);
  if (block.command == "document") return document(block);
  if (block.command == "shard") return shards(block.input);
  if (block.command == "built_in") {
    const StateModel* model = find_built_in(block.args.at(0));
    return model != nullptr ? describe(*model) : "no such model";
  }
  return "unknown command " + block.command;
}

TEST(Model, Stories) {
  story::run_folder("model/stories", [] { return handle; });
}

}  // namespace
}  // namespace evenkeel

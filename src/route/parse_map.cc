#include <array>
#include <limits>

#include "evenkeel/base/read.h"
#include "evenkeel/route/shard_map.h"

namespace evenkeel::route {

namespace {

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

template <class Id>
std::optional<Id> read_name(Value value, Diagnostics& problems) {
  auto text = read_text(value, problems);
  if (!text) return std::nullopt;
  if (const auto why = why_not_a_name(*text)) {
    problems.add(value.place(), *why);
    return std::nullopt;
  }
  return Id(*std::move(text));
}

std::vector<Peer> read_peers(Value value, Diagnostics& problems) {
  std::vector<Peer> peers;
  if (!expect_map(value, problems, "the others that serve a shard")) return peers;
  for (const auto [key, state] : value.pairs()) {
    auto node = read_name<NodeId>(key, problems);
    auto name = read_name<StateId>(state, problems);
    if (node && name) peers.push_back({*std::move(node), *std::move(name)});
  }
  return peers;
}

std::optional<ShardView> read_shard(Value value, std::uint32_t shards, Diagnostics& problems) {
  FieldReader fields(value, problems, "a shard");
  if (!fields.is_map()) return std::nullopt;
  ShardView view;
  std::uint32_t shard = 0;
  std::uint64_t epoch = 0;
  std::uint64_t change = 0;
  const auto count = [&](std::uint64_t most) {
    return [&problems, most](Value v) { return read_count(v, problems, {.most = most}); };
  };
  if (!fields.required("shard", shard, count(shards - 1))) return std::nullopt;
  fields.required("epoch", epoch, count(any_number));
  fields.required("change", change, count(any_number));
  fields.read("leader", view.leader, [&](Value v) { return read_name<NodeId>(v, problems); });
  fields.read("next", view.next, [&](Value v) { return read_name<NodeId>(v, problems); });
  fields.read("others", view.others, [&](Value v) { return std::optional(read_peers(v, problems)); });
  view.shard = ShardIndex(shard);
  view.version = {Epoch(epoch), Change(change)};
  return view;
}

std::vector<StateId> read_states(Value value, Diagnostics& problems) {
  std::vector<StateId> states;
  if (!expect_list(value, problems, "the states that do not serve")) return states;
  for (const Value state : value.items()) {
    if (auto name = read_name<StateId>(state, problems)) states.push_back(*std::move(name));
  }
  return states;
}

std::optional<KeyMap> read_key_map(Value value, Diagnostics& problems) {
  constexpr std::array<std::string_view, 2> words = {"hash", "range"};
  const auto word = read_word(value, problems, "a key map", words);
  if (!word) return std::nullopt;
  return *word == 0 ? KeyMap::hash : KeyMap::range;
}

ViewBucket read_workload(WorkloadId workload, Value value, Diagnostics& problems) {
  ViewBucket bucket{.workload = std::move(workload)};
  FieldReader fields(value, problems, "a workload");
  if (!fields.is_map()) return bucket;
  fields.required("shards", bucket.shards_in_all, [&](Value v) { return read_count(v, problems, {.most = shards_max}); });
  fields.read("key_map", bucket.key_map, [&](Value v) { return read_key_map(v, problems); });
  fields.count("hash_version", bucket.hash_version);
  fields.count("split_from", bucket.split_from);
  fields.read("idle", bucket.idle, [&](Value v) { return std::optional(read_states(v, problems)); });
  const auto replicas = fields.take_required("replicas");
  if (!replicas || !expect_list(*replicas, problems, "the shards of a workload")) return bucket;
  if (bucket.shards_in_all == 0 && replicas->size() > 0)
    problems.add(replicas->place(), "a workload without shards has none here");
  for (const Value shard : replicas->items()) {
    auto view = bucket.shards_in_all == 0 ? std::nullopt : read_shard(shard, bucket.shards_in_all, problems);
    if (!view) continue;
    if (!bucket.shards.empty() && bucket.shards.back().shard >= view->shard) {
      problems.add(shard.place(), "shards stand in order of their numbers, each once");
    }
    bucket.shards.push_back(*std::move(view));
  }
  return bucket;
}

void read_node(NodeId node, Value value, Diagnostics& problems, TableUpdate& update) {
  LiveDocument live{.node = std::move(node)};
  bool is_live = true;
  FieldReader fields(value, problems, "a node");
  if (!fields.is_map()) return;
  fields.required("address", live.address, [&](Value v) { return read_text(v, problems); });
  fields.text("zone", live.zone);
  fields.flag("live", is_live);
  if (!is_live) update.not_live.push_back(live.node);
  update.live.push_back(std::move(live));
}

template <class Id, class Read>
void read_named(FieldReader& fields, std::string_view field, std::string_view what, Diagnostics& problems, const Read& read) {
  const auto all = fields.take_required(field);
  if (!all || !expect_map(*all, problems, what)) return;
  for (const auto [key, value] : all->pairs()) {
    if (auto name = read_name<Id>(key, problems)) read(*std::move(name), value);
  }
}

}  // namespace

Result<Table> parse_map(std::string_view text, std::string_view where) {
  const auto document = Document::parse(text, std::string(where), Syntax::json);
  if (!document) return fail(document.error().to_error());
  Diagnostics problems = document->problems();
  FieldReader fields(document->root(), problems, "a shard map");
  std::uint32_t format = 0;
  fields.required("format", format, [&](Value v) { return read_count(v, problems, {.least = 1}); });
  if (format > format_written) {
    return fail(Code::refused, "{}: format {} was written by a newer program; this one reads up to {}", where, format,
                format_written);
  }
  TableUpdate update;
  read_named<WorkloadId>(fields, "workloads", "the workloads", problems, [&](WorkloadId name, Value value) {
    update.buckets.push_back(read_workload(std::move(name), value, problems));
  });
  read_named<NodeId>(fields, "nodes", "the nodes", problems,
                     [&](NodeId name, Value value) { read_node(std::move(name), value, problems, update); });
  if (!problems.empty()) return fail(problems.to_error());
  // A node that is not live is one that was.
  Table table = Table().with(TableUpdate{.buckets = std::move(update.buckets), .live = std::move(update.live)});
  return table.with(TableUpdate{.not_live = std::move(update.not_live)});
}

}  // namespace evenkeel::route

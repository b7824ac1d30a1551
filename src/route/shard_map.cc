#include "evenkeel/route/shard_map.h"

#include <algorithm>
#include <map>
#include <set>

#include "evenkeel/base/address.h"
#include "evenkeel/base/text.h"
#include "evenkeel/base/write.h"

namespace evenkeel::route {

namespace {

// 1. JSON, and YAML.

void write_shard(Writer& out, const ShardView& view) {
  out.begin_map(Writer::Flow::line).key("shard").number(view.shard.value());
  out.key("epoch").number(view.version.epoch.value()).key("change").number(view.version.change.value());
  if (view.leader) out.key("leader").text(view.leader->str());
  if (view.next) out.key("next").text(view.next->str());
  if (!view.others.empty()) {
    out.key("others").begin_map(Writer::Flow::line);
    for (const Peer& peer : view.others) out.key(peer.node.str()).text(peer.state.str());
    out.end_map();
  }
  out.end_map();
}

std::string format_whole(const Table& table, Syntax syntax) {
  Writer out(syntax);
  out.begin_map().key("format").number(format_written);
  out.key("workloads").begin_map();
  for (const WorkloadId& workload : table.workloads()) {
    const Sharding sharding = *table.sharding(workload);
    out.key(workload.str()).begin_map().key("shards").number(sharding.shards);
    out.key("key_map").text(sharding.key_map == KeyMap::hash ? "hash" : "range");
    out.key("hash_version").number(sharding.hash_version);
    if (sharding.split_from > 0) out.key("split_from").number(sharding.split_from);
    if (!sharding.idle.empty()) {
      out.key("idle").begin_list(Writer::Flow::line);
      for (const StateId& state : sharding.idle) out.text(state.str());
      out.end_list();
    }
    out.key("replicas").begin_list();
    for (const ShardView* view : table.views(workload)) write_shard(out, *view);
    out.end_list().end_map();
  }
  out.end_map().key("nodes").begin_map();
  for (const NodeId& node : table.nodes()) {
    const Endpoint& endpoint = *table.endpoint(node);
    out.key(node.str()).begin_map(Writer::Flow::line).key("address").text(endpoint.address).key("zone").text(endpoint.zone);
    if (!table.live(node)) out.key("live").flag(false);
    out.end_map();
  }
  out.end_map().end_map();
  return std::move(out).take();
}

// 2. Rocksplicator's form.

bool is_ipv4(std::string_view host) {
  int numbers = 0;
  while (true) {
    const std::string_view digits = take_digits(host);
    if (digits.empty() || digits.size() > 3 || parse_unsigned(digits).value_or(256) > 255) return false;
    ++numbers;
    if (host.empty()) return numbers == 4;
    if (host.front() != '.') return false;
    host.remove_prefix(1);
  }
}

// A host as its clients read it, or nothing if they could not.
std::optional<std::string> host_of(const Endpoint* endpoint) {
  if (endpoint == nullptr) return std::nullopt;
  const auto address = parse_address(endpoint->address);
  if (!address || !is_ipv4(address->host)) return std::nullopt;
  const std::string& zone = endpoint->zone;
  std::string group = zone.substr(0, zone.find('/')) + "_" + (zone.contains('/') ? zone.substr(zone.rfind('/') + 1) : "0");
  std::ranges::replace(group, ':', '-');  // it is what they split hosts by
  return fmt::format("{}:{}:{}", address->host, address->port, group);
}

// Those who ask it would get no answer.
bool is_idle(const Sharding& sharding, const Peer& peer) {
  return std::ranges::find(sharding.idle, peer.state) != sharding.idle.end();
}

// Whether some shard has, or is to have, a leader.
bool is_led(const std::vector<const ShardView*>& views) {
  return std::ranges::any_of(views, [](const ShardView* view) { return view->leader || view->next; });
}

// Clients take a replica without a letter for one that may be written to. So between two leaders, when the view names none, a follower still
// is one: by the name of its state, or, in a model with names of its own, because the shard was led before.
std::string_view letter(const ShardView& view, const Peer& peer, bool led) {
  constexpr std::string_view followers[] = {"follower", "standby", "slave"};
  if (led) return ":S";
  if (same_in_any_case(peer.state.str(), "online")) return "";
  const bool follows =
      std::ranges::any_of(followers, [&](std::string_view name) { return same_in_any_case(peer.state.str(), name); });
  return follows || view.version.epoch > Epoch(0) ? ":S" : "";
}

using Hosts = std::map<NodeId, std::optional<std::string>>;

// host -> shard -> letter: two nodes may have said one address, and then the leader counts.
using ByHost = std::map<std::string, std::map<ShardIndex, std::string_view>>;

class HostReader {
 public:
  explicit HostReader(const Table& table) : table_(table) {}
  const std::optional<std::string>& host(const NodeId& node) {
    const auto [at, is_new] = hosts_.try_emplace(node);
    if (is_new) at->second = host_of(table_.endpoint(node));
    return at->second;
  }

  ByHost read(const WorkloadId& workload) {
    ByHost by_host;
    const std::vector<const ShardView*> views = table_.views(workload);
    const bool led = is_led(views);
    const Sharding sharding = *table_.sharding(workload);
    for (const ShardView* view : views) {
      if (view->leader && host(*view->leader)) by_host[*host(*view->leader)][view->shard] = ":M";
      for (const Peer& peer : view->others) {
        if (!is_idle(sharding, peer) && host(peer.node))
          by_host[*host(peer.node)].try_emplace(view->shard, letter(*view, peer, led));
      }
    }
    return by_host;
  }

 private:
  const Table& table_;
  Hosts hosts_;
};

std::string format_rocksplicator(const Table& table) {
  HostReader reader(table);
  Writer out(Syntax::json);
  out.begin_map();
  for (const WorkloadId& workload : table.workloads()) {
    out.key(workload.str()).begin_map().key("num_shards").number(table.shards(workload));
    for (const auto& [host, shards] : reader.read(workload)) {
      out.key(host).begin_list(Writer::Flow::line);
      for (const auto& [shard, role] : shards) out.text(fmt::format("{:05}{}", shard.value(), role));
      out.end_list();
    }
    out.end_map();
  }
  out.end_map();
  return std::move(out).take();
}

}  // namespace

std::string format_map(const Table& table, MapFormat format) {
  if (format == MapFormat::rocksplicator) return format_rocksplicator(table);
  return format_whole(table, format == MapFormat::json ? Syntax::json : Syntax::yaml);
}

std::vector<NodeId> left_out(const Table& table, MapFormat format) {
  std::set<NodeId> out;
  HostReader reader(table);
  const auto look = [&](const NodeId& node) {
    const bool in = format == MapFormat::rocksplicator ? reader.host(node).has_value() : table.endpoint(node) != nullptr;
    if (!in) out.insert(node);
  };
  for (const WorkloadId& workload : table.workloads()) {
    const Sharding sharding = *table.sharding(workload);
    for (const ShardView* view : table.views(workload)) {
      if (view->leader) look(*view->leader);
      for (const Peer& peer : view->others) {
        if (!is_idle(sharding, peer)) look(peer.node);
      }
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace evenkeel::route

#include "evenkeel/serve/api.h"

#include "evenkeel/base/version.h"
#include "evenkeel/base/write.h"
#include "evenkeel/serve/metrics.h"

namespace evenkeel::serve {
namespace {

constexpr auto line = Writer::Flow::line;

void put_text(Writer& out, std::string_view key, const std::string& text) {
  out.key(key);
  text.empty() ? out.null() : out.text(text);
}
template <class T>
void put_number(Writer& out, std::string_view key, T number) {
  out.key(key).number(std::uint64_t{number});
}

void put_address(Writer& out, std::string_view key, const ControllerAddress& address, const std::string& version = {}) {
  out.key(key);
  if (address.name.empty()) {
    out.null();
    return;
  }
  out.begin_map(line);
  out.key("name").text(address.name);
  put_text(out, "http", address.http.empty() ? "" : "http://" + address.http);
  put_text(out, "pulse", address.pulse);
  if (!version.empty()) out.key("version").text(version);
  out.end_map();
}

Writer begin(const Answerer& who) {
  Writer out(Syntax::json);
  out.begin_map();
  out.key("cluster").text(who.cluster.str());
  out.key("active").flag(who.active);
  out.key("in_touch").flag(who.in_touch);
  put_address(out, "controller", who.controller);
  return out;
}
std::string finish(Writer& out) {
  out.end_map();
  return std::move(out).take();
}

void put_peers(Writer& out, const std::vector<Peer>& peers) {
  out.begin_list(line);
  for (const Peer& peer : peers)
    out.begin_map(line).key("node").text(peer.node.str()).key("state").text(peer.state.str()).end_map();
  out.end_list();
}

void put_view(Writer& out, const ShardView& view) {
  put_number(out, "shard", view.shard.value());
  put_number(out, "epoch", view.version.epoch.value());
  put_number(out, "change", view.version.change.value());
  put_text(out, "leader", view.leader ? view.leader->str() : "");
  put_text(out, "next", view.next ? view.next->str() : "");
  out.key("others");
  put_peers(out, view.others);
}

void put_placement(Writer& out, const control::ShardState& shard) {
  out.key("placement").begin_list(line);
  for (const NodeId& node : shard.record.placement) out.text(node.str());
  out.end_list();
}

void put_why(Writer& out, const std::vector<std::string>& why) {
  out.key("why").begin_list(line);
  for (const std::string& each : why) out.text(each);
  out.end_list();
}

void put_holder(Writer& out, const Holder& holder) {
  out.begin_map(line);
  out.key("node").text(holder.node.str());
  out.key("told").text(holder.told.str());
  put_text(out, "may_be", holder.may_be.str());
  put_number(out, "epoch", holder.version.epoch.value());
  put_number(out, "change", holder.version.change.value());
  out.key("reason").text(name(holder.reason));
  put_text(out, "copy_from", holder.copy_from ? holder.copy_from->str() : "");
  out.key("arrived").flag(holder.arrived);
  out.key("leaving").flag(holder.leaving);
  out.end_map();
}

void put_page(Writer& out, const Page& page) {
  out.key("workload").text(page.workload.str());
  out.key("next");
  page.next ? out.number(*page.next) : out.null();
}

}  // namespace

std::string format_cluster(const Answerer& who, const control::Overview& overview) {
  Writer out = begin(who);
  put_address(out, "self", who.self, product_version());
  put_number(out, "epoch", overview.epoch.value());
  out.key("maintenance");
  if (overview.maintenance) {
    out.begin_map(line).key("reason").text(*overview.maintenance);
    put_text(out, "for", overview.maintenance_for ? format(*overview.maintenance_for) : "");
    out.end_map();
  } else {
    out.null();
  }
  out.key("freeze");
  overview.freeze ? out.begin_map(line).key("reason").text(*overview.freeze).end_map() : out.null();
  // What keeps still because of these.
  out.key("held_back");
  if (overview.held_back) {
    out.begin_map(line);
    put_number(out, "placed", overview.held_back->placed);
    put_number(out, "moved", overview.held_back->moved);
    put_number(out, "dropped", overview.held_back->dropped);
    out.end_map();
  } else {
    out.null();
  }
  put_number(out, "offline", overview.offline);
  put_number(out, "copies", overview.copies);
  put_number(out, "openings", overview.openings);
  put_number(out, "leaderless", overview.leaderless);
  put_number(out, "below_min_active", overview.below_min_active);
  put_number(out, "errors", overview.errors);
  out.key("orphans").begin_list();
  for (const control::OrphanState& orphan : overview.orphans) {
    out.begin_map(line).key("shard").text(format(orphan.shard)).key("node").text(orphan.node.str());
    put_number(out, "epoch", orphan.epoch.value());
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

std::string format_nodes(const Answerer& who, const std::vector<control::NodeState>& nodes) {
  Writer out = begin(who);
  out.key("nodes").begin_list();
  for (const control::NodeState& node : nodes) {
    out.begin_map(line).key("node").text(node.node.str());
    out.key("joined").flag(node.joined).key("suspect").flag(node.suspect);
    put_text(out, "gone", node.gone ? format(*node.gone) : "");
    out.key("operation").text(name(node.operation));
    put_text(out, "trouble", node.trouble);
    put_number(out, "replicas", node.replicas);
    put_number(out, "leaders", node.leaders);
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

std::string format_workloads(const Answerer& who, const std::vector<control::WorkloadState>& workloads) {
  Writer out = begin(who);
  out.key("workloads").begin_list();
  for (const control::WorkloadState& workload : workloads) {
    out.begin_map(line).key("workload").text(workload.workload.str()).key("state_model").text(workload.state_model);
    put_number(out, "shards", workload.shards);
    put_number(out, "replicas", workload.replicas);
    out.key("deleted").flag(workload.deleted);
    put_text(out, "trouble", workload.trouble);
    put_number(out, "leaderless", workload.leaderless);
    put_number(out, "below_min_active", workload.below_min_active);
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

std::string format_shards(const Answerer& who, const Page& page, const std::vector<control::ShardState>& shards) {
  Writer out = begin(who);
  put_page(out, page);
  out.key("shards").begin_list();
  for (const control::ShardState& shard : shards) {
    out.begin_map(line);
    put_view(out, shard.view);
    put_placement(out, shard);
    put_why(out, shard.why);
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

std::string format_shard(const Answerer& who, const WorkloadId& workload, const control::ShardState& shard) {
  Writer out = begin(who);
  out.key("workload").text(workload.str());
  put_view(out, shard.view);
  const ShardRecord& record = shard.record;
  out.key("has_data").flag(record.has_data).key("rebuilt").flag(record.rebuilt);
  out.key("seal");
  record.seal ? out.number(record.seal->value()) : out.null();
  out.key("hand_over");
  if (record.hand_over) {
    out.begin_map(line).key("from").text(record.hand_over->from.str()).key("to").text(record.hand_over->to.str()).end_map();
  } else {
    out.null();
  }
  put_placement(out, shard);
  out.key("holders").begin_list();
  for (const Holder& holder : record.holders) put_holder(out, holder);
  out.end_list();
  put_why(out, shard.why);
  return finish(out);
}

std::string format_view(const Answerer& who, const Page& page, const std::vector<ShardView>& shards) {
  Writer out = begin(who);
  put_page(out, page);
  out.key("shards").begin_list();
  for (const ShardView& shard : shards) {
    out.begin_map(line);
    put_view(out, shard);
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

std::string format_events(const Answerer& who, std::uint64_t last, const std::vector<NumberedEvent>& events) {
  Writer out = begin(who);
  put_number(out, "last", last);
  out.key("events").begin_list();
  for (const auto& [number, time, event] : events) {
    out.begin_map(line);
    put_number(out, "number", number);
    out.key("time").text(format(time)).key("kind").text(name(event.kind));
    put_text(out, "shard", event.shard ? format(*event.shard) : "");
    put_text(out, "node", event.node ? event.node->str() : "");
    out.key("text").text(event.text);
    out.end_map();
  }
  out.end_list();
  return finish(out);
}

}  // namespace evenkeel::serve

// evenkeel shard list, show: shards as the record, the view and the nodes' reports have them, side by side.

#include "evenkeel/cli/shard_view.h"

#include <algorithm>

#include "evenkeel/base/write.h"
#include "evenkeel/cli/cluster_access.h"
#include "evenkeel/control/survey.h"

namespace evenkeel::cli {
namespace {

struct ShardViewOptions {
  ClusterReach reach;
  Output output = Output::table;
  bool watch = false;
  std::string workload;
  std::string shard;
};

std::string text_of(const std::optional<NodeId>& node) { return node ? node->str() : ""; }
std::string text_of(const Version& version) { return fmt::format("{}.{}", version.epoch, version.change); }

struct Row {
  ShardId shard;
  const ShardRecord* record = nullptr;
  const ShardView* view = nullptr;
  std::uint32_t errors = 0;
};

std::vector<Row> rows_of(const control::Snapshot& seen, const WorkloadId& workload) {
  std::vector<Row> rows;
  std::map<ShardIndex, std::uint32_t> errors;
  for (const Report& report : seen.reports) {
    if (report.workload != workload) continue;
    for (const ReplicaReport& replica : report.replicas) errors[replica.shard] += replica.error.empty() ? 0 : 1;
  }
  for (std::uint32_t s = 0; s < seen.workloads.at(workload).spec.shards; ++s) {
    const ShardId shard{workload, ShardIndex(s)};
    rows.push_back({shard, seen.record(shard), seen.view(shard), errors[shard.shard]});
  }
  return rows;
}

std::string others_of(const ShardView& view) {
  std::string out;
  for (const Peer& peer : view.others) out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", peer.node, peer.state);
  return out;
}

// What goes on with it, in a word or two.
std::string going_on(const Row& row) {
  if (row.record == nullptr) return "not placed";
  if (row.record->seal) return fmt::format("sealing for epoch {}", *row.record->seal);
  if (row.record->split) return "being split";
  if (row.record->hand_over) return fmt::format("handing over to {}", row.record->hand_over->to);
  const auto& holders = row.record->holders;
  if (std::ranges::any_of(holders, [](const Holder& holder) { return !holder.arrived && holder.told.str() != state_dropped; }))
    return "copying";
  if (std::ranges::any_of(holders, &Holder::leaving)) return "leaving";
  return "";
}

std::string table_of(const std::vector<Row>& rows, bool wide) {
  std::vector<std::string> header{"SHARD", "LEADER", "OTHERS", "EPOCH", "ERRORS", "GOING ON"};
  if (wide) header.push_back("PLACEMENT");
  Table table(std::move(header));
  for (const Row& row : rows) {
    std::vector<std::string> cells{format(row.shard),
                                   row.view ? text_of(row.view->leader) : "",
                                   row.view ? others_of(*row.view) : "",
                                   row.record ? fmt::format("{}", row.record->version.epoch) : "",
                                   fmt::format("{}", row.errors),
                                   going_on(row)};
    if (wide) cells.push_back(row.record ? fmt::format("{}", fmt::join(row.record->placement, " ")) : "");
    table.add(std::move(cells));
  }
  return table.format();
}

void write_names(Writer& out, std::string_view key, const std::vector<NodeId>& nodes) {
  out.key(key).begin_list(Writer::Flow::line);
  for (const NodeId& node : nodes) out.text(node.str());
  out.end_list();
}

void write_row(Writer& out, const Row& row) {
  out.begin_map(Writer::Flow::line).key("shard").text(format(row.shard));
  if (row.view != nullptr && row.view->leader) out.key("leader").text(row.view->leader->str());
  if (row.view != nullptr) {
    out.key("others").begin_list(Writer::Flow::line);
    for (const Peer& peer : row.view->others)
      out.begin_map(Writer::Flow::line).key("node").text(peer.node.str()).key("state").text(peer.state.str()).end_map();
    out.end_list();
  }
  if (row.record != nullptr) {
    out.key("epoch").number(row.record->version.epoch.value()).key("change").number(row.record->version.change.value());
    write_names(out, "placement", row.record->placement);
  }
  out.key("errors").number(row.errors).key("going_on").text(going_on(row)).end_map();
}

std::string rows_as(const std::vector<Row>& rows, Output output) {
  return list_as(
      rows, output, [&](bool wide) { return table_of(rows, wide); }, [](const Row& row) { return "shard/" + format(row.shard); },
      write_row);
}

// One shard: what is decided, and beside it, node by node, what was told, what the node says, and what clients see.

std::string view_of(const ShardView* view, const NodeId& node) {
  if (view == nullptr) return "";
  if (view->leader == node) return "leader";
  if (view->next == node) return "leader to be";
  const auto found = std::ranges::find(view->others, node, &Peer::node);
  return found == view->others.end() ? "" : found->state.str();
}

std::string words_of(const control::ReplicaSurvey& replica) {
  std::vector<std::string> words;
  if (replica.told == nullptr) words.emplace_back("no record knows it");
  if (!replica.there) words.emplace_back(replica.says == nullptr ? "says nothing" : "is gone");
  if (replica.told != nullptr) {
    if (!replica.told->arrived)
      words.push_back(replica.told->copy_from ? fmt::format("copies from {}", *replica.told->copy_from) : "has not come yet");
    if (replica.told->leaving) words.emplace_back("leaves");
    if (!replica.told->may_be.empty() && replica.told->may_be != replica.told->told)
      words.push_back(fmt::format("may still be {}", replica.told->may_be));
  }
  if (replica.says != nullptr) {
    if (replica.says->sealed) words.push_back(fmt::format("sealed against {}", replica.says->sealed->against));
    if (!replica.says->error.empty())
      words.push_back(fmt::format("{} after {} tries: {}", replica.says->gave_up ? "gave up" : "failed", replica.says->tries,
                                  replica.says->error));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string page_of(const control::Snapshot& seen, const ShardId& shard) {
  const ShardRecord* record = seen.record(shard);
  const ShardView* view = seen.view(shard);
  Table about({"SHARD", format(shard)});
  about.add(
      {"version", record == nullptr ? "" : fmt::format("epoch {}, change {}", record->version.epoch, record->version.change)});
  about.add({"placement", record == nullptr ? "" : fmt::format("{}", fmt::join(record->placement, " "))});
  about.add({"has data", record != nullptr && record->has_data ? "yes" : "no"});
  if (record != nullptr && record->seal) about.add({"seal", fmt::format("epoch {}", *record->seal)});
  if (record != nullptr && record->shards > 0) about.add({"keys", fmt::format("its own among {} shards", record->shards)});
  if (record != nullptr && record->split)
    about.add({"split", fmt::format("waits for copies on {}", fmt::join(record->split->ready, " "))});
  if (record != nullptr && record->hand_over)
    about.add({"hand-over", fmt::format("from {} to {}", record->hand_over->from, record->hand_over->to)});
  if (const auto order = seen.orders.find(shard); order != seen.orders.end()) {
    const OrderDocument& one = order->second;
    about.add({"order", fmt::format("{}{}{}{}{} waits to be carried out", one.lead ? fmt::format("lead {} ", *one.lead) : "",
                                    one.accept_loss ? "accept loss " : "",
                                    one.reset.empty() ? "" : fmt::format("reset {} ", fmt::join(one.reset, " ")),
                                    one.adopt.empty() ? "" : fmt::format("adopt {} ", fmt::join(one.adopt, " ")),
                                    one.drop.empty() ? "" : fmt::format("drop {} ", fmt::join(one.drop, " ")))});
  }
  for (const std::string& why : control::explain(seen, shard)) about.add({"why", why});
  Table replicas({"NODE", "TOLD", "SAYS", "CLIENTS SEE", "TOLD AT", "SAYS AT", "PROGRESS", "NOTES"});
  for (const control::ReplicaSurvey& one : control::survey_replicas(seen, shard)) {
    replicas.add({one.node.str(), one.told ? one.told->told.str() : "", one.says ? one.says->state.str() : "",
                  view_of(view, one.node), one.told ? text_of(one.told->version) : "", one.says ? text_of(one.says->version) : "",
                  one.says ? fmt::format("{}", one.says->progress) : "", words_of(one)});
  }
  return about.format() + "\n" + replicas.format();
}

void write_replica(Writer& out, const ShardView* view, const control::ReplicaSurvey& one) {
  out.begin_map(Writer::Flow::line).key("node").text(one.node.str()).key("there").flag(one.there);
  if (one.told != nullptr) {
    out.key("told").text(one.told->told.str()).key("told_at").text(text_of(one.told->version));
    out.key("reason").text(name(one.told->reason)).key("arrived").flag(one.told->arrived).key("leaving").flag(one.told->leaving);
  }
  if (one.says != nullptr) {
    out.key("says").text(one.says->state.str()).key("says_at").text(text_of(one.says->version));
    out.key("progress").number(one.says->progress);
    if (!one.says->error.empty())
      out.key("error").text(one.says->error).key("tries").number(one.says->tries).key("gave_up").flag(one.says->gave_up);
  }
  out.key("view").text(view_of(view, one.node)).end_map();
}

std::string shard_as(const control::Snapshot& seen, const ShardId& shard, Output output) {
  if (output == Output::table || output == Output::wide) return page_of(seen, shard);
  if (output == Output::name) return fmt::format("shard/{}\n", format(shard));
  const ShardRecord* record = seen.record(shard);
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("shard").text(format(shard));
  if (record != nullptr) {
    out.key("epoch").number(record->version.epoch.value()).key("change").number(record->version.change.value());
    out.key("has_data").flag(record->has_data);
    if (record->seal) out.key("seal").number(record->seal->value());
    if (record->hand_over)
      out.key("hand_over")
          .begin_map(Writer::Flow::line)
          .key("from")
          .text(record->hand_over->from.str())
          .key("to")
          .text(record->hand_over->to.str())
          .end_map();
    write_names(out, "placement", record->placement);
  }
  out.key("replicas").begin_list();
  for (const control::ReplicaSurvey& one : control::survey_replicas(seen, shard)) write_replica(out, seen.view(shard), one);
  out.end_list().key("why").begin_list();
  for (const std::string& why : control::explain(seen, shard)) out.text(why);
  out.end_list().end_map();
  return std::move(out).take();
}

Result<std::string> look(OpenCluster& cluster, const ShardViewOptions& options) {
  const auto seen = cluster.look_existing(all_kinds());
  if (!seen) return fail(seen.error());
  if (options.shard.empty()) {
    const WorkloadId workload(options.workload);
    if (const auto good = control::check_workload(*seen, workload); !good) return fail(good.error());
    return rows_as(rows_of(*seen, workload), options.output);
  }
  const auto shard = parse_shard_id(options.shard);
  if (const auto good = control::check_shard(*seen, *shard); !good) return fail(good.error());
  return shard_as(*seen, *shard, options.output);
}

void view(Session& session, const ShardViewOptions& options) {
  if (!options.shard.empty()) {
    if (const auto shard = parse_shard_id(options.shard); !shard) throw CLI::ValidationError("SHARD", shard.error().message);
  }
  show(session, options.reach, options.watch, [&](OpenCluster& cluster) { return look(cluster, options); });
}

}  // namespace

void add_shard_views(CLI::App& noun, Session& session) {
  auto* list = noun.add_subcommand("list", "Show the shards of a workload");
  list->footer("Examples:\n  evenkeel shard list t1\n  evenkeel shard list t1 -o wide --watch");
  auto* one = noun.add_subcommand("show", "Show a shard: what was told, what nodes say, what clients see, and why");
  one->footer(
      "Versions are EPOCH.CHANGE. `why` is what a controller that read this now would wait for.\n\n"
      "Examples:\n"
      "  evenkeel shard show t1/9");
  for (auto* command : {list, one}) {
    auto options = std::make_shared<ShardViewOptions>();
    command == list ? command->add_option("WORKLOAD", options->workload, "The workload")->required()->type_name("")
                    : command->add_option("SHARD", options->shard, "The shard, as WORKLOAD/SHARD")->required()->type_name("");
    add_output(*command, session, options->output);
    add_watch(*command, options->watch);
    add_cluster_reach(*command, session, options->reach);
    command->callback([&session, options] { view(session, *options); });
  }
}

}  // namespace evenkeel::cli

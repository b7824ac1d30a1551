// Most documents, by descriptions of what they hold (detail/codec.h). Those that share their text with cluster files are in
// config_documents.cc.

#include "evenkeel/model/documents.h"

#include <algorithm>

#include "evenkeel/model/detail/codec.h"
#include "evenkeel/model/detail/part_reader.h"

namespace evenkeel {
namespace {

constexpr std::uint32_t format_short = 3;  // of records, which say only what is not usual; 1 and 2 are read

}  // namespace

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::none:
      return "none";
    case Operation::cordon:
      return "cordon";
    case Operation::drain:
      return "drain";
    case Operation::swap:
      return "swap";
    case Operation::no_leaders:
      return "no-leaders";
    case Operation::forget:
      return "forget";
    case Operation::remove:
      break;
  }
  return "remove";
}

std::string_view name(PermitDocument::Stage stage) {
  switch (stage) {
    case PermitDocument::Stage::asked:
      return "asked";
    case PermitDocument::Stage::granted:
      return "granted";
    case PermitDocument::Stage::go:
      return "go";
    case PermitDocument::Stage::refused:
      break;
  }
  return "refused";
}

namespace detail {

// 1. Words.

template <>
struct Words<Reason> {
  static constexpr std::string_view what = "a reason";
  static constexpr std::array all = {Reason::first,   Reason::restart,        Reason::move, Reason::failover,
                                     Reason::balance, Reason::operator_asked, Reason::split};
};
template <>
struct Words<Fencing> {
  static constexpr std::string_view what = "a kind of fencing";
  static constexpr std::array all = {Fencing::session, Fencing::epoch};
};
template <>
struct Words<KeyMap> {
  static constexpr std::string_view what = "a map of keys";
  static constexpr std::array all = {KeyMap::hash, KeyMap::range};
};
template <>
struct Words<Operation> {
  static constexpr std::string_view what = "an operation";
  static constexpr std::array all = {Operation::none,       Operation::cordon, Operation::drain, Operation::swap,
                                     Operation::no_leaders, Operation::forget, Operation::remove};
};
template <>
struct Words<PermitDocument::Stage> {
  using enum PermitDocument::Stage;
  static constexpr std::string_view what = "a stage";
  static constexpr std::array all = {asked, granted, go, refused};
};
template <>
struct Words<Taint::Effect> {
  static constexpr std::string_view what = "an effect";
  static constexpr std::array all = {Taint::Effect::refuse, Taint::Effect::avoid};
};

// 2. Small lists of fixed length.

template <>
struct Row<Version> {
  static constexpr std::string_view what = "a version, [epoch, change]";
  static constexpr auto parts = std::tuple(&Version::epoch, &Version::change);
};
template <>
struct Row<TargetNumber> {
  static constexpr std::string_view what = "a target's number, [controller epoch, count]";
  static constexpr auto parts = std::tuple(&TargetNumber::controller, &TargetNumber::count);
};
template <>
struct Row<Peer> {
  static constexpr std::string_view what = "a peer, [node, state]";
  static constexpr auto parts = std::tuple(&Peer::node, &Peer::state);
};
template <>
struct Row<Ban> {
  static constexpr std::string_view what = "a ban, [shard, node, time]";
  static constexpr auto parts = std::tuple(&Ban::shard, &Ban::node, &Ban::waited);
};
template <>
struct Row<ShardWait> {
  static constexpr std::string_view what = "a shard's wait, [shard, time]";
  static constexpr auto parts = std::tuple(&ShardWait::shard, &ShardWait::waited);
};
template <>
struct Row<StateEdge> {
  static constexpr std::string_view what = "a transition, [from, to]";
  static constexpr auto parts = std::tuple(&StateEdge::from, &StateEdge::to);
};

// 3. State models: a built-in one is its name, another is written whole.

void put(JsonText& out, const StateCount& count) {
  count.kind == StateCount::Kind::number ? out.number(count.number) : out.quoted(format(count));
}
void get(JsonScan& in, StateCount& out) {
  if (in.at_number()) {
    out.kind = StateCount::Kind::number;
    return get(in, out.number);
  }
  const auto word = in.text("a number, replicas or nodes");
  if (word == "replicas")
    out.kind = StateCount::Kind::replicas;
  else if (word == "nodes")
    out.kind = StateCount::Kind::nodes;
  else
    in.fail(fmt::format("expected a number, replicas or nodes, found the text {}", quote(word)));
}
template <>
struct Shape<State> {
  static constexpr std::string_view what = "a state";
  static constexpr auto fields =
      std::tuple(required("name", &State::name), field("count", &State::count), field("data", &State::data));
};
template <>
struct Shape<StateModelSpec> {
  static constexpr std::string_view what = "a state model";
  static constexpr auto fields =
      std::tuple(required("name", &StateModelSpec::name), required("states", &StateModelSpec::states),
                 required("initial", &StateModelSpec::initial), required("transitions", &StateModelSpec::transitions));
};
void put(JsonText& out, const StateModelSpec& spec) {
  const StateModel* model = find_built_in(spec.name.str());
  model != nullptr && model->spec() == spec ? out.quoted(spec.name.str()) : put<StateModelSpec>(out, spec);
}
void get(JsonScan& in, StateModelSpec& out) {
  if (in.at_text()) {
    const auto name = in.text();
    const StateModel* model = find_built_in(name);
    model != nullptr ? void(out = model->spec()) : in.fail(fmt::format("there is no built-in state model {}", quote(name)));
    return;
  }
  const auto start = in.here();
  get<StateModelSpec>(in, out);
  if (in.failed()) return;
  if (const auto model = StateModel::make(out); !model)
    in.fail_at(start, "this state model is not sound: " + model.error().front());
}

// 4. What controller, nodes and routers tell each other.

template <>
struct Shape<Holder> {
  static constexpr std::string_view what = "a holder";
  static constexpr auto fields =
      std::tuple(required("node", &Holder::node), field("data", &Holder::data), field("incarnation", &Holder::incarnation),
                 required("told", &Holder::told), field("may_be", &Holder::may_be), required("version", &Holder::version),
                 required("reason", &Holder::reason), field("held_before", &Holder::held_before),
                 field("copy_from", &Holder::copy_from), field("arrived", &Holder::arrived), field("leaving", &Holder::leaving));
};
template <>
struct Shape<HandOver> {
  static constexpr std::string_view what = "a hand-over";
  static constexpr auto fields = std::tuple(required("from", &HandOver::from), required("to", &HandOver::to));
};
template <>
struct Shape<Split> {
  static constexpr std::string_view what = "a split";
  static constexpr auto fields =
      std::tuple(field("from", &Split::from), required("at", &Split::at), field("ready", &Split::ready));
};
template <>
struct Shape<ShardRecord> {
  static constexpr std::string_view what = "a record";
  static constexpr auto fields = std::tuple(
      required("shard", &ShardRecord::shard), required("version", &ShardRecord::version), field("told", &ShardRecord::told),
      field("has_data", &ShardRecord::has_data), field("rebuilt", &ShardRecord::rebuilt), field("seal", &ShardRecord::seal),
      field("hand_over", &ShardRecord::hand_over), field("split", &ShardRecord::split), field("shards", &ShardRecord::shards),
      field("born", &ShardRecord::born), field("placement", &ShardRecord::placement), field("holders", &ShardRecord::holders));
};
template <>
struct Shape<RecordBucket> {
  static constexpr std::string_view what = "a bucket of records";
  static constexpr auto fields = std::tuple(field("spec", &RecordBucket::spec), required("shards", &RecordBucket::shards));
};

// The same as it is written since format 3. Records are most of what a fail-over writes, so what is usual, or said elsewhere in the document, is left out:
// a holder's disk and process if they are the node's in `nodes`, its version if it is the record's `told`, that one if it is the record's version, the placement if
// it names the holders in their order. A record has data and a holder has come unless it says otherwise.
struct NodeText {
  DataId data;
  Incarnation incarnation;
  friend bool operator==(const NodeText&, const NodeText&) = default;
};
struct HolderText {
  NodeId node;
  std::optional<DataId> data;
  std::optional<Incarnation> incarnation;
  StateId told;
  StateId may_be;
  std::optional<Version> version;
  Reason reason = Reason::first;
  std::optional<Epoch> held_before;
  std::optional<NodeId> copy_from;
  std::optional<bool> arrived;
  bool leaving = false;
  friend bool operator==(const HolderText&, const HolderText&) = default;
};
struct RecordText {
  ShardIndex shard;
  Version version;
  std::optional<Version> told;
  std::optional<bool> has_data;
  bool rebuilt = false;
  std::optional<Epoch> seal;
  std::optional<HandOver> hand_over;
  std::optional<Split> split;
  std::uint32_t shards = 0;
  std::optional<Version> born;
  std::optional<std::vector<NodeId>> placement;
  std::vector<HolderText> holders;
  friend bool operator==(const RecordText&, const RecordText&) = default;
};
struct RecordsText {
  std::uint64_t spec = 0;
  std::map<NodeId, NodeText> nodes;
  std::vector<RecordText> shards;
};
template <>
struct Row<NodeText> {
  static constexpr std::string_view what = "a node's disk and process, [data, incarnation]";
  static constexpr auto parts = std::tuple(&NodeText::data, &NodeText::incarnation);
};
template <>
struct Shape<HolderText> {
  static constexpr std::string_view what = "a holder";
  static constexpr auto fields = std::tuple(
      required("node", &HolderText::node), field("data", &HolderText::data), field("incarnation", &HolderText::incarnation),
      required("told", &HolderText::told), field("may_be", &HolderText::may_be), field("version", &HolderText::version),
      field("reason", &HolderText::reason), field("held_before", &HolderText::held_before),
      field("copy_from", &HolderText::copy_from), field("arrived", &HolderText::arrived), field("leaving", &HolderText::leaving));
};
template <>
struct Shape<RecordText> {
  static constexpr std::string_view what = "a record";
  static constexpr auto fields = std::tuple(
      required("shard", &RecordText::shard), required("version", &RecordText::version), field("told", &RecordText::told),
      field("has_data", &RecordText::has_data), field("rebuilt", &RecordText::rebuilt), field("seal", &RecordText::seal),
      field("hand_over", &RecordText::hand_over), field("split", &RecordText::split), field("shards", &RecordText::shards),
      field("born", &RecordText::born), field("placement", &RecordText::placement), field("holders", &RecordText::holders));
};
template <>
struct Shape<RecordsText> {
  static constexpr std::string_view what = "a bucket of records";
  static constexpr auto fields = std::tuple(field("spec", &RecordsText::spec), field("nodes", &RecordsText::nodes),
                                            required("shards", &RecordsText::shards));
};

bool places_its_holders(const ShardRecord& record) {
  return std::ranges::equal(record.placement, record.holders, {}, {}, &Holder::node);
}

// Whichever of a node's disks and processes is met first; of a node that somebody holds something on without either, none.
std::map<NodeId, NodeText> nodes_of(const RecordBucket& bucket) {
  std::map<NodeId, NodeText> nodes;
  for (const ShardRecord& record : bucket.shards) {
    for (const Holder& holder : record.holders) {
      const bool whole = !holder.data.str().empty() && holder.incarnation != Incarnation();
      const auto [at, is_new] = nodes.try_emplace(holder.node, NodeText{holder.data, holder.incarnation});
      if (!whole) at->second = {};
    }
  }
  std::erase_if(nodes, [](const auto& node) { return node.second == NodeText{}; });
  return nodes;
}

HolderText text_of(const Holder& holder, const ShardRecord& record, const std::map<NodeId, NodeText>& nodes) {
  HolderText text{.node = holder.node,
                  .told = holder.told,
                  .may_be = holder.may_be,
                  .reason = holder.reason,
                  .held_before = holder.held_before,
                  .copy_from = holder.copy_from,
                  .leaving = holder.leaving};
  const auto node = nodes.find(holder.node);
  const NodeText usual = node == nodes.end() ? NodeText{} : node->second;
  if (holder.data != usual.data) text.data = holder.data;
  if (holder.incarnation != usual.incarnation) text.incarnation = holder.incarnation;
  if (holder.version != record.told) text.version = holder.version;
  if (!holder.arrived) text.arrived = false;
  return text;
}

RecordsText text_of(const RecordBucket& bucket) {
  RecordsText text{.spec = bucket.spec, .nodes = nodes_of(bucket)};
  for (const ShardRecord& record : bucket.shards) {
    RecordText& out = text.shards.emplace_back(RecordText{.shard = record.shard,
                                                          .version = record.version,
                                                          .rebuilt = record.rebuilt,
                                                          .seal = record.seal,
                                                          .hand_over = record.hand_over,
                                                          .split = record.split,
                                                          .shards = record.shards,
                                                          .born = record.born});
    if (record.told != record.version) out.told = record.told;
    if (!record.has_data) out.has_data = false;
    if (!places_its_holders(record)) out.placement = record.placement;
    for (const Holder& holder : record.holders) out.holders.push_back(text_of(holder, record, text.nodes));
  }
  return text;
}

Holder holder_of(HolderText&& text, Version told, const std::map<NodeId, NodeText>& nodes) {
  const auto node = nodes.find(text.node);
  const NodeText usual = node == nodes.end() ? NodeText{} : node->second;
  return {.node = std::move(text.node),
          .data = text.data ? *std::move(text.data) : usual.data,
          .incarnation = text.incarnation.value_or(usual.incarnation),
          .told = std::move(text.told),
          .may_be = std::move(text.may_be),
          .version = text.version.value_or(told),
          .reason = text.reason,
          .held_before = text.held_before,
          .copy_from = std::move(text.copy_from),
          .arrived = text.arrived.value_or(true),
          .leaving = text.leaving};
}

RecordBucket records_of(RecordsText&& text) {
  RecordBucket bucket{.spec = text.spec};
  bucket.shards.reserve(text.shards.size());
  for (RecordText& one : text.shards) {
    ShardRecord& record = bucket.shards.emplace_back(ShardRecord{.shard = one.shard,
                                                                 .version = one.version,
                                                                 .told = one.told.value_or(one.version),
                                                                 .has_data = one.has_data.value_or(true),
                                                                 .rebuilt = one.rebuilt,
                                                                 .seal = one.seal,
                                                                 .hand_over = std::move(one.hand_over),
                                                                 .split = std::move(one.split),
                                                                 .shards = one.shards,
                                                                 .born = one.born});
    record.holders.reserve(one.holders.size());
    for (HolderText& holder : one.holders) record.holders.push_back(holder_of(std::move(holder), record.told, text.nodes));
    if (one.placement) {
      record.placement = *std::move(one.placement);
    } else {
      for (const Holder& holder : record.holders) record.placement.push_back(holder.node);
    }
  }
  return bucket;
}

template <>
struct Shape<ReplicaTarget> {
  static constexpr std::string_view what = "a replica's target";
  static constexpr auto fields =
      std::tuple(required("shard", &ReplicaTarget::shard), required("state", &ReplicaTarget::state),
                 required("version", &ReplicaTarget::version), required("reason", &ReplicaTarget::reason),
                 field("held_before", &ReplicaTarget::held_before), field("peers", &ReplicaTarget::peers),
                 field("copy_from", &ReplicaTarget::copy_from), field("seal", &ReplicaTarget::seal),
                 field("parent", &ReplicaTarget::parent), field("shards", &ReplicaTarget::shards));
};
template <>
struct Shape<Target> {
  static constexpr std::string_view what = "a target";
  static constexpr auto fields =
      std::tuple(required("incarnation", &Target::incarnation), required("number", &Target::number),
                 required("model", &Target::model), field("fencing", &Target::fencing), field("deadline", &Target::deadline),
                 field("metadata", &Target::metadata), required("replicas", &Target::replicas));
};
template <>
struct Shape<Sealed> {
  static constexpr std::string_view what = "a seal";
  static constexpr auto fields =
      std::tuple(required("against", &Sealed::against), required("last", &Sealed::last), required("progress", &Sealed::progress));
};
template <>
struct Shape<ReplicaReport> {
  static constexpr std::string_view what = "a replica's report";
  static constexpr auto fields = std::tuple(required("shard", &ReplicaReport::shard), required("state", &ReplicaReport::state),
                                            required("version", &ReplicaReport::version), field("last", &ReplicaReport::last),
                                            field("progress", &ReplicaReport::progress), field("sealed", &ReplicaReport::sealed),
                                            field("error", &ReplicaReport::error), field("tries", &ReplicaReport::tries),
                                            field("gave_up", &ReplicaReport::gave_up));
};
template <>
struct Shape<Report> {
  static constexpr std::string_view what = "a report";
  static constexpr auto fields = std::tuple(required("incarnation", &Report::incarnation), required("data", &Report::data),
                                            required("obeyed", &Report::obeyed), required("replicas", &Report::replicas));
};
template <>
struct Shape<ShardView> {
  static constexpr std::string_view what = "a shard's view";
  static constexpr auto fields =
      std::tuple(required("shard", &ShardView::shard), required("version", &ShardView::version),
                 field("leader", &ShardView::leader), field("next", &ShardView::next), field("others", &ShardView::others));
};
template <>
struct Shape<ViewBucket> {
  static constexpr std::string_view what = "a bucket of the view";
  static constexpr auto fields =
      std::tuple(required("shards_in_all", &ViewBucket::shards_in_all), required("key_map", &ViewBucket::key_map),
                 required("hash_version", &ViewBucket::hash_version), field("split_from", &ViewBucket::split_from),
                 field("idle", &ViewBucket::idle), required("shards", &ViewBucket::shards));
};
template <>
struct Shape<ReplicaPulse> {
  static constexpr std::string_view what = "a replica's pulse";
  static constexpr auto fields = std::tuple(required("shard", &ReplicaPulse::shard), field("last", &ReplicaPulse::last),
                                            field("progress", &ReplicaPulse::progress), field("lag", &ReplicaPulse::lag),
                                            field("load", &ReplicaPulse::load));
};
template <>
struct Shape<Pulse> {
  static constexpr std::string_view what = "a pulse";
  static constexpr auto fields = std::tuple(required("node", &Pulse::node), required("incarnation", &Pulse::incarnation),
                                            required("count", &Pulse::count), required("replicas", &Pulse::replicas));
};

// 5. The other documents.

template <>
struct Shape<Taint> {
  static constexpr std::string_view what = "a taint";
  static constexpr auto fields =
      std::tuple(required("key", &Taint::key), field("value", &Taint::value), required("effect", &Taint::effect));
};
template <>
struct Shape<NodeDocument> {
  static constexpr std::string_view what = "a node's document";
  static constexpr auto fields =
      std::tuple(field("operation", &NodeDocument::operation), field("swap_with", &NodeDocument::swap_with),
                 field("reason", &NodeDocument::reason), field("data", &NodeDocument::data), field("since", &NodeDocument::since),
                 field("rebalance_delay", &NodeDocument::rebalance_delay), field("capacity", &NodeDocument::capacity),
                 field("power", &NodeDocument::power), field("labels", &NodeDocument::labels),
                 field("taints", &NodeDocument::taints), field("disabled", &NodeDocument::disabled));
};
template <>
struct Shape<OrderDocument> {
  static constexpr std::string_view what = "an order";
  static constexpr auto fields = std::tuple(
      field("lead", &OrderDocument::lead), field("accept_loss", &OrderDocument::accept_loss),
      field("reset", &OrderDocument::reset), field("adopt", &OrderDocument::adopt), field("drop", &OrderDocument::drop));
};
template <>
struct Shape<LiveDocument> {
  static constexpr std::string_view what = "a live node";
  static constexpr auto fields = std::tuple(
      required("incarnation", &LiveDocument::incarnation), required("data", &LiveDocument::data),
      required("address", &LiveDocument::address), field("version", &LiveDocument::version),
      required("reads", &LiveDocument::reads), field("zone", &LiveDocument::zone), field("labels", &LiveDocument::labels),
      field("taints", &LiveDocument::taints), field("cores", &LiveDocument::cores), field("capacity", &LiveDocument::capacity),
      field("used", &LiveDocument::used), field("power", &LiveDocument::power),
      field("state_models", &LiveDocument::state_models), field("inventory", &LiveDocument::inventory),
      field("leaving", &LiveDocument::leaving));
};
template <>
struct Shape<PermitDocument> {
  static constexpr std::string_view what = "a permit";
  static constexpr auto fields =
      std::tuple(required("incarnation", &PermitDocument::incarnation), required("stage", &PermitDocument::stage),
                 field("allow_outage", &PermitDocument::allow_outage), field("timeout", &PermitDocument::timeout),
                 field("reason", &PermitDocument::reason));
};
template <>
struct Shape<WaitsDocument> {
  static constexpr std::string_view what = "waits";
  static constexpr auto fields =
      std::tuple(field("gone", &WaitsDocument::gone), field("permits", &WaitsDocument::permits),
                 field("maintenance", &WaitsDocument::maintenance), field("entered", &WaitsDocument::entered),
                 field("freeze", &WaitsDocument::freeze), field("steady", &WaitsDocument::steady),
                 field("bans", &WaitsDocument::bans), field("given_up", &WaitsDocument::given_up),
                 field("timed_out", &WaitsDocument::timed_out), field("measured", &WaitsDocument::measured),
                 field("epochs_above", &WaitsDocument::epochs_above), field("lost", &WaitsDocument::lost));
};

struct EpochDocument {
  ControllerEpoch epoch;
};
template <>
struct Shape<EpochDocument> {
  static constexpr std::string_view what = "the controller's epoch";
  static constexpr auto fields = std::tuple(required("epoch", &EpochDocument::epoch));
};

// What check() says of a node of a cluster, at its place in the document.
template <class T>
Result<T> checked(Result<T> read, const Node& node, std::string_view text, std::string_view where) {
  Cluster cluster{.name = ClusterId("c")};
  cluster.nodes.push_back(node);
  cluster.nodes[0].name = NodeId("n");  // its own is the key's
  const auto problems = check(cluster);
  if (problems.empty()) return read;
  const auto document = Document::parse(text, std::string(where), Syntax::json);
  Diagnostics out{std::string(where)};
  for (const Problem& problem : problems) {
    const auto place =
        document ? place_of(document->root(), std::span(problem.path).subspan(std::min<std::size_t>(2, problem.path.size())),
                            problem.at_key)
                 : Place();
    out.add(place, problem.message, problem.hint);
  }
  return tl::unexpected(out.to_error());
}

}  // namespace detail

using detail::get_document;
using detail::put_document;

std::string format(const NodeDocument& document) { return put_document(document, format_written); }
std::string format(const OrderDocument& document) { return put_document(document, format_written); }
std::string format(const LiveDocument& document) {
  if constexpr (!is_later) return put_document(document, format_written);
  LiveDocument later = document;
  later.version = later_key;
  later.reads = format_split + 1;
  return put_document(later, format_written);
}
std::string format(const PermitDocument& document) { return put_document(document, format_written); }
std::string format(const WaitsDocument& document) { return put_document(document, format_written); }
std::string format(const RecordBucket& document) { return put_document(detail::text_of(document), format_short); }
std::string format(const Target& document) {
  const bool splits = std::ranges::find(document.replicas, Reason::split, &ReplicaTarget::reason) != document.replicas.end();
  return put_document(document, splits ? format_split : format_written);
}
std::string format(const Report& document) { return put_document(document, format_written); }
std::string format(const ViewBucket& document) {
  return put_document(document, document.split_from > 0 ? format_split : format_written);
}
std::string format(const Pulse& pulse) { return put_document(pulse, format_written); }
std::string format_controller_epoch(ControllerEpoch epoch) { return put_document(detail::EpochDocument{epoch}, format_written); }

Result<NodeDocument> parse_node(std::string_view text, std::string_view where) {
  auto out = get_document<NodeDocument>(text, where, format_written);
  if (!out) return out;
  Node node;
  node.capacity = out->capacity.value_or(node.capacity);
  node.power = out->power.value_or(node.power);
  node.labels = out->labels.value_or(node.labels);
  node.taints = out->taints.value_or(node.taints);
  return detail::checked(std::move(out), node, text, where);
}

Result<LiveDocument> parse_live(std::string_view text, const NodeId& node, std::string_view where) {
  auto out = get_document<LiveDocument>(text, where, format_written);
  if (!out) return out;
  out->node = node;
  const Node said{.zone = out->zone,
                  .cores = out->cores,
                  .capacity = out->capacity,
                  .used = out->used,
                  .power = out->power,
                  .labels = out->labels,
                  .taints = out->taints};
  return detail::checked(std::move(out), said, text, where);
}

Result<OrderDocument> parse_order(std::string_view text, std::string_view where) {
  return get_document<OrderDocument>(text, where, format_written);
}
Result<PermitDocument> parse_permit(std::string_view text, std::string_view where) {
  return get_document<PermitDocument>(text, where, format_written);
}
Result<WaitsDocument> parse_waits(std::string_view text, std::string_view where) {
  return get_document<WaitsDocument>(text, where, format_written);
}
Result<Pulse> parse_pulse(std::string_view text) { return get_document<Pulse>(text, "pulse", format_written); }

Result<ControllerEpoch> parse_controller_epoch(std::string_view text, std::string_view where) {
  return get_document<detail::EpochDocument>(text, where, format_written).map([](const auto& read) { return read.epoch; });
}

Result<RecordBucket> parse_records(std::string_view text, const WorkloadId& workload, Bucket bucket, std::string_view where) {
  const bool is_short = detail::format_of(text) >= format_short;
  auto out = is_short ? get_document<detail::RecordsText>(text, where, format_short).map(detail::records_of)
                      : get_document<RecordBucket>(text, where, format_split);
  if (out) out->workload = workload, out->bucket = bucket;
  return out;
}

Result<ViewBucket> parse_view(std::string_view text, const WorkloadId& workload, Bucket bucket, std::string_view where) {
  auto out = get_document<ViewBucket>(text, where, format_split);
  if (out) out->workload = workload, out->bucket = bucket;
  return out;
}

Result<Target> parse_target(std::string_view text, const Key& key, std::string_view where) {
  auto out = get_document<Target>(text, where, format_split);
  if (out) out->node = key.node, out->workload = key.workload, out->bucket = key.bucket;
  return out;
}

Result<Report> parse_report(std::string_view text, const Key& key, std::string_view where) {
  auto out = get_document<Report>(text, where, format_written);
  if (out) out->node = key.node, out->workload = key.workload, out->bucket = key.bucket;
  return out;
}

}  // namespace evenkeel

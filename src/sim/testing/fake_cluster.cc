#include "evenkeel/sim/testing/fake_cluster.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "evenkeel/base/text.h"
#include "evenkeel/control/shell/controller.h"
#include "evenkeel/sim/testing/detail/process.h"

namespace evenkeel::sim {

class FakeCluster::Work {
 public:
  explicit Work(FakeOptions options)
      : options_(std::move(options)),
        keys_(options_.cluster),
        world_(loop_, {.seed = options_.seed, .delay_max = options_.network}),
        operator_(world_.connect("operator")),
        client_(world_.connect("client")),
        router_(*client_, options_.cluster) {
    const ConfigDocument config{.settings = options_.settings, .state_models = options_.state_models};
    ensure(put(keys_.config(), format(config)).has_value(), "the memory store takes a write");
    for (std::uint32_t i = 0; i < std::max(options_.controllers, 1U); ++i) controllers_.push_back(make_controller());
  }

  // Nodes.

  node::Node& begin(const NodeId& name, node::ShardHandler& handler, Disk disk) {
    Slot& slot = slots_.at(name);
    if (disk == Disk::empty) ++slot.disk;
    const ProcessOptions options{
        .node = slot.options,
        .data = DataId(fmt::format("disk-{}-{}", name, slot.disk)),
        .rng = Rng(options_.seed).split(name.str()).split(++slot.starts),
        .empty = disk == Disk::empty,
        .transition = options_.transition,
        .send_pulse = options_.pulses ? [this](const Pulse& pulse) { send(pulse); } : std::function<void(const Pulse&)>(),
    };
    slot.processes.push_back(std::make_unique<Process>(loop_, world_, handler, options));
    return *slot.processes.back();
  }
  node::Node& add(const NodeId& name, node::ShardHandler& handler, node::NodeOptions options) {
    ensure(!slots_.contains(name), "each node is added once");
    options.cluster = options_.cluster;
    options.name = name;
    if (options.session_ttl == node::NodeOptions().session_ttl) options.session_ttl = options_.settings.control.session_ttl;
    if (options.address.empty()) options.address = fmt::format("10.0.0.{}:9090", slots_.size() + 1);
    slots_.emplace(name, Slot{.options = std::move(options)});
    return begin(name, handler, Disk::same);
  }
  void kill(const NodeId& name) {
    process(name).kill();
    cut(name, false);  // what is cut off is the process
    if (options_.pulses) each_controller([&](control::Controller& controller) { controller.pulse_broken(name); });
  }
  Process& process(const NodeId& name) const {
    const auto found = slots_.find(name);
    ensure(found != slots_.end(), "the node was added");
    return *found->second.processes.back();
  }
  const Process* find(const NodeId& name) const {
    const auto found = slots_.find(name);
    return found == slots_.end() ? nullptr : found->second.processes.back().get();
  }
  bool runs(const NodeId& name) const {
    const Process* process = find(name);
    return process != nullptr && process->participant() != nullptr;
  }
  void cut(const NodeId& name, bool cut) {
    slots_.at(name).cut = cut;
    cut ? world_.cut_off(name.str()) : world_.heal(name.str());
  }

  // Documents.

  Result<> put(const std::string& key, std::string text) {
    std::optional<Result<store::Committed>> answer;
    operator_->put(key, std::move(text), [&](Result<store::Committed> done) { answer = std::move(done); });
    while (!answer) ensure(loop_.step(), "the store answers");
    if (!*answer) return fail(answer->error());
    return {};
  }
  Result<> put(const WorkloadDocument& document) {
    const std::string key = keys_.workload(document.spec.name);
    std::string text = format(document);
    if (const auto good = parse_workload(text, document.spec.name, key); !good) return fail(good.error());
    if (const auto done = put(key, std::move(text)); !done) return done;
    workloads_.insert_or_assign(document.spec.name, document);
    return {};
  }
  Result<> create(Workload workload) {
    if (const auto why = why_not_a_name(workload.name.str())) return fail(Code::invalid, "workload: {}", *why);
    if (find_model(workload.state_model) == nullptr)
      return fail(Code::invalid, "there is no state model {}", quote(workload.state_model.str()));
    const auto known = workloads_.find(workload.name);
    if (known != workloads_.end() && !known->second.deleted) return fail(Code::conflict, "{} is there already", workload.name);
    const std::uint32_t buckets = buckets_for(workload.shards);
    return put({.spec = std::move(workload), .buckets = buckets});
  }
  Result<> erase(const WorkloadId& workload) {
    const auto known = workloads_.find(workload);
    if (known == workloads_.end()) return fail(Code::not_found, "there is no workload {}", workload);
    WorkloadDocument document = known->second;
    document.deleted = true;
    return put(document);
  }

  // Controllers.

  const control::Machine* machine() const {
    for (const auto& one : controllers_) {
      if (one.controller->active()) return &one.controller->machine();
    }
    return nullptr;
  }
  void restart_controller() {
    const auto active = std::ranges::find_if(controllers_, [](const auto& one) { return one.controller->active(); });
    if (active == controllers_.end()) return;
    active->controller.reset();
    *active = make_controller();
  }

  // Time.

  bool run_until(const std::function<bool()>& good, Duration most) {
    const Instant end = later(loop_.now(), most);
    while (!good()) {
      if (loop_.idle() || loop_.next_due() > end) {
        loop_.run_until(end);
        return good();
      }
      loop_.step();
    }
    return true;
  }
  // Looked at ten times a second, since a look costs O(replicas).
  bool run_until_settled(Duration most) {
    constexpr Duration quiet = 1s, look = 100ms;
    const Instant end = later(loop_.now(), most);
    Instant unsettled = loop_.now();  // when it last was not, or nobody had looked yet
    while (true) {
      if (!why_not_settled().empty()) {
        unsettled = loop_.now();
      } else if (loop_.now() - unsettled >= quiet) {
        return true;
      }
      if (loop_.now() >= end) return false;
      loop_.run_until(std::min(end, later(loop_.now(), look)));
    }
  }

  std::string why_not_settled() const {
    const control::Machine* machine = this->machine();
    if (machine == nullptr) return "no controller acts";
    for (const auto& [name, slot] : slots_) {
      const node::Participant* participant = slot.processes.back()->participant();
      if (participant == nullptr) continue;
      if (!participant->joined()) return fmt::format("{} has not joined", name);
      if (!participant->settled()) return fmt::format("{} is not done", name);
    }
    for (const auto& [name, document] : workloads_) {
      for (std::uint32_t shard = 0; shard < document.spec.shards; ++shard) {
        const ShardId id{name, ShardIndex(shard)};
        const auto state = machine->explain(id);
        const std::string why = document.deleted ? why_not_dropped(state) : why_not_settled(document.spec, state);
        if (!why.empty()) return fmt::format("{} {}", format(id), why);
      }
    }
    return {};
  }

  VirtualLoop loop_;
  const FakeOptions options_;
  const Keys keys_;
  store::World world_;

  std::function<void(const control::Event&)> on_event;
  const route::Router& router() const { return router_; }

 private:
  struct Slot {
    node::NodeOptions options;
    std::vector<std::unique_ptr<Process>> processes = {};  // the last one may run
    std::uint32_t disk = 1;
    std::uint64_t starts = 0;
    bool cut = false;
  };
  struct Office {
    std::unique_ptr<store::Store> store;
    std::unique_ptr<control::Controller> controller;
  };

  // A problem needs a name to be whole.
  control::Planner planner() const {
    return [name = options_.cluster](Cluster problem, std::move_only_function<void(place::Plan)> answer) {
      problem.name = name;
      control::plan_at_once()(std::move(problem), std::move(answer));
    };
  }
  Office make_controller() {
    const std::string name = fmt::format("controller-{}", ++controllers_made_);
    Office office{.store = world_.connect(name)};
    control::ControllerOptions options{.cluster = options_.cluster, .name = name, .planner = planner()};
    options.session_ttl = options_.settings.control.controller_ttl;
    office.controller = std::make_unique<control::Controller>(*office.store, std::move(options));
    office.controller->on_event([this](const control::Event& event) {
      if (on_event) on_event(event);
    });
    return office;
  }
  void each_controller(const std::function<void(control::Controller&)>& call) {
    for (const Office& office : controllers_) call(*office.controller);
  }
  void send(const Pulse& pulse) {
    const Slot& slot = slots_.at(pulse.node);
    if (slot.cut) return;
    const Duration every = slot.options.session_ttl / 3;
    loop_.post_after(options_.network, [this, pulse, every] {
      each_controller([&](control::Controller& controller) { controller.pulse(pulse, every); });
    });
  }

  const StateModel* find_model(const StateModelId& name) const {
    const auto own = std::ranges::find(options_.state_models, name, &StateModel::name);
    return own != options_.state_models.end() ? &*own : find_built_in(name.str());
  }
  static std::string why_not_dropped(const std::optional<control::ShardState>& state) {
    return !state || state->record.holders.empty() ? "" : "is not dropped everywhere";
  }
  std::string why_not_settled(const Workload& spec, const std::optional<control::ShardState>& state) const {
    if (!state || state->record.placement.empty()) return "is not placed";
    const ShardRecord& record = state->record;
    if (record.seal) return "is sealed";
    if (record.hand_over) return fmt::format("is handed over to {}", record.hand_over->to);
    for (const Holder& holder : record.holders) {
      const bool wanted = std::ranges::find(record.placement, holder.node) != record.placement.end();
      if (runs(holder.node) && !wanted) return fmt::format("is still on {}", holder.node);
    }
    for (const NodeId& node : record.placement) {
      if (!runs(node)) continue;
      const auto holder = std::ranges::find(record.holders, node, &Holder::node);
      if (holder == record.holders.end()) return fmt::format("is not yet on {}", node);
      const bool shown =
          state->view.leader == node || std::ranges::find(state->view.others, node, &Peer::node) != state->view.others.end();
      if (!holder->arrived || holder->leaving || !shown) return fmt::format("is not served by {}", node);
    }
    return why_not_led(spec, *state);
  }
  std::string why_not_led(const Workload& spec, const control::ShardState& state) const {
    const StateModel* model = find_model(spec.state_model);
    if (model == nullptr || !model->bounded()) return {};
    if (!state.view.leader || !runs(*state.view.leader)) return "has no leader";
    const NodeId& preferred = state.record.placement.front();
    if (runs(preferred) && *state.view.leader != preferred && may_be_asked_to_lead(preferred))
      return fmt::format("is to be led by {}", preferred);
    return {};
  }
  bool may_be_asked_to_lead(const NodeId& name) const {
    for (const control::NodeState& node : machine()->nodes(loop_.now())) {
      if (node.node == name) return node.operation == Operation::none && !node.suspect;
    }
    return false;
  }

  std::unique_ptr<store::Store> operator_;
  std::unique_ptr<store::Store> client_;
  route::Router router_;
  std::vector<Office> controllers_;
  std::uint32_t controllers_made_ = 0;
  std::map<NodeId, Slot> slots_;
  std::map<WorkloadId, WorkloadDocument> workloads_;
};

FakeCluster::FakeCluster(FakeOptions options) : work_(std::make_unique<Work>(std::move(options))) {}
FakeCluster::~FakeCluster() = default;

node::Node& FakeCluster::add_node(const NodeId& name, node::ShardHandler& handler, node::NodeOptions options) {
  return work_->add(name, handler, std::move(options));
}
void FakeCluster::kill(const NodeId& name) { work_->kill(name); }
node::Node& FakeCluster::start(const NodeId& name, node::ShardHandler& handler, Disk disk) {
  ensure(!running(name), "a node is started when it does not run");
  return work_->begin(name, handler, disk);
}
Result<> FakeCluster::leave(const NodeId& name, Duration timeout) { return work_->process(name).leave(timeout); }
void FakeCluster::cut_off(const NodeId& name) { work_->cut(name, true); }
void FakeCluster::heal(const NodeId& name) { work_->cut(name, false); }
bool FakeCluster::running(const NodeId& name) const { return work_->runs(name); }
node::Node& FakeCluster::node(const NodeId& name) { return work_->process(name); }

Result<> FakeCluster::create(Workload workload) { return work_->create(std::move(workload)); }
Result<> FakeCluster::erase(const WorkloadId& workload) { return work_->erase(workload); }
Result<> FakeCluster::configure(const ConfigDocument& config) {
  const std::string text = format(config);
  if (const auto good = parse_config(text, work_->keys_.config()); !good) return fail(good.error());
  return work_->put(work_->keys_.config(), text);
}
Result<> FakeCluster::operate(const NodeId& node, const NodeDocument& document) {
  const std::string text = format(document);
  if (const auto good = parse_node(text, work_->keys_.node(node)); !good) return fail(good.error());
  return work_->put(work_->keys_.node(node), text);
}
Result<> FakeCluster::order(const ShardId& shard, const OrderDocument& order) {
  return work_->put(work_->keys_.order(shard), format(order));
}
void FakeCluster::restart_controller() { work_->restart_controller(); }

Instant FakeCluster::now() const { return work_->loop_.now(); }
void FakeCluster::run_for(Duration time) { work_->loop_.run_for(time); }
bool FakeCluster::run_until(const std::function<bool()>& good, Duration most) { return work_->run_until(good, most); }
bool FakeCluster::run_until_settled(Duration most) { return work_->run_until_settled(most); }
std::string FakeCluster::why_not_settled() const { return work_->why_not_settled(); }

bool FakeCluster::may_lead(const NodeId& node, const ShardId& shard, Epoch epoch) const {
  const Process* process = work_->find(node);
  return process != nullptr && process->may_lead(shard, epoch);
}
std::optional<Led> FakeCluster::leader(const ShardId& shard) const {
  const auto table = work_->router().table();
  const ShardView* view = table->find(shard);
  if (view == nullptr || !view->leader || !may_lead(*view->leader, shard, view->version.epoch)) return std::nullopt;
  return Led{*view->leader, view->version.epoch};
}
std::optional<StateId> FakeCluster::state(const NodeId& node, const ShardId& shard) const {
  if (!running(node)) return std::nullopt;
  for (const auto& replica : work_->process(node).participant()->replicas()) {
    if (replica.shard == shard) return replica.state;
  }
  return std::nullopt;
}

const route::Router& FakeCluster::route() const { return work_->router(); }
void FakeCluster::on_event(std::function<void(const control::Event&)> handler) { work_->on_event = std::move(handler); }
const control::Machine* FakeCluster::controller() const { return work_->machine(); }
VirtualLoop& FakeCluster::loop() { return work_->loop_; }
store::World& FakeCluster::store() { return work_->world_; }

}  // namespace evenkeel::sim

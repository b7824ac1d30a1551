#include "evenkeel/place/allocator.h"

#include "evenkeel/place/detail/allocator_state.h"

namespace evenkeel::place {

Reservation::Reservation(std::weak_ptr<detail::AllocatorState> state, std::uint64_t number, WorkloadId workload, ShardIndex first,
                         Rows<Spot> rows)
    : state_(std::move(state)), number_(number), workload_(std::move(workload)), first_(first), rows_(std::move(rows)) {}

Reservation::Reservation(Reservation&& other) noexcept
    : state_(std::move(other.state_)),
      number_(std::exchange(other.number_, 0)),
      workload_(std::move(other.workload_)),
      first_(other.first_),
      rows_(std::move(other.rows_)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  cancel();
  state_ = std::move(other.state_);
  number_ = std::exchange(other.number_, 0);
  workload_ = std::move(other.workload_);
  first_ = other.first_;
  rows_ = std::move(other.rows_);
  return *this;
}

Reservation::~Reservation() { cancel(); }

Result<> Reservation::commit() {
  const std::uint64_t number = std::exchange(number_, 0);
  const auto state = state_.lock();
  if (number == 0 || !state) return fail(Code::conflict, "there is nothing left to commit");
  return state->commit(number);
}

void Reservation::cancel() {
  const std::uint64_t number = std::exchange(number_, 0);
  if (const auto state = state_.lock(); state && number != 0) state->undo(number);
}

Allocator::Allocator(const Cluster& cluster, AllocatorOptions options)
    : state_(std::make_shared<detail::AllocatorState>(cluster, options)) {}
Allocator::~Allocator() = default;
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(Allocator&&) noexcept = default;

Allocated Allocator::reservation(const WorkloadId& workload, tl::expected<detail::Reserved, NotAllocated> answer) const {
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return Reservation(state_, answer->number, workload, answer->first, std::move(answer->rows));
}

Allocated Allocator::allocate(Workload request) {
  const WorkloadId name = request.name;
  return reservation(name, state_->allocate(std::move(request)));
}

Allocated Allocator::grow(const WorkloadId& workload, std::uint32_t shards) {
  return reservation(workload, state_->grow(workload, shards));
}

Allocated Allocator::reallocate(const ShardId& shard, std::span<const NodeId> leaving) {
  return reservation(shard.workload, state_->reallocate(shard, leaving));
}

std::vector<Reservation> Allocator::take_moving() {
  std::vector<Reservation> all;
  for (const std::uint64_t number : state_->take_moving()) {
    auto reserved = state_->reserved(number);
    if (reserved)
      all.push_back(Reservation(state_, number, state_->workload_of(number), reserved->first, std::move(reserved->rows)));
  }
  return all;
}

Result<> Allocator::release(const WorkloadId& workload) { return state_->release(workload); }
Result<> Allocator::release(const ShardId& shard) { return state_->release(shard); }
Result<NodeIndex> Allocator::add_node(Node node) { return state_->add_node(std::move(node)); }
Result<> Allocator::remove_node(const NodeId& node) { return state_->remove_node(node); }
Result<> Allocator::change_node(Node node) { return state_->change_node(std::move(node)); }

const Node& Allocator::node(NodeIndex index) const { return state_->nodes()[index].node; }
std::vector<Spot> Allocator::row(const ShardId& shard) const { return state_->row(shard); }
std::vector<ShardId> Allocator::shards_on(const NodeId& node) const { return state_->shards_on(node); }

std::vector<NodeUsage> Allocator::usage() const {
  std::vector<NodeUsage> all;
  const detail::AllocatorNodes& nodes = state_->nodes();
  for (const auto& [name, index] : nodes.by_name()) {
    const detail::NodeState& state = nodes[index];
    NodeUsage usage{.name = name, .replicas = state.replicas, .counted = state.counted, .leaders = state.leaders};
    for (std::uint32_t i = 0; i < state.load.size(); ++i) {
      if (state.load[i] != Quantity()) usage.load.emplace(nodes.resource(i), state.load[i]);
    }
    for (const auto& core : state.cores) usage.cores.push_back(core.all);
    all.push_back(std::move(usage));
  }
  return all;
}

Cluster Allocator::observe() const { return state_->observe(); }

}  // namespace evenkeel::place

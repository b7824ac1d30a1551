#pragma once
// Process: one run of a node's program in a FakeCluster: a participant, its client of the store, and the service's handler behind it.

#include <functional>
#include <memory>

#include "evenkeel/base/virtual_loop.h"
#include "evenkeel/node/participant.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::sim {

struct ProcessOptions {
  node::NodeOptions node;
  DataId data;
  Rng rng{0};
  bool empty = false;  // nothing is on its disk, whatever the handler says
  Duration transition = {};
  std::function<void(const Pulse&)> send_pulse;
};

class Process final : public node::Node {
 public:
  Process(VirtualLoop& loop, store::World& world, node::ShardHandler& handler, const ProcessOptions& options);
  ~Process() override;

  bool may_lead(const ShardId& shard, Epoch epoch) const override;
  bool is_current() const override;
  // These two let time pass.
  Result<> ready(Duration timeout) override;
  Result<> leave(Duration timeout) override;
  void refused(const ShardId& shard, Epoch by) override;
  void touch(const ShardId& shard) override;

  void kill();
  const node::Participant* participant() const { return participant_.get(); }  // null: it is over

 private:
  class AtOnce;
  std::function<void(const node::Stuck&)> on_stuck(node::OnStuck what);

  std::shared_ptr<char> alive_ = std::make_shared<char>();
  VirtualLoop& loop_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<AtOnce> handler_;
  std::unique_ptr<node::Participant> participant_;
};

}  // namespace evenkeel::sim

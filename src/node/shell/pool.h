#pragma once
// Pool: a handler that blocks, on threads of its own, as one that does not.
//
// Urgent work (leadership, seals, and replicas that are told of new peers) has threads apart from the slow ones, so that it never waits behind a copy;
// leadership and seals go before the rest of it, and one thread does nothing else. Slow transitions first ask the
// node's resource broker, if there is one: as a task of type `bootstrap` if somebody is to be copied from, otherwise `transition`. What a
// handler throws is its error.
// Answers come on the loop. Destroying it asks what runs to stop, and waits for it; nothing is answered after that.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "evenkeel/base/loop.h"
#include "evenkeel/broker/shell/client.h"
#include "evenkeel/node/handler.h"

namespace evenkeel::node {

// What is on disk, or what the handler threw instead.
Result<std::vector<Held>> inventory_of(ShardHandler& handler);

class Pool final : public AsyncHandler {
 public:
  // `inventory` is what the handler said before; `broker` may be null. The loop and the handler outlive it.
  Pool(Loop& loop, ShardHandler& handler, std::vector<Held> inventory, std::uint32_t threads, broker::Client* broker);
  ~Pool() override;

  void transition(Transition transition, Turn turn, std::stop_token stop,
                  std::move_only_function<void(Result<>)> answer) override;
  bool queues() const override { return true; }
  void on_begun(std::function<void(const ShardId&)> begun) override {
    begun_ = std::make_shared<const std::function<void(const ShardId&)>>(std::move(begun));
  }
  void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) override;
  Status report(const ShardId& shard) override;
  std::vector<Held> inventory() override { return inventory_; }

 private:
  using Work = std::move_only_function<void()>;
  class Lane;

  Result<> run(Transition& transition, Turn turn, const std::stop_token& stop);

  Loop& loop_;
  ShardHandler& handler_;
  std::vector<Held> inventory_;
  broker::Client* broker_;
  std::shared_ptr<const std::function<void(const ShardId&)>> begun_;  // set before the first transition
  std::map<ShardId, Status> reported_;  // the latest of each, for a handler that throws. The loop's thread alone
  std::stop_source ending_;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();  // answers of a pool that is gone are not given
  std::unique_ptr<Lane> urgent_;
  std::unique_ptr<Lane> slow_;
};

}  // namespace evenkeel::node

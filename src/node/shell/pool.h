#pragma once
// Pool: a handler that blocks, on threads of its own, as one that does not.
//
// Urgent work (leadership, seals) has threads apart from the slow ones, so that it never waits behind a copy. Slow transitions first ask the
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

  void transition(Transition transition, bool urgent, std::stop_token stop,
                  std::move_only_function<void(Result<>)> answer) override;
  void seal(ShardId shard, Epoch epoch, std::move_only_function<void(Result<Sealed>)> answer) override;
  Status report(const ShardId& shard) override;
  std::vector<Held> inventory() override { return inventory_; }

 private:
  using Work = std::move_only_function<void()>;
  class Lane;

  Result<> run(const Transition& transition, bool urgent, const std::stop_token& stop);

  Loop& loop_;
  ShardHandler& handler_;
  std::vector<Held> inventory_;
  broker::Client* broker_;
  std::map<ShardId, Status> reported_;  // the latest of each, for a handler that throws. The loop's thread alone
  std::stop_source ending_;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();  // answers of a pool that is gone are not given
  std::unique_ptr<Lane> urgent_;
  std::unique_ptr<Lane> slow_;
};

}  // namespace evenkeel::node

#pragma once
// Handler: a node's handler (node/handler.h) that asks somebody else.
//
//   Handler handler(*asker, who, {.report_every = 5s, .log = &log});
//   if (const auto good = handler.try_inventory(); !good) …            // before the node joins: whether there is somebody to ask
//   auto node = node::Node::join(…, handler);
//   …
//   handler.stop();                                                    // what runs is ended; then the node may go
//
// Reports are asked by a thread of its own, for one shard after the other, and as a part of each transition; the node, which must never wait, is told
// the latest. A shard whose report takes long to fail is asked less and less often, and a round ends with the first of those that fails again, so that the others have their turn. A transition without its report
// has failed: who steps down must say how far its data goes, or its successor would not wait for all of it. Without `report_every`
// nothing is said of progress but in answers to seals.

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "evenkeel/agent/shell/asker.h"
#include "evenkeel/base/clock.h"
#include "evenkeel/base/log.h"

namespace evenkeel::agent {

struct HandlerOptions {
  std::optional<Duration> within;        // of everything; else a transition's own deadline counts, and 10 s for the others
  Duration grace = 5s;                   // see Patience
  std::optional<Duration> report_every;  // nothing: never
  std::stop_token interrupted;           // ends an inventory: nobody counts on this node yet
  Log* log = nullptr;
};

class Handler final : public node::ShardHandler {
 public:
  // `asker` outlives it.
  Handler(Asker& asker, Who who, HandlerOptions options);
  ~Handler() override { stop(); }

  // Whether what is on disk can be asked for. What the answer says is not kept: until the node has its data folder, it may change.
  Result<> try_inventory();
  // Ends what runs, and asks nothing more. Not from within the asker.
  void stop();

  Result<> transition(const node::Transition& transition, std::stop_token stop) override;
  Sealed seal(const ShardId& shard, Epoch epoch) override;
  node::Status report(const ShardId& shard) override;
  // Asks; throws if there is no answer.
  std::vector<node::Held> inventory() override;

 private:
  Result<std::string> ask(const Question& question, Duration within, const std::stop_token& stop);
  Result<std::vector<node::Held>> take_inventory();
  // Keeps the answer if the shard's turn is still this one.
  Result<> take_report(const ShardId& shard, std::uint64_t turn, Duration within);
  Result<> ask_and_report(const node::Transition& transition, std::uint64_t turn, const std::stop_token& stop);
  std::uint64_t begin(const ShardId& shard);  // a turn
  void keep_reporting(const std::stop_token& stop);
  // A shard whose report is to be asked.
  struct Asked {
    ShardId shard;
    std::uint64_t turn;
    bool failed;    // the last time,
    Instant since;  // and since then it need not be left alone any more
  };
  std::vector<Asked> next_round();
  bool take_turn(const Asked& asked);
  void complain(const std::string& what, const Error& error, Duration took);
  Duration short_within() const;

  Asker& asker_;
  const Who who_;
  const HandlerOptions options_;
  const BootClock clock_;
  std::stop_source ending_;
  std::mutex mutex_;
  std::condition_variable_any ends_;
  // A shard that is here. What was asked before its latest transition began says nothing about it any more.
  struct Known {
    node::Status status;
    std::uint64_t turn = 0;  // of its latest transition
    bool is_new = true;      // none has succeeded
    bool runs = false;       // a transition does, which asks for the report itself
    // Of the reports that come by themselves.
    std::uint32_t failures = 0;  // in a row
    Instant quiet_until = Instant::min();
  };
  std::map<ShardId, Known> known_;
  std::uint64_t turns_ = 0;
  struct Complaint {
    Instant quiet_until;
    std::uint64_t unsaid = 0;  // since it was said
  };
  std::map<std::string, Complaint> complaints_;  // by their words
  std::jthread reports_;                         // the last, so the first to go
};

}  // namespace evenkeel::agent

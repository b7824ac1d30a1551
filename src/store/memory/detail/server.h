#pragma once
// World::Server: a State (state.h) behind a network that delays, loses and holds up, and whose chance comes from one seed.
//
// A message travels for a while, and on arrival may be lost, or find its way cut: then it is lost too, or held until the way is open
// again, as a packet that is sent once more. So a write whose caller has given up may still happen.
// A watch has one delivery under way at most. What changes meanwhile is packed into the next, and a delivery that did not arrive is packed
// anew from where the client is.

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "evenkeel/store/memory/detail/state.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::store {

class World::Server : public std::enable_shared_from_this<World::Server> {
 public:
  using Owner = memory::Owner;
  // Pointers, since g++ 12's move_only_function takes no reference to a type that is not yet complete.
  using Reply = std::move_only_function<void(Client*)>;            // what the client does when it arrives
  using Request = std::move_only_function<Reply(Server*, Owner)>;  // what the server does when it arrives
  using WatchId = std::uint64_t;

  Server(Loop& loop, const Faults& faults) : loop_(loop), faults_(faults), rng_(Rng(faults.seed).split("memory")) {}

  Owner attach(std::string name, Client& client);
  void detach(Owner owner);
  void send(Owner from, Request request);

  WatchId watch(Owner from, std::string prefix, std::optional<Revision> after, OnChanges on_changes);
  void unwatch(WatchId id);

  const memory::State& state() const { return state_; }
  const Faults& faults() const { return faults_; }
  Result<Committed> commit(Owner owner, const Txn& txn);
  // A list for somebody who has seen that revision: sometimes a stale one.
  Listing list(const std::string& prefix, Revision seen);
  Result<Revision> compact(Revision before);

  void set_faults(const Faults& faults) { faults_ = faults; }
  void cut_off(const std::string& name);
  void heal(const std::string& name);
  void expire(const std::string& name);
  void stop() { stopped_ = true; }
  void resume();
  Result<> put_back(Revision to);
  void lose_everything();
  void on_commit(std::function<void(const std::string&, const Txn&, const Committed&)> observer) {
    observer_ = std::move(observer);
  }

 private:
  using Message = std::move_only_function<void(Server*)>;
  enum class Way : std::uint8_t { there, back };

  static constexpr std::size_t held_max = 1024;  // messages; what is beyond is lost

  // What the server knows of a client. It stays until the lease is over, even if the client is gone.
  struct Known {
    std::string name;
    Client* client = nullptr;  // null: gone
    std::uint64_t lease = 0;   // counts the times it began anew
  };
  struct Held {
    Owner owner;
    Way way;
    Message message;
  };
  struct Watch {
    Owner owner;
    std::string prefix;
    std::optional<Revision> position;  // up to which the client has it; none: a fresh list is due
    std::shared_ptr<OnChanges> on_changes;
    bool under_way = false;  // a delivery is, or is about to be
    bool stalled = false;    // the last one found its way cut
  };

  Duration delay() {
    return Duration(rng_.between(faults_.delay_min.count(), std::max(faults_.delay_min, faults_.delay_max).count()));
  }
  bool chance(std::uint32_t of_a_million) { return of_a_million > 0 && rng_.chance(of_a_million, 1'000'000); }
  bool blocked(Owner owner) const;
  template <class Work>
  void later(Duration delay, Work work);
  void travel(Owner owner, Way way, Message message);
  void arrive(Owner owner, Way way, Message message);
  void release();
  void hand_over(Owner owner, Reply reply);

  Revision as_of(Revision seen);
  Changes pack(const Watch& watch);
  void deliver(WatchId id);
  void arrive_changes(WatchId id, std::uint64_t life, Changes changes);
  void wake(WatchId id, Duration delay);
  void wake_touched(Revision before);
  void forget_prefix(WatchId id, const std::string& prefix);

  void begin_anew();
  void begin_lease_end(Owner owner);
  void end_lease(Owner owner);

  Loop& loop_;
  Faults faults_;
  Rng rng_;
  memory::State state_;
  std::uint64_t owners_ = 0;
  WatchId watch_ids_ = 0;
  std::map<Owner, Known> known_;
  std::map<WatchId, Watch> watches_;
  std::map<std::string, std::set<WatchId>, std::less<>> watched_;  // by prefix
  std::set<std::string> cut_;
  std::deque<Held> held_;
  bool stopped_ = false;
  std::uint64_t life_ = 0;  // how often it was put back
  std::function<void(const std::string&, const Txn&, const Committed&)> observer_;
};

}  // namespace evenkeel::store

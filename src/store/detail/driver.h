#pragma once
// Driver: performs what a step machine asks for (beat.h), and feeds the answers back. It holds no opinion.
//
// It lives as long as somebody owns it or something is under way; close() ends it. It never touches a store that is gone.

#include <memory>
#include <utility>

#include "evenkeel/store/detail/beat.h"
#include "evenkeel/store/detail/hub.h"

namespace evenkeel::store::detail {

template <class Machine>
class Driver : public std::enable_shared_from_this<Driver<Machine>> {
 public:
  Driver(Store& store, std::string key, Machine machine)
      : store_(store), loop_(store.loop()), alive_(store.alive()), key_(std::move(key)), machine_(std::move(machine)) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void feed(const Input& input) {
    if (closed_ || alive_.expired()) return;
    auto effects = machine_.step(input, loop_.now());
    wake_at(effects.wake);
    if (effects.abandon) ++era_;
    const auto back = [self = this->shared_from_this(), era = era_](const Input& answer) {
      if (era == self->era_) self->feed(answer);
    };
    if (effects.read) store_.get(key_, [back](Result<Read> read) { back(Got{std::move(read)}); });
    if (effects.write) store_.txn(*std::move(effects.write), [back](Result<Committed> done) { back(Wrote{std::move(done)}); });
    perform(effects);
  }

  // Nothing more comes.
  virtual void close() {
    closed_ = true;
    wake_at(Instant::max());
  }

  const Machine& machine() const { return machine_; }
  Store& store() const { return store_; }
  Loop& loop() const { return loop_; }
  const std::string& key() const { return key_; }
  bool closed() const { return closed_; }

 protected:
  // The effects that are this machine's own. May close this driver, or drop the last owner of it.
  virtual void perform(typename Machine::Effects& effects) = 0;

 private:
  // A timer that is set for an earlier moment stays: a Tick too many changes nothing, and most beats only put it off.
  void wake_at(Instant due) {
    if (due != Instant::max() && armed_ <= due) return;
    loop_.cancel(std::exchange(timer_, {}));
    armed_ = due;
    if (due == Instant::max()) return;
    timer_ = loop_.post_at(due, [self = this->shared_from_this()] {
      self->timer_ = {};
      self->armed_ = Instant::max();
      self->feed(Tick{});
    });
  }

  Store& store_;
  Loop& loop_;
  std::weak_ptr<const void> alive_;
  std::string key_;
  Machine machine_;
  Timer timer_;
  Instant armed_ = Instant::max();  // when it is due
  std::uint64_t era_ = 0;           // answers to calls of an earlier one are not wanted
  bool closed_ = false;
};

// The same for a machine that watches its key, through a hub of its own or one that it shares.
template <class Machine>
class WatchingDriver : public Driver<Machine> {
 public:
  using Driver<Machine>::Driver;

  void close() override {
    Driver<Machine>::close();
    following_.reset();
    hub_.reset();
  }

 protected:
  // Watching ended in an error, which waiting cannot help.
  virtual void broken(Error error) = 0;

  void follow(std::shared_ptr<Hub> hub) {
    hub_ = std::move(hub);
    following_ = hub_->follow(this->key(), [weak = this->weak_from_this()](Result<Seen> seen) {
      const auto self = std::static_pointer_cast<WatchingDriver>(weak.lock());
      if (!self || self->closed()) return;
      if (!seen) return self->broken(std::move(seen).error());
      self->feed(*std::move(seen));
    });
  }
  // With a hub of its own, unless there is one already.
  void watch(std::optional<Revision> after) {
    if (!after || hub_) return;
    follow(std::make_shared<Hub>(this->store(), this->key().substr(0, this->key().rfind('/') + 1)));
    hub_->start(after);
  }

 private:
  std::shared_ptr<Hub> hub_;
  std::shared_ptr<Hub::Told> following_;
};

}  // namespace evenkeel::store::detail

#pragma once
// Driver: performs what a step machine asks for, and feeds the answers back. It holds no opinion.
//
// It lives as long as somebody owns it or something is under way; close() ends it. It never touches a store that is gone.

#include <memory>
#include <utility>

#include "evenkeel/locks/detail/folder.h"

namespace evenkeel::locks::detail {

template <class Machine>
class Driver : public std::enable_shared_from_this<Driver<Machine>> {
 public:
  Driver(std::shared_ptr<Common> common, Machine machine)
      : common_(std::move(common)),
        loop_(common_->store().loop()),
        alive_(common_->store().alive()),
        machine_(std::move(machine)) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void feed(const typename Machine::Input& input) {
    if (closed_ || alive_.expired()) return;
    auto effects = machine_.step(input, loop_.now());
    wake_at(effects.wake);
    const auto self = this->shared_from_this();
    if (effects.get)
      store().get(*std::move(effects.get),
                  [self](Result<store::Read> read) { self->feed(typename Machine::Got{std::move(read)}); });
    if (effects.write) {
      store().txn(*std::move(effects.write),
                  [self](Result<store::Committed> done) { self->feed(typename Machine::Wrote{std::move(done)}); });
    }
    perform(effects);
  }

  // Nothing more comes.
  virtual void close() {
    closed_ = true;
    wake_at(Instant::max());
  }

  const Machine& machine() const { return machine_; }
  Loop& loop() const { return loop_; }
  bool closed() const { return closed_; }

 protected:
  // The effects that are this machine's own. May close this driver, or drop the last owner of it.
  virtual void perform(typename Machine::Effects& effects) = 0;

  Common& common() const { return *common_; }
  const std::shared_ptr<Common>& shared_common() const { return common_; }
  store::Store& store() const { return common_->store(); }
  void begin_anew(Machine machine) { machine_ = std::move(machine); }

 private:
  void wake_at(Instant due) {
    loop_.cancel(std::exchange(timer_, {}));
    if (due == Instant::max()) return;
    timer_ = loop_.post_at(due, [self = this->shared_from_this()] {
      self->timer_ = {};
      self->feed(typename Machine::Tick{});
    });
  }

  std::shared_ptr<Common> common_;
  Loop& loop_;
  std::weak_ptr<const void> alive_;
  Machine machine_;
  Timer timer_;
  bool closed_ = false;
};

}  // namespace evenkeel::locks::detail

#include "evenkeel/locks/detail/holding.h"

#include <algorithm>
#include <utility>

namespace evenkeel::locks::detail {

void Holding::start() {
  const auto weak = std::weak_ptr(std::static_pointer_cast<Holding>(shared_from_this()));
  folder_ = common().folder(machine().path());
  following_ = folder_->follow(machine().path(), [weak](const Result<Folder::Seen>& seen) {
    if (const auto self = weak.lock(); self && seen) self->feed(Keeper::Seen{seen->entry, seen->revision});
  });
  if (session_lock()) {
    losing_ = common().on_lost([weak] {
      if (const auto self = weak.lock()) self->feed(Keeper::SessionLost{});
    });
  }
  feed(Keeper::Tick{});
}

Instant Holding::deadline() const {
  const Instant own = deadline_;
  return session_lock() ? std::min(own, common().session()->deadline()) : own;
}

// Never inside the call that asks, and not once the Held is gone.
template <class T>
void Holding::tell(store::Answer<T> answer, Result<T> result) {
  loop().post([self = std::static_pointer_cast<Holding>(shared_from_this()), answer = std::move(answer),
               result = std::move(result)]() mutable {
    if (!self->dropped_) answer(std::move(result));
  });
}

void Holding::renew(store::Answer<Instant> answer) {
  if (session_lock()) {
    if (valid()) return tell(std::move(answer), Result<Instant>(deadline()));
    return tell(std::move(answer),
                Result<Instant>(fail(Code::conflict, "the lock {} is no longer held by this acquisition", machine().path())));
  }
  renewals_.push_back(std::move(answer));
  feed(Keeper::Renew{});
}

void Holding::release(store::Answer<void> answer) {
  releases_.push_back(std::move(answer));
  feed(Keeper::Release{});
}

void Holding::perform(Keeper::Effects& effects) {
  const auto self = shared_from_this();
  deadline_ = machine().deadline();
  good_ = !machine().lost() && !machine().releasing();
  for (auto& renewed : effects.renewed) {
    ensure(!renewals_.empty(), "a renewal is answered once");
    tell(std::move(renewals_.front()), std::move(renewed));
    renewals_.pop_front();
  }
  if (effects.released) {
    for (auto& answer : std::exchange(releases_, {})) tell(std::move(answer), *effects.released);
    if (dropped_) close();
  }
  if (effects.lost && !dropped_) lost_.request_stop();  // last: whoever is told may drop this one
}

void Holding::drop() {
  dropped_ = true;
  renewals_.clear();
  releases_.clear();
  following_.reset();
  folder_.reset();
  if (!machine().releasing() || machine().released()) close();
}

namespace {

class Handle final : public Held {
 public:
  explicit Handle(std::shared_ptr<Holding> holding) : holding_(std::move(holding)) { holding_->start(); }
  ~Handle() override { holding_->drop(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const std::string& path() const override { return holding_->machine().path(); }
  Token token() const override { return holding_->machine().token(); }
  Instant deadline() const override { return holding_->deadline(); }
  bool valid() const override { return holding_->valid(); }
  void renew(store::Answer<Instant> answer) override { holding_->renew(std::move(answer)); }
  void release(store::Answer<void> answer) override { holding_->release(std::move(answer)); }
  std::stop_token lost() const override { return holding_->lost(); }
  store::Compare guard() const override { return store::unchanged(path(), store::Revision(token().value())); }

 private:
  std::shared_ptr<Holding> holding_;
};

}  // namespace

std::unique_ptr<Held> make_held(std::shared_ptr<Common> common, Keeper keeper) {
  return std::make_unique<Handle>(std::make_shared<Holding>(std::move(common), std::move(keeper)));
}

}  // namespace evenkeel::locks::detail

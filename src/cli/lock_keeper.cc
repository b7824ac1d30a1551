#include "evenkeel/cli/lock_keeper.h"

#include <algorithm>

namespace evenkeel::cli {
namespace {

constexpr Duration grace_max = 10s;
constexpr Duration kill_before_max = 500ms;  // what a kill may take

}  // namespace

Keeper::Keeper(Loop& loop, locks::Held& held, Options options, std::function<void(Outside::End)> end)
    : loop_(loop),
      held_(held),
      ttl_(options.ttl),
      grace_(options.grace > Duration(0) ? options.grace : std::min(ttl_ / 4, grace_max)),
      end_(std::move(end)) {}

void Keeper::post_at(Instant due, void (Keeper::*what)()) {
  loop_.post_at(due, [weak = weak_from_this(), what] {
    if (const auto self = weak.lock(); self && !self->over_) ((*self).*what)();
  });
}

void Keeper::start() {
  on_lost_ = std::make_unique<std::stop_callback<std::function<void()>>>(held_.lost(), [this] {
    // Not from inside the lock's own call.
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && !self->over_) self->lose("the lock was lost");
    });
  });
  post_at(later(loop_.now(), ttl_ / 3), &Keeper::renew);
  watch_deadline();
}

void Keeper::stop() {
  over_ = true;
  on_lost_.reset();
}

std::optional<std::string> Keeper::lost() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void Keeper::renew() {
  held_.renew([weak = weak_from_this()](Result<Instant> deadline) {
    if (const auto self = weak.lock(); self && !self->over_) self->renewed(std::move(deadline));
  });
}

void Keeper::renewed(Result<Instant> deadline) {
  if (!deadline) {
    if (deadline.error().code == Code::conflict) return lose(deadline.error().message);
    trouble_ = deadline.error().message;
  } else {
    deadline_ = *deadline;
    trouble_.clear();
  }
  post_at(later(loop_.now(), deadline ? ttl_ / 3 : ttl_ / 20), &Keeper::renew);
}

// Looks again whenever the deadline that it knew has come near: it may have moved on meanwhile.
void Keeper::watch_deadline() {
  if (!lost()) deadline_ = held_.deadline();
  const Instant ask = deadline_ - grace_;
  if (loop_.now() < ask) return post_at(ask, &Keeper::watch_deadline);
  lose(trouble_.empty() ? "the lock could not be renewed in time" : "the lock could not be renewed in time: " + trouble_);
}

void Keeper::lose(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (why_) return;
    why_ = std::move(why);
  }
  end_(Outside::End::politely);
  const Instant latest = deadline_ - std::min(ttl_ / 20, kill_before_max);
  post_at(std::min(later(loop_.now(), grace_), latest), &Keeper::kill);
}

// Again and again, as the command may have been about to start.
void Keeper::kill() {
  end_(Outside::End::at_once);
  post_at(later(loop_.now(), 50ms), &Keeper::kill);
}

}  // namespace evenkeel::cli

#include "evenkeel/locks/detail/acquisition.h"

#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/locks/detail/holding.h"

namespace evenkeel::locks::detail {

void Acquisition::start(bool fair, const std::stop_token& stop) {
  keep_ = self();
  listen(stop);
  // Not inside the call that asks for it.
  loop().post([self = self(), fair] {
    if (self->closed() || !self->done_) return;
    fair ? self->queue_up() : self->begin({});
  });
}

void Acquisition::listen(const std::stop_token& stop) {
  const std::weak_ptr<Acquisition> weak = self();
  if (wish_.record.kind == Kind::session) {
    losing_ = common().on_lost([weak] {
      if (const auto self = weak.lock()) self->on_session_lost();
    });
  }
  // Any thread may stop it, and inside this constructor's call too.
  stopping_ = std::make_unique<Stopping>(stop, [weak, &loop = loop()] {
    loop.post([weak] {
      if (const auto self = weak.lock())
        self->end({Code::cancelled, fmt::format("waiting for {} was stopped", self->wish_.path)});
    });
  });
}

void Acquisition::queue_up() {
  const std::weak_ptr<Acquisition> weak = self();
  turn_ = std::make_shared<Turn>(shared_common(), wish_,
                                 Turn::Events{[weak](const std::string& key) {
                                                if (const auto self = weak.lock()) self->begin(key);
                                              },
                                              [weak](Error error) {
                                                if (const auto self = weak.lock()) self->end(std::move(error));
                                              }});
  join();
}

void Acquisition::join() {
  begun_ = false;
  turn_->join();
  if (wish_.until == Instant::max()) return;
  loop().cancel(patience_);
  patience_ = loop().post_at(wish_.until, [weak = std::weak_ptr(self())] {
    const auto self = weak.lock();
    if (!self || self->begun_) return;
    self->end({Code::conflict, fmt::format("{} are ahead in the queue of {}", self->turn_->before(), self->wish_.path)});
  });
}

void Acquisition::begin(std::string queued) {
  begun_ = true;
  wish_.queued = std::move(queued);
  begin_anew(Acquirer(wish_));
  if (!folder_) {
    folder_ = common().folder(wish_.path);
    following_ = folder_->follow(wish_.path, [weak = std::weak_ptr(self())](const Result<Folder::Seen>& seen) {
      const auto self = weak.lock();
      if (!self || !self->begun_) return;
      if (!seen) return self->end(seen.error());
      self->feed(Acquirer::Seen{seen->entry, seen->revision});
    });
  }
  feed(Acquirer::Tick{});
}

void Acquisition::observe(const std::string& beat) {
  observer_.reset();
  if (beat.empty()) return;
  beats_ = common().beats(beat);
  observer_ = std::make_unique<store::Observer>(*beats_, beat, store::Observer::Mode::end_it,
                                                [weak = std::weak_ptr(self())](const Result<store::Ended>& ended) {
                                                  if (const auto self = weak.lock()) self->feed(Acquirer::Over{ended});
                                                });
}

// What is in the air goes with the session.
void Acquisition::on_session_lost() {
  const auto keep = self();
  end(session_is_lost());
  close();
}

Error Acquisition::session_is_lost() const {
  return {Code::refused, fmt::format("the session {} is lost, and its locks are with it", quote(wish_.record.identity))};
}

void Acquisition::end(Error error) {
  if (closed() || !done_) return;
  begun_ ? feed(Acquirer::Stop{std::move(error)}) : finish(fail(std::move(error)));
}

void Acquisition::perform(Acquirer::Effects& effects) {
  const auto keep = self();
  if (wish_.record.ttl == Duration{}) common().session_ttl = wish_.record.ttl = machine().record().ttl;
  if (effects.observe) observe(*effects.observe);
  if (effects.displaced) return join();
  if (effects.done) finish(std::move(*effects.done));
  if (machine().finished()) close();
}

void Acquisition::finish(Result<Acquired> acquired) {
  const auto keep = self();
  // The answer may have lain in a suspended host's buffers, and be handed over before the session hears of its end.
  if (acquired && wish_.record.kind == Kind::session && common().session_lost()) acquired = fail(session_is_lost());
  Done done = std::move(done_);
  done_ = nullptr;
  stopping_.reset();
  loop().cancel(patience_);
  following_.reset();
  if (turn_) turn_->close(acquired.has_value());
  if (!begun_) close();
  if (!acquired) return done(fail(std::move(acquired).error()));
  done(make_held(shared_common(), Keeper(wish_.path, *acquired, wish_.margin)));
}

void Acquisition::close() {
  if (closed()) return;
  Driver::close();
  done_ = nullptr;
  losing_.reset();
  stopping_.reset();
  following_.reset();
  folder_.reset();
  observer_.reset();
  beats_.reset();
  loop().cancel(patience_);
  if (turn_) turn_->close(false);
  loop().post([keep = std::exchange(keep_, nullptr)] {});  // whoever closes it may be one of its own functions
}

}  // namespace evenkeel::locks::detail

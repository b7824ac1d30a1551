#include "evenkeel/locks/detail/turn.h"

#include <algorithm>
#include <utility>

namespace evenkeel::locks::detail {
namespace {

constexpr Duration pause = 200ms;
constexpr Duration queue_ttl_max = 10s;  // a dead one ahead costs that much, and a living one three writes in that time

store::Txn erasing(const std::string& key) {
  store::Txn txn;
  txn.erase(key);
  return txn;
}

// A session lock's own ttl may not be known yet.
Duration ttl_of(const Wish& wish) {
  return wish.record.ttl == Duration{} ? queue_ttl_max : std::min(wish.record.ttl, queue_ttl_max);
}

}  // namespace

Turn::Turn(std::shared_ptr<Common> common, const Wish& wish, Events events)
    : common_(std::move(common)),
      alive_(common_->store().alive()),
      path_(wish.path),
      owner_(wish.record.owner),
      meta_(wish.record.meta),
      ttl_(ttl_of(wish)),
      until_(wish.until),
      events_(std::move(events)) {}

Turn::~Turn() = default;

void Turn::join() {
  first_ = false;
  observer_.reset();
  ahead_.clear();
  if (session_) {  // what is left of the place before, if anything
    session_.reset();
    sweep(erasing(key_));
  }
  key_ = fmt::format("{}{}-{}", queue_prefix(path_), owner_, ++joins_);
  const Duration left = std::max(until_ - store().loop().now(), Duration{});
  store::SessionOptions options{.key = key_, .ttl = ttl_, .meta = meta_};
  store::Session::open(store(), std::move(options), until_ == Instant::max() ? Duration::max() : left,
                       [self = shared_from_this(), key = key_](Result<std::unique_ptr<store::Session>> session) {
                         if (!self->closed_ && self->key_ == key) return self->on_joined(std::move(session));
                         if (session && !self->alive_.expired()) self->sweep(erasing(key));
                       });
}

void Turn::on_joined(Result<std::unique_ptr<store::Session>> session) {
  if (!session) return events_.failed(std::move(session).error().in(fmt::format("the queue of {}", path_)));
  session_ = *std::move(session);
  const auto weak = weak_from_this();
  session_->on_event([weak, key = key_](store::Session::Event event) {
    const auto self = weak.lock();
    // Whoever is first and loses its place finds out when it takes the lock.
    if (!self || self->closed_ || self->first_ || self->key_ != key || event != store::Session::Event::lost) return;
    self->join();
  });
  if (!folder_) {
    folder_ = common_->folder(path_);
    following_ = folder_->follow(queue_prefix(path_), [weak](const Result<Folder::Seen>& seen) {
      const auto self = weak.lock();
      if (!self || self->closed_) return;
      if (!seen) return self->events_.failed(seen.error());
      self->on_moved();
    });
  }
  look();
}

void Turn::on_moved() {
  if (!session_ || first_) return;
  if (looking_)
    again_ = true;
  else
    look();
}

void Turn::look() {
  looking_ = true;
  again_ = false;
  store().list(queue_prefix(path_), [weak = weak_from_this(), key = key_](Result<store::Listing> listing) {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    self->looking_ = false;
    if (self->key_ == key) self->on_listed(listing);
  });
}

void Turn::on_listed(const Result<store::Listing>& listing) {
  if (!session_ || first_) return;
  if (!listing && !may_pass(listing.error().code)) return events_.failed(listing.error());
  if (!listing) return look_later();
  const Place place = place_in(listing->entries, key_);
  before_ = place.before;
  if (place.gone) return join();
  if (place.ahead) {
    observe(place.ahead->key);
    if (again_) look();
    return;
  }
  first_ = true;
  observer_.reset();
  events_.first(key_);
}

void Turn::look_later() {
  store().loop().cancel(timer_);
  timer_ = store().loop().post_after(pause, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->closed_ && !self->alive_.expired()) self->on_moved();
  });
}

void Turn::observe(const std::string& ahead) {
  if (ahead_ == ahead && observer_) return;
  ahead_ = ahead;
  if (!beats_) beats_ = common_->beats(ahead);
  observer_ = std::make_unique<store::Observer>(*beats_, ahead, store::Observer::Mode::end_it,
                                                [weak = weak_from_this(), ahead](const Result<store::Ended>& ended) {
                                                  const auto self = weak.lock();
                                                  if (self && !self->closed_) self->on_over(ahead, ended);
                                                });
}

// Whether it was deleted, is ended, or holds something that is no beat: it is in nobody's way any more.
void Turn::on_over(const std::string& ahead, const Result<store::Ended>& ended) {
  observer_.reset();
  if (!ended && ended.error().code != Code::invalid) return events_.failed(ended.error());
  store::Txn txn;
  if (ended && !ended->identity.empty()) txn.compare(store::unchanged(ahead, ended->revision));
  txn.erase(ahead);
  sweep(std::move(txn));
}

void Turn::sweep(store::Txn txn) {
  store().txn(std::move(txn), [weak = weak_from_this()](Result<store::Committed>) {
    const auto self = weak.lock();
    if (self && !self->closed_) self->look_later();
  });
}

void Turn::close(bool taken) {
  if (std::exchange(closed_, true)) return;
  observer_.reset();
  session_.reset();
  following_.reset();
  if (alive_.expired()) return;
  store().loop().cancel(timer_);
  if (!taken && !key_.empty()) store().txn(erasing(key_), [](Result<store::Committed>) {});
}

}  // namespace evenkeel::locks::detail

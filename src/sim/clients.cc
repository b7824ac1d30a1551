#include "evenkeel/sim/clients.h"

#include <algorithm>
#include <utility>

namespace evenkeel::sim {
namespace {

constexpr std::uint64_t stale_one_in = 8;  // writes go to the leader of some time before
constexpr std::size_t known_max = 10'000;  // shards of which such a one is remembered
constexpr std::uint32_t ticks_max = 1000;  // a second; more writes than that go several at a time

}  // namespace

Clients::Clients(VirtualLoop& loop, Services& services, ClientLookups lookups, Rng rng)
    : loop_(loop), services_(services), lookups_(std::move(lookups)), rng_(rng) {}

Clients::~Clients() { loop_.cancel(timer_); }

void Clients::set_rate(std::uint32_t writes_per_second) {
  loop_.cancel(std::exchange(timer_, {}));
  rate_ = writes_per_second;
  if (rate_ > 0) timer_ = loop_.post_after(Duration(1s) / std::min(rate_, ticks_max), [this] { tick(); });
}

void Clients::tick() {
  const std::uint32_t ticks = std::min(rate_, ticks_max);
  owed_ += rate_;
  for (; owed_ >= ticks; owed_ -= ticks) write();
  timer_ = loop_.post_after(Duration(1s) / ticks, [this] { tick(); });
}

void Clients::write() {
  const auto key = lookups_.pick(rng_);
  if (!key) return;
  const std::optional<ShardId> shard = lookups_.home ? lookups_.home(*key, rng_) : *key;
  ++counts_->sent;
  auto node = lookups_.leader(*shard);
  if (node && known_.size() < known_max) {
    NodeId& known = known_.try_emplace(*shard, *node).first->second;
    if (rng_.chance(1, stale_one_in)) std::swap(known, *node);
  }
  if (!node) {
    ++counts_->refused;
    return;
  }
  services_.write("clients", *node, *shard, key->shard, [counts = counts_](WriteAnswer answer) {
    counts->acknowledged += answer == WriteAnswer::acknowledged ? 1 : 0;
    counts->refused += answer == WriteAnswer::refused ? 1 : 0;
    counts->unknown += answer == WriteAnswer::unknown ? 1 : 0;
  });
}

}  // namespace evenkeel::sim

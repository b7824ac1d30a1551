#include "evenkeel/sim/network.h"

namespace evenkeel::sim {
namespace {

template <class Key>
void count_down(std::map<Key, std::uint32_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  if (found == counts.end()) return;
  if (--found->second == 0) counts.erase(found);
}

}  // namespace

Network::Pair Network::pair(const std::string& one, const std::string& other) {
  return one < other ? Pair(one, other) : Pair(other, one);
}

const std::string* Network::group_of(const std::string& host) const {
  const auto found = groups_.find(host);
  return found == groups_.end() ? nullptr : &found->second;
}

void Network::join_group(const std::string& host, std::string group) { groups_.insert_or_assign(host, std::move(group)); }

void Network::cut(const std::string& host) { ++cuts_[host]; }
void Network::heal(const std::string& host) { count_down(cuts_, host); }
void Network::cut(const std::string& one, const std::string& other) { ++pairs_[pair(one, other)]; }
void Network::heal(const std::string& one, const std::string& other) { count_down(pairs_, pair(one, other)); }

bool Network::passes(const std::string& one, const std::string& other) const {
  if (!cuts_.empty() && (cuts_.contains(one) || cuts_.contains(other))) return false;
  if (pairs_.empty()) return true;
  const std::string* one_group = group_of(one);
  const std::string* other_group = group_of(other);
  const auto is_cut = [&](const std::string* a, const std::string* b) {
    return a != nullptr && b != nullptr && pairs_.contains(pair(*a, *b));
  };
  return !is_cut(&one, &other) && !is_cut(&one, other_group) && !is_cut(one_group, &other) && !is_cut(one_group, other_group);
}

void Network::send(const std::string& from, Address to, Loop::Callback message) {
  ++sent_;
  const Duration delay(rng_.between(0, one_way_max_.count()));  // drawn for lost ones too: a cut shifts nobody else's delays
  if (!passes(from, to.host)) {
    ++lost_;
    return;
  }
  loop_.post_after(delay, [this, from, to = std::move(to), message = std::move(message)]() mutable {
    arrive(from, std::move(to), std::move(message));
  });
}

void Network::arrive(const std::string& from, Address to, Loop::Callback message) {
  if (!passes(from, to.host) || (!to.always && to.alive.expired())) {
    ++lost_;
    return;
  }
  if (to.loop == nullptr) return message();
  to.loop->post([to, message = std::move(message)]() mutable {
    if (to.always || !to.alive.expired()) message();
  });
}

}  // namespace evenkeel::sim

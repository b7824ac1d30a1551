#include "evenkeel/store/memory/detail/server.h"

#include <algorithm>

#include "evenkeel/store/memory/detail/client.h"

namespace evenkeel::store {

// ------------------------------------------------------------------------------------------------------------- the network

template <class Work>
void World::Server::later(Duration delay, Work work) {
  loop_.post_after(delay, [self = weak_from_this(), work = std::move(work)]() mutable {
    if (const auto server = self.lock()) work(*server);
  });
}

bool World::Server::blocked(Owner owner) const { return stopped_ || cut_.contains(known_.at(owner).name); }

void World::Server::travel(Owner owner, Way way, Message message) {
  later(delay(),
        [owner, way, message = std::move(message)](Server& server) mutable { server.arrive(owner, way, std::move(message)); });
}

void World::Server::arrive(Owner owner, Way way, Message message) {
  if (!known_.contains(owner)) return;
  if (chance(way == Way::there ? faults_.lost_requests : faults_.lost_answers)) return;
  if (!blocked(owner)) return message(this);
  if (held_.size() < held_max && rng_.chance(1, 2)) held_.push_back({owner, way, std::move(message)});
}

// What is still blocked is held again, or lost.
void World::Server::release() {
  for (Held& held : std::exchange(held_, {})) travel(held.owner, held.way, std::move(held.message));
  for (auto& [id, watch] : watches_) {
    if (std::exchange(watch.stalled, false)) wake(id, delay());
  }
}

void World::Server::send(Owner from, Request request) {
  travel(from, Way::there, [from, request = std::move(request)](Server* server) mutable {
    Reply reply = request(server, from);
    server->travel(from, Way::back,
                   [from, reply = std::move(reply)](Server* back) mutable { back->hand_over(from, std::move(reply)); });
  });
}

// A client on a loop of its own gets it when that loop runs.
void World::Server::hand_over(Owner owner, Reply reply) {
  const auto found = known_.find(owner);
  if (found == known_.end() || found->second.client == nullptr) return;
  Client& client = *found->second.client;
  if (&client.loop() == &loop_) return reply(&client);
  client.loop().post([self = weak_from_this(), owner, reply = std::move(reply)]() mutable {
    const auto server = self.lock();
    if (!server) return;
    const auto still = server->known_.find(owner);
    if (still != server->known_.end() && still->second.client != nullptr) reply(still->second.client);
  });
}

// ------------------------------------------------------------------------------------------------------------- reads, writes

Result<Committed> World::Server::commit(Owner owner, const Txn& txn) {
  const Revision before = state_.revision();
  auto done = state_.apply(txn, owner);
  if (!done) return done;
  state_.keep(faults_.history);
  if (observer_) observer_(known_.at(owner).name, txn, *done);
  if (state_.revision() != before) wake_touched(before);
  return done;
}

// Those that watch something above what was written: a prefix ends with a slash, so there are few of a key. One that waits for news has all
// that was before this, since it is woken by whatever concerns it.
void World::Server::wake_touched(Revision before) {
  std::vector<WatchId> touched;
  for (const std::string_view key : state_.touched()) {
    for (std::size_t end = key.find('/'); end != key.npos; end = key.find('/', end + 1)) {
      const auto found = watched_.find(key.substr(0, end + 1));
      if (found != watched_.end()) touched.insert(touched.end(), found->second.begin(), found->second.end());
    }
  }
  std::ranges::sort(touched);
  const auto twice = std::ranges::unique(touched);
  touched.erase(twice.begin(), twice.end());
  for (const WatchId id : touched) {
    Watch& watch = watches_.at(id);
    if (watch.under_way || watch.stalled) continue;
    if (watch.position) watch.position = std::max(*watch.position, before);
    wake(id, {});
  }
}

Revision World::Server::as_of(Revision seen) {
  if (!chance(faults_.stale_lists)) return state_.revision();
  seen = std::min(seen, state_.revision());  // it may have seen what the store has lost
  while (!state_.remembers(seen)) ++seen;
  return Revision(rng_.between(seen.value(), state_.revision().value()));
}

Listing World::Server::list(const std::string& prefix, Revision seen) {
  const Revision at = as_of(seen);
  return {state_.list_at(prefix, at), at};
}

Result<Revision> World::Server::compact(Revision before) {
  if (before > state_.revision())
    return fail(Code::invalid, "revision {} is still to come: the store is at {}", before, state_.revision());
  state_.forget(before);
  return state_.revision();
}

// ------------------------------------------------------------------------------------------------------------- watches

World::Server::WatchId World::Server::watch(Owner from, std::string prefix, std::optional<Revision> after, OnChanges on_changes) {
  const WatchId id = ++watch_ids_;
  watched_[prefix].insert(id);
  watches_.emplace(id, Watch{from, std::move(prefix), after, std::make_shared<OnChanges>(std::move(on_changes)), false, false});
  wake(id, delay());
  return id;
}

// Destroys what it owns when the map is in order again.
void World::Server::unwatch(WatchId id) {
  const auto gone = watches_.extract(id);
  if (gone) forget_prefix(id, gone.mapped().prefix);
}

void World::Server::forget_prefix(WatchId id, const std::string& prefix) {
  const auto found = watched_.find(prefix);
  found->second.erase(id);
  if (found->second.empty()) watched_.erase(found);
}

void World::Server::wake(WatchId id, Duration delay) {
  watches_.at(id).under_way = true;
  later(delay, [id](Server& server) { server.deliver(id); });
}

Changes World::Server::pack(const Watch& watch) {
  const bool fresh = !watch.position || !state_.remembers(*watch.position) || chance(faults_.late_watch);
  if (!fresh) {
    const Revision until = state_.revision();
    return {false, state_.changes(watch.prefix, *watch.position, until, rng_.chance(1, 2)), until};
  }
  const Client* client = known_.at(watch.owner).client;
  Revision seen = client != nullptr ? client->seen() : Revision();
  // A position that is still to come is of another store: it says nothing.
  if (watch.position && *watch.position <= state_.revision()) seen = std::max(seen, *watch.position);
  Changes changes{.fresh = true, .changes = {}, .revision = as_of(seen)};
  for (Entry& entry : state_.list_at(watch.prefix, changes.revision)) {
    std::string key = entry.key;
    changes.changes.push_back({std::move(key), std::move(entry)});
  }
  return changes;
}

void World::Server::deliver(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  Watch& watch = found->second;
  if (blocked(watch.owner)) {
    watch.under_way = false;
    watch.stalled = true;
    return;
  }
  Changes changes = pack(watch);
  if (!changes.fresh && changes.changes.empty()) {
    watch.position = changes.revision;
    watch.under_way = false;
    return;
  }
  later(delay(), [id, life = life_, changes = std::move(changes)](Server& server) mutable {
    server.arrive_changes(id, life, std::move(changes));
  });
}

void World::Server::arrive_changes(WatchId id, std::uint64_t life, Changes changes) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  Watch& watch = found->second;
  // A delivery that is lost is a connection that breaks, and is made again a while later.
  if (blocked(watch.owner) || life != life_) return deliver(id);
  if (chance(faults_.lost_answers)) return wake(id, delay() + faults_.timeout / 10);
  watch.position = changes.revision;
  const bool behind = state_.revision() > changes.revision;
  watch.under_way = false;
  if (behind) wake(id, {});
  hand_over(watch.owner, [weak = std::weak_ptr(watch.on_changes), changes = std::move(changes)](Client* client) mutable {
    const auto on_changes = weak.lock();  // none: it is no longer watched
    if (!on_changes) return;
    client->saw(changes.revision);
    (*on_changes)(std::move(changes));
  });
}

// ------------------------------------------------------------------------------------------------------------- clients, leases

World::Server::Owner World::Server::attach(std::string name, Client& client) {
  const Owner owner(++owners_);
  known_.emplace(owner, Known{std::move(name), &client, 0});
  return owner;
}

void World::Server::detach(Owner owner) {
  // What a watch's function owns may be a handle of another watch, so those are destroyed when the map is in order again.
  std::vector<std::map<WatchId, Watch>::node_type> gone;
  for (auto at = watches_.begin(); at != watches_.end();) {
    const auto watch = at++;
    if (watch->second.owner != owner) continue;
    forget_prefix(watch->first, watch->second.prefix);
    gone.push_back(watches_.extract(watch));
  }
  known_.at(owner).client = nullptr;
  begin_lease_end(owner);
}

void World::Server::begin_lease_end(Owner owner) {
  later(faults_.lease, [owner, lease = ++known_.at(owner).lease](Server& server) {
    const auto found = server.known_.find(owner);
    // A server that does not run ends nothing; resume() begins all leases anew.
    if (found == server.known_.end() || found->second.lease != lease || server.stopped_) return;
    server.end_lease(owner);
    if (found->second.client == nullptr) server.known_.erase(found);
  });
}

void World::Server::end_lease(Owner owner) {
  const Txn txn = state_.expiry(owner);
  if (!txn.then.empty()) ensure(commit(owner, txn).has_value(), "a lease's end compares nothing");
}

void World::Server::cut_off(const std::string& name) {
  if (!cut_.insert(name).second) return;
  for (const auto& [owner, known] : known_) {
    if (known.name == name && known.client != nullptr) begin_lease_end(owner);
  }
}

void World::Server::heal(const std::string& name) {
  if (cut_.erase(name) == 0) return;
  for (auto& [owner, known] : known_) {
    if (known.name == name && known.client != nullptr) ++known.lease;
  }
  release();
}

void World::Server::expire(const std::string& name) {
  std::vector<Owner> owners;
  for (const auto& [owner, known] : known_) {
    if (known.name == name) owners.push_back(owner);
  }
  for (const Owner owner : owners) end_lease(owner);
}

Result<> World::Server::put_back(Revision to) {
  if (!state_.remembers(to)) return fail(Code::refused, "the memory store does not remember revision {}", to);
  state_.put_back(to);
  begin_anew();
  return {};
}

void World::Server::lose_everything() {
  state_.clear();
  begin_anew();
}

// Where a watch was says nothing any more. A lease that has ended since is not alive again for long.
void World::Server::begin_anew() {
  ++life_;
  for (auto& [id, watch] : watches_) {
    watch.position.reset();
    if (!watch.under_way && !watch.stalled) wake(id, delay());
  }
  for (const Owner owner : state_.owners()) {
    const auto [known, is_new] = known_.try_emplace(owner, Known{"gone", nullptr, 0});
    if (is_new) begin_lease_end(owner);
  }
}

void World::Server::resume() {
  if (!std::exchange(stopped_, false)) return;
  for (const auto& [owner, known] : known_) {
    if (known.client == nullptr || cut_.contains(known.name)) begin_lease_end(owner);
  }
  release();
}

}  // namespace evenkeel::store

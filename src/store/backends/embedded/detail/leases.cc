#include "evenkeel/store/backends/embedded/detail/leases.h"

#include <algorithm>

#include "evenkeel/store/backends/embedded/detail/check.h"

namespace evenkeel::store::embedded::detail {

void Leases::add(LeaseId id, Duration ttl, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto deadline = later(now, ttl);
  // It may be there still, if it was revoked and granted again in one group.
  if (const auto found = held_.find(id); found != held_.end()) due_.erase({found->second.deadline, id});
  held_[id] = {ttl, deadline, false, {}};
  due_.emplace(deadline, id);
}

void Leases::remove(LeaseId id) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  due_.erase({found->second.deadline, id});
  held_.erase(found);
}

void Leases::move_key(const std::string& key, LeaseId from, LeaseId to) {
  if (from == to) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(from); found != held_.end()) found->second.keys.erase(key);
  if (const auto found = held_.find(to); found != held_.end()) found->second.keys.insert(key);
}

bool Leases::has(LeaseId id) const {
  const std::lock_guard lock(mutex_);
  return held_.contains(id);
}

Result<Lease> Leases::get(LeaseId id, Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end()) return fail(lease_error());
  const auto& held = found->second;
  return Lease{id, held.ttl, std::max(held.deadline - now, Duration{}), {held.keys.begin(), held.keys.end()}};
}

std::vector<LeaseId> Leases::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<LeaseId> ids;
  ids.reserve(held_.size());
  for (const auto& [id, held] : held_) ids.push_back(id);
  return ids;
}

std::size_t Leases::count() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

std::vector<std::string> Leases::keys(LeaseId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end()) return {};
  return {found->second.keys.begin(), found->second.keys.end()};
}

// One whose time is over but whose end has not begun to be written is still there for all to see: it may live on.
Result<Lease> Leases::keep_alive(LeaseId id, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.ending) return fail(lease_error());
  auto& held = found->second;
  due_.erase({held.deadline, id});
  held.deadline = later(now, held.ttl);
  due_.emplace(held.deadline, id);
  return Lease{id, held.ttl, held.ttl, {}};
}

std::vector<LeaseId> Leases::take_over(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<LeaseId> over;
  while (!due_.empty() && due_.begin()->first <= now) {
    over.push_back(due_.begin()->second);
    held_[over.back()].ending = true;
    due_.erase(due_.begin());
  }
  return over;
}

void Leases::give_back(LeaseId id) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(id);
  if (found == held_.end() || !found->second.ending) return;
  found->second.ending = false;
  due_.emplace(found->second.deadline, id);
}

std::optional<Instant> Leases::next() const {
  const std::lock_guard lock(mutex_);
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace evenkeel::store::embedded::detail

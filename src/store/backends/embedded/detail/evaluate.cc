#include "evenkeel/store/backends/embedded/detail/evaluate.h"

#include <algorithm>
#include <set>

#include "evenkeel/store/backends/embedded/detail/check.h"

namespace evenkeel::store::embedded::detail {
namespace {

bool filtered(const Range& range) {
  return range.min_mod != 0 || range.max_mod != 0 || range.min_create != 0 || range.max_create != 0;
}

template <class T>
bool compare(Condition::Is is, const T& have, const T& wanted) {
  switch (is) {
    case Condition::Is::equal:
      return have == wanted;
    case Condition::Is::greater:
      return have > wanted;
    case Condition::Is::less:
      return have < wanted;
    case Condition::Is::not_equal:
      return have != wanted;
  }
  return false;
}

bool compare(const Condition& condition, const KeyValue& entry) {
  switch (condition.of) {
    case Condition::Of::version:
      return compare(condition.is, entry.version, condition.number);
    case Condition::Of::create:
      return compare(condition.is, entry.create_revision, condition.number);
    case Condition::Of::mod:
      return compare(condition.is, entry.mod_revision, condition.number);
    case Condition::Of::lease:
      return compare(condition.is, entry.lease, condition.number);
    case Condition::Of::value:
      return compare(condition.is, entry.value, condition.value);
  }
  return false;
}

template <class Field>
void sort_by(std::vector<KeyValue>& entries, bool descend, Field field) {
  if (descend) {
    std::ranges::stable_sort(entries, std::ranges::greater{}, field);
  } else {
    std::ranges::stable_sort(entries, std::ranges::less{}, field);
  }
}

}  // namespace

Result<> check_revision(std::int64_t wanted, std::int64_t compacted, std::int64_t revision) {
  if (wanted > revision) return fail(future_error());
  if (wanted > 0 && wanted < compacted) return fail(compacted_error());
  return {};
}

// Where nothing is sorted or filtered, one more than the limit is enough to know whether there is more; etcd's limit is applied before
// the sort by another field if no order was asked for.
void Reading::collect(const View& view, std::int64_t revision) {
  found_.revision = revision;
  const auto at = range_.revision > 0 ? range_.revision : revision;
  const bool all = range_.limit <= 0 || range_.order != Range::Order::none || filtered(range_);
  const auto most = all ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(range_.limit) + 1;
  const bool values = !range_.keys_only || range_.by == Range::By::value;
  view.visit(range_.span, at, [&](const Seen& seen) {
    ++found_.count;
    if (range_.count_only || found_.entries.size() >= most) return true;
    if (seen.pending != nullptr) {
      found_.entries.push_back(*seen.pending);
    } else if (seen.latest != nullptr) {
      const auto& item = *seen.latest;
      found_.entries.push_back({std::string(seen.key), values ? item.value : std::string(), item.create, item.latest.revision,
                                item.version, item.lease});
    } else {
      on_disk_.emplace_back(found_.entries.size(), seen.stamp);
      found_.entries.emplace_back();
    }
    return true;
  });
}

void Reading::keep_if_asked() {
  const auto outside = [](std::int64_t number, std::int64_t min, std::int64_t max) {
    return (min != 0 && number < min) || (max != 0 && number > max);
  };
  std::erase_if(found_.entries, [&](const KeyValue& entry) {
    return outside(entry.mod_revision, range_.min_mod, range_.max_mod) ||
           outside(entry.create_revision, range_.min_create, range_.max_create);
  });
}

void Reading::sort() {
  const bool descend = range_.order == Range::Order::descend;
  switch (range_.by) {
    case Range::By::key:
      if (descend) std::ranges::reverse(found_.entries);
      return;
    case Range::By::version:
      return sort_by(found_.entries, descend, &KeyValue::version);
    case Range::By::create:
      return sort_by(found_.entries, descend, &KeyValue::create_revision);
    case Range::By::mod:
      return sort_by(found_.entries, descend, &KeyValue::mod_revision);
    case Range::By::value:
      return sort_by(found_.entries, descend, &KeyValue::value);
  }
}

Result<Found> Reading::finish(const Fetch& fetch) && {
  for (const auto& [place, stamp] : on_disk_) {
    auto entry = fetch(stamp);
    if (!entry) return fail(std::move(entry).error());
    found_.entries[place] = *std::move(entry);
  }
  if (filtered(range_)) keep_if_asked();
  sort();
  if (range_.limit > 0 && found_.entries.size() > static_cast<std::size_t>(range_.limit)) {
    found_.entries.resize(static_cast<std::size_t>(range_.limit));
    found_.more = true;
  }
  if (range_.keys_only)
    for (auto& entry : found_.entries) entry.value.clear();
  return std::move(found_);
}

Group::Group(const Index& index, std::int64_t revision, std::int64_t compacted, LeasesBefore leases_before, Fetch fetch)
    : view_{index, &overlay_},
      revision_(revision),
      compacted_(compacted),
      leases_before_(std::move(leases_before)),
      fetch_(std::move(fetch)) {}

// As etcd: all conditions, those of nested txns too, are taken on the state before the request; then what would be done is checked; then it
// is done, and cannot fail half-way but for the disk, in which case it is undone.
Result<Outcome> Group::run(const Request& request, const LeaseGuard& guard) {
  Branch path;
  choose(request, path);
  std::size_t at = 0;
  if (auto good = check_taken(request, guard, path, at); !good) return fail(std::move(good).error());
  const auto size = overlay_.changes().size();
  at = 0;
  auto outcome = execute(request, path, at);
  if (!outcome) {
    overlay_.roll_back(size);
  } else {
    revision_ = current();
    outcome->revision = revision_;
  }
  sub_ = 0;
  return outcome;
}

std::int64_t Group::erase_keys(const std::vector<std::string>& keys) {
  for (const auto& key : keys) erase({.span = {.key = key, .end = {}}, .previous = false});
  revision_ = current();
  sub_ = 0;
  return revision_;
}

bool Group::has_lease(LeaseId id) const {
  const auto found = leases_.find(id);
  return found != leases_.end() ? found->second.has_value() : leases_before_.has(id);
}

std::vector<std::string> Group::keys_of(LeaseId id) const {
  const auto before = leases_before_.keys(id);
  std::set<std::string> keys(before.begin(), before.end());
  for (const auto& [key, changes] : overlay_.keys()) {
    if (changes.back()->entry.lease == id) {
      keys.emplace(key);
    } else {
      keys.erase(std::string(key));
    }
  }
  return {keys.begin(), keys.end()};
}

void Group::choose(const Request& request, Branch& path) const {
  const bool then = std::ranges::all_of(request.conditions, [&](const Condition& condition) { return holds(condition); });
  path.push_back(then);
  for (const auto& operation : then ? request.then : request.otherwise)
    if (const auto* nested = std::get_if<std::shared_ptr<Request>>(&operation)) choose(**nested, path);
}

// A key that is not there has zeros for numbers, and no value that could be compared.
bool Group::holds(const Condition& condition) const {
  bool any = false;
  bool all = true;
  view_.visit(condition.span, revision_, [&](const Seen& seen) {
    any = true;
    all = compare(condition, entry_of(seen));
    return all;
  });
  if (!any) return condition.of != Condition::Of::value && compare(condition, KeyValue{});
  return all;
}

Result<> Group::check_taken(const Request& request, const LeaseGuard& guard, const Branch& path, std::size_t& at) const {
  for (const auto& operation : path[at++] ? request.then : request.otherwise)
    if (auto good = check_operation(operation, guard, path, at); !good) return good;
  return {};
}

Result<> Group::check_operation(const Operation& operation, const LeaseGuard& guard, const Branch& path, std::size_t& at) const {
  if (const auto* range = std::get_if<Range>(&operation)) return check_revision(range->revision, compacted_, revision_);
  if (const auto* put = std::get_if<Put>(&operation)) return check_put(*put, guard);
  if (const auto* nested = std::get_if<std::shared_ptr<Request>>(&operation)) return check_taken(**nested, guard, path, at);
  return {};
}

Result<> Group::check_put(const Put& put, const LeaseGuard& guard) const {
  if ((put.keep_value || put.keep_lease) && !view_.at(put.key, revision_))
    return fail(Code::not_found, "etcdserver: key not found");
  if (put.lease == 0) return {};
  if (!has_lease(put.lease)) return fail(lease_error());
  return guard ? guard(keys_of(put.lease)) : Result<>();
}

Result<Outcome> Group::execute(const Request& request, const Branch& path, std::size_t& at) {
  Outcome outcome;
  outcome.succeeded = path[at++];
  for (const auto& operation : outcome.succeeded ? request.then : request.otherwise) {
    auto done = execute(operation, path, at);
    if (!done) return fail(std::move(done).error());
    outcome.answers.push_back(*std::move(done));
  }
  outcome.revision = current();
  return outcome;
}

Result<Done> Group::execute(const Operation& operation, const Branch& path, std::size_t& at) {
  if (const auto* put_operation = std::get_if<Put>(&operation)) return put(*put_operation);
  if (const auto* erase_operation = std::get_if<Erase>(&operation)) return erase(*erase_operation);
  if (const auto* range_operation = std::get_if<Range>(&operation)) {
    auto found = range(*range_operation);
    if (!found) return fail(std::move(found).error());
    return *std::move(found);
  }
  auto outcome = execute(*std::get<std::shared_ptr<Request>>(operation), path, at);
  if (!outcome) return fail(std::move(outcome).error());
  return std::make_shared<Outcome>(*std::move(outcome));
}

Result<Found> Group::range(const Range& range) const {
  Reading reading(range);
  reading.collect(view_, current());
  return std::move(reading).finish(fetch_);
}

PutDone Group::put(const Put& put) {
  PutDone done;
  const auto before = view_.at(put.key, current());
  KeyValue entry{put.key, put.value, revision_ + 1, revision_ + 1, 1, put.lease};
  if (before) {
    const auto* item = before->latest;
    entry.create_revision = item != nullptr ? item->create : before->pending->create_revision;
    entry.version = (item != nullptr ? item->version : before->pending->version) + 1;
    if (put.keep_value) entry.value = item != nullptr ? item->value : before->pending->value;
    if (put.keep_lease) entry.lease = item != nullptr ? item->lease : before->pending->lease;
    if (put.previous) done.previous = entry_of(*before);
  }
  change(std::move(entry), false);
  return done;
}

EraseDone Group::erase(const Erase& erase) {
  EraseDone done;
  std::vector<std::string> keys;
  view_.visit(erase.span, current(), [&](const Seen& seen) {
    keys.emplace_back(seen.key);
    if (erase.previous) done.previous.push_back(entry_of(seen));
    return true;
  });
  done.deleted = static_cast<std::int64_t>(keys.size());
  for (auto& key : keys) change({std::move(key), {}, 0, revision_ + 1, 0, 0}, true);
  return done;
}

void Group::change(KeyValue entry, bool erased) { overlay_.add({{revision_ + 1, sub_++, erased}, std::move(entry), {}}); }

KeyValue Group::entry_of(const Seen& seen) const {
  return seen.pending != nullptr ? *seen.pending : to_entry(std::string(seen.key), *seen.latest);
}

}  // namespace evenkeel::store::embedded::detail

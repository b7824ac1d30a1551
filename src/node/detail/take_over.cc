#include "evenkeel/node/detail/take_over.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "evenkeel/store/session.h"

namespace evenkeel::node::detail {

std::string beat_meta(const std::string& address, const DataId& data) { return fmt::format("{} data={}", address, data); }

namespace {

// The beat that says that it is over; nothing if this one is not of that data, or is over already.
std::optional<std::string> ended_beat(const store::Entry& entry, const DataId& data) {
  constexpr std::string_view alive = "\"ended\":false";
  const auto beat = store::parse_session_beat(entry);
  const auto at = entry.value.rfind(alive);
  if (!beat || beat->ended || at == std::string::npos || !beat->meta.ends_with(beat_meta("", data))) return std::nullopt;
  return std::string(entry.value).replace(at, alive.size(), "\"ended\":true");
}

}  // namespace

void take_over(store::Store& store, const std::string& key, const DataId& data, std::move_only_function<void()> then) {
  store.get(key, [&store, alive = store.alive(), data, then = std::move(then)](Result<store::Read> read) mutable {
    if (alive.expired()) return;
    auto ended = read && read->entry ? ended_beat(*read->entry, data) : std::nullopt;
    if (!ended) return then();
    store::Txn txn;
    txn.compare(unchanged(*read->entry)).put(read->entry->key, *std::move(ended));
    store.txn(std::move(txn), [then = std::move(then)](const Result<store::Committed>&) mutable { then(); });
  });
}

}  // namespace evenkeel::node::detail

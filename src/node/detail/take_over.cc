#include "evenkeel/node/detail/take_over.h"

#include <fmt/format.h>

#include <utility>

namespace evenkeel::node::detail {

std::string beat_meta(const std::string& address, const DataId& data) { return fmt::format("{} data={}", address, data); }

std::optional<std::string> ended_beat(std::string beat, const DataId& data) {
  constexpr std::string_view alive = "\"ended\":false";
  const auto at = beat.rfind(alive);
  if (data.empty() || at == std::string::npos || beat.find(fmt::format(" data={}\"", data)) == std::string::npos)
    return std::nullopt;
  return beat.replace(at, alive.size(), "\"ended\":true");
}

void take_over(store::Store& store, const std::string& key, const DataId& data, std::move_only_function<void()> then) {
  store.get(key, [&store, alive = store.alive(), data, then = std::move(then)](Result<store::Read> read) mutable {
    if (alive.expired()) return;
    auto ended = read && read->entry ? ended_beat(read->entry->value, data) : std::nullopt;
    if (!ended) return then();
    store::Txn txn;
    txn.compare(unchanged(*read->entry)).put(read->entry->key, *std::move(ended));
    store.txn(std::move(txn), [then = std::move(then)](const Result<store::Committed>&) mutable { then(); });
  });
}

}  // namespace evenkeel::node::detail

#include "evenkeel/control/shell/detail/touch_beat.h"

#include <utility>

#include "evenkeel/store/session.h"

namespace evenkeel::control::detail {

void touch_beat(store::Store& store, const std::string& key, Incarnation incarnation, Duration pause,
                std::function<bool()> goes_on, const std::string& touched) {
  const auto again = [&store, key, incarnation, pause, goes_on](const std::string& now) {
    store.loop().post_after(pause, [&store, key, incarnation, pause, goes_on, now] {
      if (goes_on()) touch_beat(store, key, incarnation, pause, goes_on, now);
    });
  };
  store.get(key, [&store, again, incarnation, goes_on, touched](const Result<store::Read>& read) {
    if (!goes_on()) return;
    if (!read) return again(touched);
    if (!read->entry) return;
    const auto beat = store::parse_session_beat(*read->entry);
    if (!beat || beat->ended || beat->identity.str() != format(incarnation)) return;
    if (read->entry->value == touched) return again(touched);  // it has not beaten since, and may be over
    store::Txn txn;
    txn.compare(store::unchanged(*read->entry)).put(read->entry->key, read->entry->value);
    store.txn(std::move(txn), [again, goes_on, value = read->entry->value](const Result<store::Committed>& done) {
      if (goes_on()) again(done && done->succeeded ? value : "");
    });
  });
}

}  // namespace evenkeel::control::detail

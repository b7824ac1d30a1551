#include "evenkeel/sim/detail/operator.h"

#include <utility>

namespace evenkeel::sim {
namespace {

constexpr Duration pause = 200ms;

}  // namespace

void Operator::edit(std::string key, Change change) {
  wanted_[key].push_back(change);
  edit_once(std::move(key), std::move(change));
}

void Operator::edit_again() {
  for (const auto& [key, changes] : wanted_) {
    edit_once(key, [changes](std::optional<std::string> text) {
      for (const Change& change : changes) {
        if (auto next = change(text)) text = std::move(next);
      }
      return text;
    });
  }
}

void Operator::edit_once(std::string key, Change change) {
  edits_.push_back({std::move(key), std::move(change)});
  if (edits_.size() == 1) begin();
}

void Operator::begin() {
  store_->get(edits_.front().key, [this](const Result<store::Read>& read) { read ? write(*read) : again(); });
}

void Operator::write(const store::Read& read) {
  const Edit& edit = edits_.front();
  const auto text = edit.change(read.entry ? std::optional(read.entry->value) : std::nullopt);
  if (!text) return done();
  store::Txn txn;
  txn.compare(read.entry ? store::unchanged(*read.entry) : store::absent(edit.key)).put(edit.key, *text);
  store_->txn(std::move(txn),
              [this](const Result<store::Committed>& committed) { committed && committed->succeeded ? done() : again(); });
}

// An edit of unknown outcome is read, and made once more: it says the same twice.
void Operator::again() {
  store_->loop().post_after(pause, [this, alive = store_->alive()] {
    if (!alive.expired()) begin();
  });
}

void Operator::done() {
  edits_.pop_front();
  if (!edits_.empty()) begin();
}

}  // namespace evenkeel::sim

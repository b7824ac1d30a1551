#pragma once
// A store whose calls a test sees before they are sent, and may answer in its stead.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evenkeel/store/store.h"

namespace evenkeel::store {

class TappedStore final : public Store {
 public:
  explicit TappedStore(std::unique_ptr<Store> inner) : Store(inner->loop()), inner_(std::move(inner)) {}

  // Called with each txn before it is sent. An error is its answer, and it is not sent.
  std::function<std::optional<Error>(const Txn&)> on_txn;
  bool silent = false;  // what is asked for is not answered any more

 protected:
  void do_get(std::string key, Answer<Read> answer) override {
    if (!silent) inner_->get(std::move(key), std::move(answer));
  }
  void do_list(std::string prefix, Answer<Listing> answer) override {
    if (!silent) inner_->list(std::move(prefix), std::move(answer));
  }
  void do_txn(Txn txn, Answer<Committed> answer) override {
    auto error = on_txn ? on_txn(txn) : std::nullopt;
    if (silent) return;
    if (!error) return inner_->txn(std::move(txn), std::move(answer));
    loop().post([answer = std::move(answer), error = *std::move(error)]() mutable { answer(fail(std::move(error))); });
  }
  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override {
    return inner_->watch(std::move(prefix), after, std::move(on_changes));
  }
  void do_status(Answer<Status> answer) override { inner_->status(std::move(answer)); }
  void do_compact(Revision before, Answer<Revision> answer) override { inner_->compact(before, std::move(answer)); }

 private:
  std::unique_ptr<Store> inner_;
};

}  // namespace evenkeel::store

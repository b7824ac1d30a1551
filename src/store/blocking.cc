#include "evenkeel/store/blocking.h"

namespace evenkeel::store {

Result<std::unique_ptr<Blocking>> Blocking::open(Maker make) {
  std::unique_ptr<Blocking> blocking(new Blocking);
  blocking->thread_ = std::jthread([&loop = blocking->loop_] { loop.run(); });
  std::promise<Result<>> made;
  blocking->loop_.post([&] {
    auto store = make(blocking->loop_);
    if (!store) return made.set_value(fail(std::move(store).error()));
    blocking->store_ = *std::move(store);
    made.set_value({});
  });
  if (auto good = made.get_future().get(); !good) return fail(std::move(good).error());
  return blocking;
}

// The store is destroyed where it lived; nothing of it is called afterwards.
Blocking::~Blocking() {
  loop_.post([this] {
    store_.reset();
    loop_.stop();
  });
}

Result<Read> Blocking::get(std::string key) {
  return run<Read>([&](Store& store, Answer<Read> answer) { store.get(std::move(key), std::move(answer)); });
}

Result<Listing> Blocking::list(std::string prefix) {
  return run<Listing>([&](Store& store, Answer<Listing> answer) { store.list(std::move(prefix), std::move(answer)); });
}

Result<Committed> Blocking::txn(Txn txn) {
  return run<Committed>([&](Store& store, Answer<Committed> answer) { store.txn(std::move(txn), std::move(answer)); });
}

Result<Committed> Blocking::put(std::string key, std::string value) {
  Txn one;
  one.put(std::move(key), std::move(value));
  return txn(std::move(one));
}

Result<Committed> Blocking::erase(std::string key) {
  Txn one;
  one.erase(std::move(key));
  return txn(std::move(one));
}

Result<Status> Blocking::status() {
  return run<Status>([](Store& store, Answer<Status> answer) { store.status(std::move(answer)); });
}

Result<Revision> Blocking::compact(Revision before) {
  return run<Revision>([&](Store& store, Answer<Revision> answer) { store.compact(before, std::move(answer)); });
}

}  // namespace evenkeel::store

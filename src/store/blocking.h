#pragma once
// Blocking: a store for tools and tests that have no loop of their own. It runs one on a thread, and waits for each answer.
//
//   auto blocking = Blocking::open([](Loop& loop) { return open(loop, "etcd://127.0.0.1:2379", {}); });  // or another way to make one
//   Result<Read> read = (*blocking)->get("/c1/config");
//
// Any thread may call, several at once. A call returns when its answer has come; backends bound that by their own timeouts.

#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "evenkeel/base/real_loop.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store {

// Makes a store on a loop (backends/open.h). Called on the loop's thread.
using Maker = std::move_only_function<Result<std::unique_ptr<Store>>(Loop&)>;

class Blocking {
 public:
  static Result<std::unique_ptr<Blocking>> open(Maker make);
  ~Blocking();
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

  Result<Read> get(std::string key);
  Result<Listing> list(std::string prefix);
  Result<Committed> txn(Txn txn);
  Result<Committed> put(std::string key, std::string value);
  Result<Committed> erase(std::string key);
  Result<Status> status();
  Result<Revision> compact(Revision before);

  // Runs something on the loop with the store, and waits until it has called back: for watches, sessions and locks.
  template <class T>
  Result<T> run(std::function<void(Store&, Answer<T>)> work) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    std::future<Result<T>> future = promise->get_future();
    loop_.post([this, promise, work = std::move(work)] {
      work(*store_, [promise](Result<T> result) { promise->set_value(std::move(result)); });
    });
    return future.get();
  }
  Loop& loop() { return loop_; }
  Store& store() { return *store_; }  // to be used on the loop only

 private:
  Blocking() = default;

  RealLoop loop_;
  std::unique_ptr<Store> store_;
  std::jthread thread_;
};

}  // namespace evenkeel::store

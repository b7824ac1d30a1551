#pragma once
// The conformance suite: what store.h promises, tried on every backend by the same cases.
//
// A backend is one row of `backends()` (conformance.cc): its name and how to start it. A case is one row of a table in one of the
// conformance_*.cc files: its name and a function from a Bed, which is a running backend and a corner of it for this case alone. Every case
// becomes a gtest of the suite that is named after the backend: --gtest_filter='zookeeper3.Watch*'.
//
//   void puts_and_gets(Bed& bed) {
//     const auto done = bed.client().put(bed.key("/a"), "1");
//     EXPECT_EQ(bed.client().get(bed.key("/a"))->entry->modified, done->revision);
//   }

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/blocking.h"
#include "evenkeel/store/store.h"
#include "tests/store/backends/servers.h"

namespace evenkeel::test {

using store::Changes;
using store::Committed;
using store::Entry;
using store::Listing;
using store::Read;
using store::Revision;
using store::Txn;

// How long a test waits for what must come: a bound for broken backends, far above what a working one takes.
constexpr Duration patience = 60s;
constexpr store::OpenOptions unhurried{.timeout = patience / 2};  // a busy machine may take its time, and so may its disk

// A client of the backend under test: it waits for answers, and fails if one does not come or comes twice. Any thread may call.
class Client {
 public:
  virtual ~Client() = default;
  virtual Loop& loop() = 0;
  virtual store::Store& store() = 0;  // on the loop only

  Result<Read> get(std::string key);
  Result<Listing> list(std::string prefix);
  Result<Committed> txn(Txn txn);
  Result<Committed> put(std::string key, std::string value);
  Result<Committed> erase(std::string key);

  // Runs work on the loop and waits for its answer.
  template <class T>
  Result<T> call(std::function<void(store::Store&, store::Answer<T>)> work) {
    struct Waiting {
      std::promise<Result<T>> promise;
      std::atomic<int> answers = 0;
    };
    auto waiting = std::make_shared<Waiting>();
    auto future = waiting->promise.get_future();
    loop().post([this, waiting, work = std::move(work)] {
      work(store(), [waiting](Result<T> result) {
        if (++waiting->answers > 1) return ADD_FAILURE() << "a second answer came", void();
        waiting->promise.set_value(std::move(result));
      });
    });
    if (future.wait_for(patience) != std::future_status::ready) throw std::runtime_error("an answer did not come");
    return future.get();
  }
  // Runs work on the loop and waits until it has run.
  void on_loop(std::function<void()> work);
};

// A watch that keeps what it was told, and checks what store.h says of every delivery.
class Watcher {
 public:
  // `on_changes` is called with every delivery too, on the loop.
  Watcher(Client& client, std::string prefix, std::optional<Revision> after = {},
          std::function<void(const Changes&)> on_changes = {});
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // The state as of the last delivery.
  std::map<std::string, Entry> state() const;
  Revision revision() const;
  std::vector<Result<Changes>> deliveries() const;
  // Waits until a delivery makes it true; throws if none does.
  void wait(std::string_view what, const std::function<bool(const std::map<std::string, Entry>&)>& holds);
  // Until the value of a key is this; none: until it is gone.
  void wait_for(const std::string& key, const std::optional<std::string>& value);
  // Until there was a first delivery.
  void wait_first();

 private:
  struct Seen;
  Client& client_;
  std::shared_ptr<Seen> seen_;
  std::unique_ptr<store::Watching> watching_;
};

// A running backend.
class Deployment {
 public:
  virtual ~Deployment() = default;
  // A client of its own, with keys below a path if `has_paths`.
  virtual std::unique_ptr<Client> open(const std::string& path, const store::OpenOptions& options) = 0;
  virtual bool has_paths() const { return true; }
  // Its servers, if it has any, end and begin again under clients that stay.
  virtual void bounce() = 0;
  // The same with all clients closed, and what there is in this process of the backend closed too.
  virtual void restart() = 0;
};

// Clients over Blocking, by URL.
std::unique_ptr<Client> open_url(const std::string& url, const store::OpenOptions& options);

struct Backend {
  const char* name;  // of the gtest suite
  std::unique_ptr<Deployment> (*start)();
  const char* kind;  // what status() says
};
std::span<const Backend> backends();

class Bed {
 public:
  Bed(const Backend& backend, Deployment& deployment, std::string name)
      : backend_(backend), deployment_(deployment), name_(std::move(name)) {}

  // "/a" of this case: nobody else's.
  std::string key(std::string_view rest) const { return "/" + name_ + std::string(rest); }
  std::string prefix() const { return "/" + name_ + "/"; }
  Client& client();
  std::unique_ptr<Client> connect(const store::OpenOptions& options = unhurried, const std::string& path = {}) {
    return deployment_.open(path, options);
  }
  void close() { client_.reset(); }
  const Backend& backend() const { return backend_; }
  Deployment& deployment() { return deployment_; }

 private:
  const Backend& backend_;
  Deployment& deployment_;
  std::string name_;
  std::unique_ptr<Client> client_;
};

struct Case {
  const char* name;
  void (*run)(Bed&);
};
std::span<const Case> key_cases();
std::span<const Case> txn_cases();
std::span<const Case> watch_cases();
std::span<const Case> lease_cases();
std::span<const Case> session_cases();

// What a list of that prefix says, by key; fails the test if it cannot be had.
std::map<std::string, Entry> contents(Client& client, const std::string& prefix);
// Whether the call ended in that error.
template <class T>
testing::AssertionResult failed(const Result<T>& result, Code code) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  if (result.error().code != code)
    return testing::AssertionFailure() << name(result.error().code) << ": " << result.error().message;
  if (result.error().message.empty()) return testing::AssertionFailure() << "an error without a message";
  return testing::AssertionSuccess();
}
template <class T>
testing::AssertionResult good(const Result<T>& result) {
  if (!result) return testing::AssertionFailure() << name(result.error().code) << ": " << result.error().message;
  return testing::AssertionSuccess();
}

}  // namespace evenkeel::test

#pragma once
// What the tests of the etcd client share: clients that wait, watches that are waited for, and etcdctl.

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "evenkeel/base/file.h"
#include "evenkeel/store/backends/etcd/client.h"
#include "evenkeel/store/blocking.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::test {

// Long enough for the slowest machine; nothing waits so long when all is well.
constexpr Duration etcd_patience = 60s;

inline std::unique_ptr<store::Blocking> etcd_client(const std::string& url, store::OpenOptions options = {}) {
  auto made = store::Blocking::open([&](Loop& loop) -> Result<std::unique_ptr<store::Store>> {
    const auto parsed = store::parse_url(url);
    if (!parsed) return fail(parsed.error());
    return store::etcd::connect(loop, *parsed, options);
  });
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : nullptr;
}

// A watch whose changes are taken one by one. Goes before its client.
class Seen {
 public:
  Seen(store::Blocking& client, std::string prefix, std::optional<store::Revision> after = {}) : client_(client) {
    on_loop([&](store::Store& store) {
      watching_ = store.watch(std::move(prefix), after, [this](Result<store::Changes> changes) {
        const std::scoped_lock lock(mutex_);
        seen_.push_back(std::move(changes));
        came_.notify_all();
      });
    });
  }
  ~Seen() {
    on_loop([&](store::Store&) { watching_.reset(); });
  }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

  Result<store::Changes> next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, etcd_patience, [&] { return !seen_.empty(); })) return fail(Code::cancelled, "nothing was seen");
    Result<store::Changes> first = std::move(seen_.front());
    seen_.pop_front();
    return first;
  }
  // Until a change of that key comes, and the last one of those that came together; all that came before it is left out.
  Result<store::Change> until(const std::string& key) {
    for (;;) {
      auto changes = next();
      if (!changes) return fail(changes.error());
      for (auto change = changes->changes.rbegin(); change != changes->changes.rend(); ++change) {
        if (change->key == key) return std::move(*change);
      }
    }
  }

 private:
  template <class F>
  void on_loop(F f) {
    (void)client_.run<bool>([&](store::Store& store, store::Answer<bool> answer) {
      f(store);
      answer(true);
    });
  }

  store::Blocking& client_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Result<store::Changes>> seen_;
  std::unique_ptr<store::Watching> watching_;  // on the loop
};

// Runs a program to its end, and gives what it wrote; throws if it fails.
inline std::string run_program(std::vector<std::string> command) {
  const TempFolder folder;
  const std::string output = folder.path() + "/output";
  Process process(std::move(command), output);
  if (const int code = process.wait(etcd_patience); code != 0)
    throw std::runtime_error(fmt::format("exit code {}: {}", code, process.output_tail()));
  return read_file(output, Bytes(1 << 20)).value();
}

inline std::string etcdctl(const std::string& endpoint, std::vector<std::string> words) {
  words.insert(words.begin(), {"env", "ETCDCTL_API=3", "etcdctl", "--endpoints", endpoint});
  return run_program(std::move(words));
}

}  // namespace evenkeel::test

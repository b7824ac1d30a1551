#pragma once
// What the engine's tests share: a folder of their own, calls that wait for their answer, a clock that is moved by hand.

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <string>

#include "evenkeel/store/backends/embedded/engine.h"

namespace evenkeel::store::embedded::test {

// Files that are neither removed nor renamed while they are copied; RocksDB does both on threads of its own.
class StillFiles final : public rocksdb::FileSystemWrapper {
 public:
  StillFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "still"; }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const std::lock_guard lock(mutex_);
    return target()->DeleteFile(name, options, debug);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    const std::lock_guard lock(mutex_);
    return target()->RenameFile(from, to, options, debug);
  }
  // What names other files first, so that those are there.
  void copy(const std::string& from, const std::string& to) {
    namespace fs = std::filesystem;
    const std::lock_guard lock(mutex_);
    fs::create_directories(to);
    for (const bool naming : {true, false}) {
      for (const auto& entry : fs::directory_iterator(from)) {
        const auto name = entry.path().filename().string();
        if ((name == "CURRENT" || name.starts_with("MANIFEST-")) == naming)
          fs::copy(entry.path(), fs::path(to) / name, fs::copy_options::recursive);
      }
    }
  }

 private:
  std::mutex mutex_;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "evenkeel-engine-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    path_ = name + "/store";
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string beside(const std::string& name) const { return base_ + "/" + name; }
  // To be opened with, if it is to be copied while it is open.
  const std::shared_ptr<StillFiles>& files() const { return files_; }
  // A copy as a crash now would leave it.
  std::string crashed() const {
    const auto copy = beside("crashed" + std::to_string(++copies_));
    files_->copy(path_, copy);
    return copy;
  }

 private:
  std::string base_;
  std::string path_;
  std::shared_ptr<StillFiles> files_ = std::make_shared<StillFiles>();
  mutable int copies_ = 0;
};

class HandClock final : public Clock {
 public:
  Instant now() const override { return Instant(Duration(now_.load())); }
  void advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ = 0;
};

inline std::unique_ptr<Engine> open(const std::string& folder, const EngineOptions& options = {}) {
  auto engine = Engine::open(folder, options);
  if (!engine) throw std::runtime_error(engine.error().message);
  return *std::move(engine);
}

inline Result<Outcome> run(Engine& engine, Request request) {
  std::promise<Result<Outcome>> done;
  engine.submit(std::move(request), [&](Result<Outcome> outcome) { done.set_value(std::move(outcome)); });
  return done.get_future().get();
}

inline Result<Outcome> run(Engine& engine, Operation operation) {
  Request request;
  request.then.push_back(std::move(operation));
  return run(engine, std::move(request));
}

inline Result<Outcome> put(Engine& engine, std::string key, std::string value, LeaseId lease = 0) {
  return run(engine, Put{.key = std::move(key), .value = std::move(value), .lease = lease});
}

inline Result<Lease> grant(Engine& engine, LeaseId id, Duration ttl) {
  std::promise<Result<Lease>> done;
  engine.grant(id, ttl, [&](Result<Lease> lease) { done.set_value(std::move(lease)); });
  return done.get_future().get();
}

inline Result<std::int64_t> revoke(Engine& engine, LeaseId id) {
  std::promise<Result<std::int64_t>> done;
  engine.revoke(id, [&](Result<std::int64_t> revision) { done.set_value(std::move(revision)); });
  return done.get_future().get();
}

template <class T>
std::string wrong(const Result<T>& result) {
  return result ? "" : result.error().message;
}

// A watcher that keeps what it got; take() waits for the next.
class Collector {
 public:
  explicit Collector(std::size_t room = 1'000'000) : room_(room) {}
  Sink sink() {
    return [this](const Events& events) {
      const std::lock_guard lock(mutex_);
      if (got_.size() >= room_) return ++refused_, false;
      got_.push_back(events);
      changed_.notify_all();
      return true;
    };
  }
  Events take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return !got_.empty(); }))
      throw std::runtime_error("no event came");
    auto first = std::move(got_.front());
    got_.pop_front();
    return first;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return got_.size();
  }
  int refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t room_;
  std::deque<Events> got_;
  int refused_ = 0;
};

// "put a=1@2" or "erase a@3", joined by spaces.
inline std::string text(const Events& events) {
  std::string out;
  for (const auto& event : events.events) {
    if (!out.empty()) out += ' ';
    out += event.erased ? fmt::format("erase {}@{}", event.entry.key, event.entry.mod_revision)
                        : fmt::format("put {}={}@{}", event.entry.key, event.entry.value, event.entry.mod_revision);
    if (event.previous) out += fmt::format("(was {})", event.previous->value);
  }
  return out;
}

}  // namespace evenkeel::store::embedded::test

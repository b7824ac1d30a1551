// A disk that is full, fails or tears what is written: nobody is told a lie, and it goes on when the disk does.

#include <rocksdb/file_system.h>

#include <filesystem>

#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;
using rocksdb::FileOptions;
using rocksdb::FSRandomRWFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

struct Faults {
  std::atomic<bool> full = false;        // nothing new fits
  std::atomic<bool> torn = false;        // and half of what is written is there all the same
  std::atomic<bool> sync_fails = false;  // of logs
  std::atomic<int> syncs = 0;            // of logs
};

IOStatus no_space() { return IOStatus::NoSpace("injected: no space"); }

// A log.
class FaultyLog final : public FSRandomRWFile {
 public:
  FaultyLog(Faults& faults, std::unique_ptr<FSRandomRWFile> file) : faults_(faults), file_(std::move(file)) {}
  IOStatus Write(std::uint64_t offset, const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (!faults_.full) return file_->Write(offset, data, options, debug);
    if (faults_.torn) file_->Write(offset, Slice(data.data(), data.size() / 2), options, debug).PermitUncheckedError();
    return no_space();
  }
  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    return file_->Read(offset, n, options, result, scratch, debug);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override { return file_->Flush(options, debug); }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    ++faults_.syncs;
    return faults_.sync_fails ? IOStatus::IOError("injected: sync failed") : file_->Sync(options, debug);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override { return file_->Close(options, debug); }

 private:
  Faults& faults_;
  std::unique_ptr<FSRandomRWFile> file_;
};

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem(Faults& faults, const std::shared_ptr<rocksdb::FileSystem>& files)
      : FileSystemWrapper(files), faults_(faults) {}
  const char* Name() const override { return "faulty"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    return faults_.full ? no_space() : target()->NewWritableFile(name, options, result, debug);
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options, std::unique_ptr<FSRandomRWFile>* result,
                           IODebugContext* debug) override {
    auto done = target()->NewRandomRWFile(name, options, result, debug);
    if (done.ok()) *result = std::make_unique<FaultyLog>(faults_, std::move(*result));
    return done;
  }

 private:
  Faults& faults_;
};

class EngineFaults : public testing::TestWithParam<bool> {
 protected:
  std::string value(const std::string& key) {
    const auto found = engine_->range({.span = {key, {}}}).value();
    return found.entries.empty() ? "none" : found.entries[0].value;
  }
  void reopen() {
    engine_.reset();
    engine_ = open(folder_.path(), options_);
  }

  Folder folder_;
  HandClock clock_;
  Faults faults_;
  EngineOptions options_{.clock = &clock_, .file_system = std::make_shared<FaultyFileSystem>(faults_, folder_.files())};
  std::unique_ptr<Engine> engine_ = open(folder_.path(), options_);
};

INSTANTIATE_TEST_SUITE_P(Torn, EngineFaults, testing::Bool());

TEST_P(EngineFaults, AFullDiskRefusesWritesUntilThereIsSpace) {
  faults_.torn = GetParam();
  Collector seen;
  engine_->watch({.span = {"a", "z"}}, seen.sink()).value();
  for (int times = 0; times < 3; ++times) {
    const auto good = std::to_string(times);
    // At times with nothing in memory that could be flushed.
    if (times == 1) {
      EXPECT_TRUE(engine_->defragment());
    } else {
      put(*engine_, "a", good).value();
    }
    const auto before = engine_->status().revision;
    const auto last = value("a");
    faults_.full = true;
    EXPECT_EQ(put(*engine_, "a", "lost").error().code, Code::unknown_outcome);
    for (int again = 0; again < 2; ++again) {
      const auto refused = put(*engine_, "a", "refused");
      EXPECT_EQ(refused.error().code, Code::refused);
      EXPECT_EQ(wrong(refused), "etcdserver: mvcc: database space exceeded");
    }
    EXPECT_TRUE(engine_->status().full);
    EXPECT_EQ(value("a"), last);
    EXPECT_EQ(run(*engine_, Range{.span = {"a", {}}})->revision, before);
    EXPECT_FALSE(engine_->compact(before, false));
    faults_.full = false;
    EXPECT_EQ(put(*engine_, "b", good)->revision, before + 1);
    EXPECT_FALSE(engine_->status().full);
    EXPECT_EQ(value("a"), last);
    const auto other = open(folder_.crashed());
    EXPECT_EQ(other->status().revision, before + 1);
    EXPECT_EQ(other->range({.span = {"a", {}}})->entries.at(0).value, last);
  }
  const auto revision = engine_->status().revision;
  for (std::int64_t next = 2; next <= revision;)
    for (const auto& event : seen.take().events) EXPECT_EQ(event.entry.mod_revision, next++);
  reopen();
  EXPECT_EQ(engine_->status().revision, revision);
  EXPECT_EQ(value("b"), "2");
}

// It ends the process if its own journal does not fit on a full disk: so it has none there. (tests/chaos/store_loss.py fills a real one.)
TEST_F(EngineFaults, RocksDbKeepsNoJournalInTheFolder) {
  put(*engine_, "a", "1").value();
  for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_FALSE(file.path().filename().string().starts_with("LOG")) << file.path();
}

TEST_P(EngineFaults, AFullDiskKeepsLeases) {
  faults_.torn = GetParam();
  grant(*engine_, 7, 10s).value();
  put(*engine_, "a", "1", 7).value();
  faults_.full = true;
  EXPECT_EQ(grant(*engine_, 8, 10s).error().code, Code::unknown_outcome);
  EXPECT_EQ(grant(*engine_, 9, 10s).error().code, Code::refused);
  EXPECT_EQ(revoke(*engine_, 7).error().code, Code::refused);
  clock_.advance(11s);
  engine_->tick();
  EXPECT_EQ(value("a"), "1");
  faults_.full = false;
  engine_->tick();
  EXPECT_EQ(value("a"), "none");
  EXPECT_TRUE(engine_->leases().empty());
}

// What failed to be synced may be there or not after a restart; what was acknowledged is.
TEST_F(EngineFaults, AFailedSyncIsNotAnAcknowledgement) {
  put(*engine_, "a", "1").value();
  faults_.sync_fails = true;
  EXPECT_EQ(put(*engine_, "a", "2").error().code, Code::unknown_outcome);
  EXPECT_EQ(value("a"), "1");
  const auto refused = put(*engine_, "a", "3");
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_TRUE(wrong(refused).starts_with("the disk of " + folder_.path() + " fails, and")) << wrong(refused);
  faults_.sync_fails = false;
  EXPECT_EQ(put(*engine_, "a", "3").error().code, Code::refused);
  reopen();
  const auto after = value("a");
  EXPECT_TRUE(after == "1" || after == "2") << after;
  EXPECT_EQ(engine_->status().revision, after == "1" ? 2 : 3);
  EXPECT_EQ(put(*engine_, "a", "4")->revision, after == "1" ? 3 : 4);
}

// One sync for each write that waits for its answer, and few for many at once.
TEST_F(EngineFaults, WritesOfManyAreSyncedTogether) {
  put(*engine_, "a", "0").value();
  const int before = faults_.syncs;
  for (int i = 0; i < 20; ++i) put(*engine_, "a", "1").value();
  EXPECT_EQ(faults_.syncs - before, 20);
  std::vector<std::future<void>> answers;
  const int single = faults_.syncs;
  for (int i = 0; i < 1000; ++i) {
    auto answered = std::make_shared<std::promise<void>>();
    answers.push_back(answered->get_future());
    Request request;
    request.then = {Put{.key = "b", .value = "1"}};
    engine_->submit(std::move(request), [answered](Result<Outcome> done) {
      EXPECT_TRUE(done);
      answered->set_value();
    });
  }
  for (auto& answer : answers) answer.get();
  EXPECT_LT(faults_.syncs - single, 1000);
}

}  // namespace
}  // namespace evenkeel::store::embedded

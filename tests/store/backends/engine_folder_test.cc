// Folders: which an engine opens, and what it says of others.

#include <rocksdb/file_system.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "evenkeel/base/rng.h"
#include "evenkeel/store/backends/embedded/detail/log_check.h"
#include "tests/store/backends/engine_fixture.h"

namespace evenkeel::store::embedded {
namespace {

using namespace test;
namespace fs = std::filesystem;

Error refusal(const std::string& folder) {
  auto engine = Engine::open(folder, {});
  return engine ? Error{Code::invalid, "it opened"} : engine.error();
}

void write_file(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files(const std::string& folder, std::string_view extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

TEST(EngineFolder, InUseIsSaid) {
  const Folder folder;
  const auto engine = open(folder.path());
  const auto error = refusal(folder.path());
  EXPECT_EQ(error.code, Code::conflict);
  EXPECT_EQ(error.message,
            fmt::format("{} is in use by process {}; stop that one, or choose another folder", folder.path(), ::getpid()));
}

TEST(EngineFolder, OfAnotherKindIsLeftAlone) {
  const Folder folder;
  fs::create_directories(folder.path());
  write_file(folder.path() + "/notes.txt", "mine");
  EXPECT_EQ(refusal(folder.path()).message, folder.path() + " is not a store, and not empty: it holds notes.txt");
  EXPECT_EQ(content(folder.path() + "/notes.txt"), "mine");
  write_file(folder.path() + "/CURRENT", "MANIFEST-000001\n");
  EXPECT_EQ(refusal(folder.path()).message, folder.path() + " holds a RocksDB database that is not an Evenkeel store");
  const auto file = folder.beside("file");
  write_file(file, "");
  EXPECT_FALSE(refusal(file).message.empty());
}

TEST(EngineFolder, OfAnotherVersionIsRefused) {
  const Folder folder;
  open(folder.path());
  write_file(folder.path() + "/evenkeel.store", "format 2\n");
  const auto error = refusal(folder.path());
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_EQ(error.message, folder.path() + " was made by another version: it has format 2, and this one reads format 1");
  write_file(folder.path() + "/evenkeel.store", "");
  EXPECT_EQ(refusal(folder.path()).message,
            folder.path() + " is damaged: evenkeel.store does not say its format; restore a backup");
}

TEST(EngineFolder, HalfMadeIsMadeAnew) {
  const Folder folder;
  open(folder.path());
  write_file(folder.path() + "/evenkeel.new", "");
  fs::remove(folder.path() + "/CURRENT");
  const auto engine = open(folder.path());
  EXPECT_EQ(put(*engine, "a", "1")->revision, 2);
  EXPECT_FALSE(fs::exists(folder.path() + "/evenkeel.new"));
}

// Whatever file is missing, cut or changed: an error, and all of the store as it was when it is put back.
TEST(EngineFolder, DamageIsNeverAnEmptyStore) {
  const Folder folder;
  for (int times = 0; times < 3; ++times) {
    const auto engine = open(folder.path());
    for (int i = 0; i < 50; ++i) put(*engine, fmt::format("k{}", i), std::string(500, static_cast<char>('a' + times))).value();
  }
  std::vector<std::string> names{"CURRENT"};
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".sst") || name.starts_with("MANIFEST")) names.push_back(name);
  }
  EXPECT_GE(names.size(), 4U);
  for (const auto& name : names) {
    for (const char* how : {"missing", "cut", "changed"}) {
      const auto copy = folder.crashed();
      const fs::path file = fs::path(copy) / name;
      auto bytes = content(file);
      if (std::string_view(how) == "missing") fs::remove(file);
      if (std::string_view(how) == "cut") fs::resize_file(file, bytes.size() / 2);
      if (std::string_view(how) == "changed") {
        for (std::size_t at = 0; at < bytes.size() / 2; at += 97) bytes[at] = static_cast<char>(~bytes[at]);
        write_file(file, bytes);
      }
      const auto error = refusal(copy);
      EXPECT_EQ(error.code, Code::invalid) << name << ' ' << how << ": " << error.message;
      EXPECT_TRUE(error.message.starts_with(copy + " is damaged: ")) << name << ' ' << how << ": " << error.message;
    }
  }
  EXPECT_EQ(open(folder.path())->status().revision, 151);
}

// The log of writes as a crash leaves it.
class EngineLog : public testing::Test {
 protected:
  EngineLog() {
    engine_ = open(folder_.path(), {.file_system = folder_.files()});
    for (int i = 0; i < 100; ++i) {
      ends_.push_back(written());
      put(*engine_, "a", fmt::format("{}{}", i, std::string(static_cast<std::size_t>(i) * 20, 'x'))).value();
    }
    ends_.push_back(written());
  }
  // Bytes of the log up to where only zeros follow. What is put ends in 'x' but for the first.
  std::size_t written() const { return content(log_of(folder_.path())).find_last_not_of('\0') + 1; }
  static fs::path log_of(const std::string& folder) { return files(folder, ".log").back(); }
  std::int64_t revision(const std::string& folder) { return open(folder)->status().revision; }

  Folder folder_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::size_t> ends_;  // of the log before each write, and after the last
};

TEST_F(EngineLog, WhoseLastWriteIsTornLosesThatAlone) {
  const auto bytes = content(log_of(folder_.path()));
  const auto from = ends_[99];
  const auto to = ends_[100];
  ASSERT_GT(to - from, 2000U);
  for (const auto cut : {from + 1, from + 8, from + 100, to - 1}) {
    for (const bool filled : {true, false}) {
      const auto copy = folder_.crashed();
      auto torn = bytes.substr(0, cut);
      if (filled) torn.resize(bytes.size(), '\0');
      write_file(log_of(copy), torn);
      EXPECT_EQ(revision(copy), 100) << cut;
      // It goes on from there, and what was torn is never in the way again.
      {
        const auto engine = open(copy, {.file_system = folder_.files()});
        EXPECT_EQ(put(*engine, "b", "1")->revision, 101);
        const auto again = folder_.beside("again");
        folder_.files()->copy(copy, again);
        EXPECT_EQ(revision(again), 101);
        fs::remove_all(again);
      }
    }
  }
  EXPECT_EQ(revision(folder_.crashed()), 101);
}

// Calls before files come, go or change their names.
class StepByStep final : public rocksdb::FileSystemWrapper {
 public:
  StepByStep(const std::shared_ptr<rocksdb::FileSystem>& files, std::function<void()> step)
      : FileSystemWrapper(files), step_(std::move(step)) {}
  const char* Name() const override { return "step-by-step"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext* debug) override {
    step_();
    return target()->NewWritableFile(name, options, result, debug);
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    step_();
    return target()->DeleteFile(name, options, debug);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    step_();
    return target()->RenameFile(from, to, options, debug);
  }

 private:
  std::function<void()> step_;
};

TEST_F(EngineLog, ThatIsTornMayBeLeftAtAnyStepOfItsRecovery) {
  const auto torn = folder_.crashed();
  write_file(log_of(torn), content(log_of(folder_.path())).substr(0, ends_[99] + 100));
  std::vector<std::string> steps;
  const auto opener = std::this_thread::get_id();  // what RocksDB does beside it may be anywhere while files are copied
  const auto step = [&] {
    if (std::this_thread::get_id() != opener) return;
    steps.push_back(folder_.beside(fmt::format("step{}", steps.size())));
    folder_.files()->copy(torn, steps.back());
  };
  EXPECT_EQ(open(torn, {.file_system = std::make_shared<StepByStep>(folder_.files(), step)})->status().revision, 100);
  EXPECT_GT(steps.size(), 3U);
  for (const auto& left : steps) EXPECT_EQ(revision(left), 100) << left;
}

TEST_F(EngineLog, DamagedBeforeItsEndIsRefused) {
  const auto bytes = content(log_of(folder_.path()));
  Rng rng(1);
  for (int times = 0; times < 60; ++times) {
    const auto copy = folder_.crashed();
    auto damaged = bytes;
    const auto record = rng.below(99);
    const auto at = ends_[record] + rng.below(ends_[record + 1] - ends_[record]);
    const auto count = std::min<std::size_t>(rng.below(3) == 0 ? 5000 : 1, ends_[99] - at);
    for (std::size_t i = at; i < at + count; ++i) damaged[i] = rng.chance(1, 3) ? '\0' : static_cast<char>(~damaged[i]);
    if (damaged == bytes) continue;
    write_file(log_of(copy), damaged);
    const auto error = refusal(copy);
    EXPECT_EQ(error.code, Code::invalid);
    EXPECT_NE(error.message.find("cannot be read, and writes follow that were acknowledged"), std::string::npos) << error.message;
    EXPECT_EQ(content(log_of(copy)), damaged) << "what is refused is not touched";
  }
}

TEST(LogCheck, KnowsTheChecksum) {
  EXPECT_EQ(detail::crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(detail::crc32c(""), 0U);
}

}  // namespace
}  // namespace evenkeel::store::embedded

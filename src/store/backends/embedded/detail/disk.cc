#include "evenkeel/store/backends/embedded/detail/disk.h"

#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <array>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <random>

#include "evenkeel/store/backends/embedded/detail/log_check.h"
#include "evenkeel/store/backends/embedded/detail/log_file.h"

namespace evenkeel::store::embedded::detail {
namespace {

constexpr std::string_view compacted_fact = "compacted";
constexpr std::string_view removed_fact = "removed";
constexpr std::string_view cluster_fact = "cluster";
constexpr std::string_view member_fact = "member";
constexpr std::string_view recovered_fact = "recovered";

// A number for a folder, never 0, that fits into a signed one: drawn once, when it is made.
std::uint64_t draw_id() {
  std::random_device device;
  return ((std::uint64_t{device()} << 32 | device()) >> 1) | 1;
}

// What RocksDB has to say goes to our log, not to a file in the folder: RocksDB 7.8, as Debian has it, ends the process with the second line that does not fit
// on a full disk.
class Journal final : public rocksdb::Logger {
 public:
  explicit Journal(Log* log) : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(log) {}
  using Logger::Logv;
  void Logv(const char* form, va_list values) override {
    if (log_ == nullptr) return;
    std::array<char, 1024> line;
    std::vsnprintf(line.data(), line.size(), form, values);
    log_->debug("RocksDB", {{"says", line.data()}});
  }

 private:
  Log* log_;
};

rocksdb::Options options_for(rocksdb::Env* env, Log* log) {
  rocksdb::Options options;
  options.env = env;
  options.paranoid_checks = true;
  // What may be dropped has been looked at already (log_check.h); logs that are missing or too short are found by the manifest.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.track_and_verify_wals_in_manifest = true;
  options.write_buffer_size = 64 << 20;
  options.max_background_jobs = 2;
  options.compression = rocksdb::kNoCompression;
  options.max_bgerror_resume_count = 0;  // it is the writer who tries again
  options.info_log = std::make_shared<Journal>(log);
  options.stats_dump_period_sec = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(32 << 20);
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

Result<std::unique_ptr<Disk>> Disk::open(const std::string& folder, const EngineOptions& options) {
  auto lock = FolderLock::take(folder);
  if (!lock) return fail(std::move(lock).error());
  const auto make = prepare_folder(folder);
  if (!make) return fail(make.error());
  std::unique_ptr<Disk> disk(new Disk);
  disk->folder_ = folder;
  disk->log_ = options.log;
  disk->lock_ = *std::move(lock);
  disk->base_ = options.file_system ? options.file_system : rocksdb::FileSystem::Default();
  disk->env_ = rocksdb::NewCompositeEnv(make_log_file_system(disk->base_));
  disk->write_.sync = options.synchronous;
  if (auto opened = *make ? disk->make_new() : disk->open_old(); !opened) return fail(std::move(opened).error());
  return disk;
}

Disk::~Disk() {
  if (database_) database_->Close().PermitUncheckedError();
}

Result<> Disk::open_database(bool make) {
  auto options = options_for(env_.get(), log_);
  options.create_if_missing = make;
  options.error_if_exists = make;
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::Open(options, folder_, &opened);
  database_.reset(opened);
  if (status.ok()) return {};
  const bool missing = status.IsNotFound() || status.IsPathNotFound();
  if (status.IsCorruption() || status.IsInvalidArgument() || (missing && !make)) return fail(damage(status.ToString()));
  return fail(error_of(status));
}

// When RocksDB has opened it, all that the logs before held is in tables, and they are left behind, torn or not. RocksDB begins the next log
// with a mark of its own, still inside DB::Open: if the process ends right after it, a record follows a torn one. So a torn log is noted
// first; until it is read nothing can follow in it that was acknowledged.
Result<> Disk::open_old() {
  const auto known = read_torn(folder_);
  if (!known) return fail(known.error());
  const auto logs = list_logs(folder_);
  const auto torn = check_logs(folder_, *known);
  if (!torn) return fail(torn.error());
  if (*torn)
    if (auto noted = write_torn(folder_, logs); !noted) return noted;
  if (auto opened = open_database(false); !opened) return opened;
  if (*torn && log_ != nullptr)
    log_->warn("the end of the log was torn, and dropped: nothing of it was acknowledged", {{"folder", folder_}});
  return {};
}

Result<> Disk::make_new() {
  if (auto opened = open_database(true); !opened) return opened;
  rocksdb::WriteBatch batch;
  batch.Put(fact_key(cluster_fact), std::to_string(draw_id()));
  batch.Put(fact_key(member_fact), std::to_string(draw_id()));
  batch.Put(fact_key(compacted_fact), "0");
  batch.Put(fact_key(removed_fact), "0");
  rocksdb::WriteOptions synced;
  synced.sync = true;
  if (const auto status = database_->Write(synced, &batch); !status.ok()) return fail(error_of(status));
  if (auto written = write_format(folder_); !written) return written;
  return finish_folder(folder_);
}

Error Disk::damage(std::string_view what) const {
  return {Code::invalid, fmt::format("{} is damaged: {}; restore a backup", folder_, what)};
}

Error Disk::error_of(const rocksdb::Status& status) const {
  return {Code::unavailable, fmt::format("{}: {}", folder_, status.ToString())};
}

Result<std::int64_t> Disk::number(std::string_view fact) const {
  std::string text;
  const auto status = database_->Get({}, fact_key(fact), &text);
  if (status.IsNotFound()) return fail(damage(fmt::format("it does not say \"{}\"", fact)));
  if (!status.ok()) return fail(damage(status.ToString()));
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0)
    return fail(damage(fmt::format("its \"{}\" is no number", fact)));
  return value;
}

Result<Disk::Contents> Disk::load() const {
  Contents contents;
  if (auto good = load_facts(contents); !good) return fail(std::move(good).error());
  if (auto good = load_leases(contents); !good) return fail(std::move(good).error());
  if (auto good = load_records(contents); !good) return fail(std::move(good).error());
  const auto floor = read_floor(folder_);
  if (!floor) return fail(floor.error());
  if (contents.revision < *floor)
    return fail(damage(fmt::format("its last revision is {}, but it had {} once", contents.revision, *floor)));
  if (contents.revision > *floor) note(contents.revision);
  return contents;
}

void Disk::note(std::int64_t revision) const {
  const auto written = write_floor(folder_, revision);
  if (!written && log_ != nullptr) log_->warn("the revision could not be noted", {{"error", written.error().message}});
}

Result<> Disk::load_facts(Contents& contents) const {
  const auto compacted = number(compacted_fact);
  const auto removed = number(removed_fact);
  const auto cluster = number(cluster_fact);
  const auto member = number(member_fact);
  for (const auto* fact : {&compacted, &removed, &cluster, &member})
    if (!*fact) return fail(fact->error());
  contents.compacted = *compacted;
  contents.removed = *removed;
  contents.cluster_id = static_cast<std::uint64_t>(*cluster);
  contents.member_id = static_cast<std::uint64_t>(*member);
  return {};
}

Result<> Disk::load_leases(Contents& contents) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator({}));
  for (at->Seek("l"); at->Valid() && at->key().starts_with("l"); at->Next()) {
    const auto id = parse_lease_key(view(at->key()));
    const auto ttl = parse_ttl(view(at->value()));
    if (!id || !ttl) return fail(damage("a lease cannot be read"));
    contents.leases.emplace(*id, *ttl);
  }
  if (!at->status().ok()) return fail(damage(at->status().ToString()));
  return {};
}

// A revision is written whole or not at all, and none is left out; only what was compacted has gaps.
Result<> Disk::load_records(Contents& contents) const {
  Stamp before{1, 0, false};
  std::string wrong;
  auto scanned = scan(0, std::numeric_limits<std::int64_t>::max(), [&](Stamp stamp, KeyValue&& entry) {
    const bool next = stamp.revision == before.revision ? stamp.sub == before.sub + 1 : stamp.sub == 0;
    if (stamp.revision > contents.compacted && (stamp.revision > std::max(before.revision, contents.compacted) + 1 || !next)) {
      wrong = fmt::format("after revision {}.{} comes {}.{}", before.revision, before.sub, stamp.revision, stamp.sub);
      return false;
    }
    before = stamp;
    contents.index.load(std::move(entry), stamp);
    return true;
  });
  if (!scanned) return scanned;
  if (!wrong.empty()) return fail(damage(wrong));
  contents.revision = before.revision;
  if (contents.revision < contents.compacted)
    return fail(damage(fmt::format("its last revision is {}, but it was compacted at {}", before.revision, contents.compacted)));
  return {};
}

Result<> Disk::commit(rocksdb::WriteBatch& batch) {
  if (failed_) return fail(failure_);
  const auto status = database_->Write(write_, &batch);
  if (status.ok()) return {};
  failed_ = true;
  torn_ = list_logs(folder_);
  failure_ = {Code::refused,
              fmt::format("the disk of {} fails, and the store must be opened again: {}", folder_, status.ToString())};
  // log_file.h makes all such errors one kind, so only the words are left.
  const auto says = [words = status.ToString()](std::string_view part) { return words.find(part) != std::string::npos; };
  full_ = says("No space left on device") && !says(log_sync_failed);
  if (full_) failure_.message = "etcdserver: mvcc: database space exceeded";
  if (log_ != nullptr)
    log_->error("a write to disk failed; writes are refused until it works again",
                {{"folder", folder_}, {"error", status.ToString()}});
  return fail(Code::unknown_outcome, "the write to {} failed, and may or may not be there after a restart: {}", folder_,
              status.ToString());
}

// What was acknowledged and is not in a table yet goes into one, and the log with the failed write is left behind for good: only then may
// revisions of the failed group be given out again. The mark in the batch makes sure that there is something to flush.
//
// Only where space was missing. After a sync that failed nobody knows what the host kept, and RocksDB 7.8 may wait for ever if it is resumed
// then: so the folder must be opened again.
Result<> Disk::recover() {
  if (!failed_) return {};
  if (!full_) return fail(failure_);
  if (const auto status = database_->Resume(); !status.ok()) return fail(failure_);
  if (!write_torn(folder_, torn_)) return fail(failure_);
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  auto status = database_->Put(unlogged, fact_key(recovered_fact), "1");
  if (status.ok()) status = database_->Flush({});
  if (!status.ok()) return fail(failure_);
  failed_ = false;
  if (log_ != nullptr) log_->info("the disk works again", {{"folder", folder_}});
  return {};
}

Result<KeyValue> Disk::fetch(Stamp stamp) const {
  rocksdb::PinnableSlice bytes;
  const auto status = database_->Get({}, database_->DefaultColumnFamily(), record_key(stamp.revision, stamp.sub), &bytes);
  if (status.IsNotFound()) return fail(Code::not_found, "{} has no record {}.{}", folder_, stamp.revision, stamp.sub);
  if (!status.ok()) return fail(error_of(status));
  auto entry = parse_record(view(bytes), stamp.revision);
  if (!entry) return fail(damage(fmt::format("its record {}.{} cannot be read", stamp.revision, stamp.sub)));
  return *std::move(entry);
}

Result<> Disk::scan(std::int64_t from, std::int64_t to, const std::function<bool(Stamp, KeyValue&&)>& use) const {
  const auto end = to == std::numeric_limits<std::int64_t>::max() ? std::string("s") : record_key(to + 1, 0);
  const auto bound = slice(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &bound;
  options.readahead_size = 2 << 20;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(options));
  for (at->Seek(record_key(from, 0)); at->Valid(); at->Next()) {
    auto stamp = parse_record_key(view(at->key()));
    if (!stamp) return fail(damage("a record has no revision"));
    auto entry = parse_record(view(at->value()), stamp->revision);
    if (!entry) return fail(damage(fmt::format("its record {}.{} cannot be read", stamp->revision, stamp->sub)));
    stamp->erased = entry->version == 0;
    if (!use(*stamp, *std::move(entry))) return {};
  }
  if (!at->status().ok()) return fail(damage(at->status().ToString()));
  return {};
}

Result<> Disk::remove(const std::vector<Stamp>& stamps) {
  rocksdb::WriteBatch batch;
  for (const auto& stamp : stamps) batch.Delete(record_key(stamp.revision, stamp.sub));
  // Synchronous like all others: check_logs relies on it that a write begins only when the one before is on the disk.
  if (failed_) return fail(Code::unavailable, "{}: its disk fails", folder_);
  if (const auto status = database_->Write(write_, &batch); !status.ok()) return fail(error_of(status));
  return {};
}

Result<> Disk::set_removed(std::int64_t compacted) {
  if (failed_) return fail(Code::unavailable, "{}: its disk fails", folder_);
  const auto status = database_->Put(write_, fact_key(removed_fact), std::to_string(compacted));
  if (!status.ok()) return fail(error_of(status));
  return {};
}

void Disk::put_compacted(rocksdb::WriteBatch& batch, std::int64_t revision) {
  batch.Put(fact_key(compacted_fact), std::to_string(revision));
}

std::uint64_t Disk::bytes() const {
  std::uint64_t tables = 0;
  std::uint64_t memory = 0;  // what is not in a table yet takes about as much in the log
  database_->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &tables);
  database_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  return tables + memory;
}

std::uint64_t Disk::bytes_in_use() const {
  std::uint64_t tables = 0;
  std::uint64_t memory = 0;
  database_->GetIntProperty(rocksdb::DB::Properties::kEstimateLiveDataSize, &tables);
  database_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  return tables + memory;
}

Result<> Disk::defragment() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  if (const auto status = database_->CompactRange(options, nullptr, nullptr); !status.ok()) return fail(error_of(status));
  return {};
}

Result<> Disk::backup(const std::string& to) const {
  std::error_code error;
  if (std::filesystem::exists(to, error))
    return fail(Code::conflict, "{} exists already; a backup goes to a folder of its own", to);
  rocksdb::Checkpoint* made = nullptr;
  auto status = rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(to);
  if (!status.ok()) return fail(Code::unavailable, "{}: {}", to, status.ToString());
  return write_format(to);
}

}  // namespace evenkeel::store::embedded::detail

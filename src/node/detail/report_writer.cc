#include "evenkeel/node/detail/report_writer.h"

#include <fmt/format.h>

#include <utility>

#include "evenkeel/model/documents.h"

namespace evenkeel::node::detail {
namespace {

constexpr Duration pause_time = 200ms;  // after an error that waiting may mend

}  // namespace

ReportWriter::ReportWriter(store::Store& store, std::string prefix, Gather gather, Hooks hooks)
    : store_(store), prefix_(std::move(prefix)), hooks_(std::move(hooks)), gather_(gather) {}

void ReportWriter::begin(const store::Listing& there) {
  for (const store::Entry& entry : there.entries) {
    there_[entry.key] = {entry.modified, entry.value};
    changed_.insert(entry.key);
  }
  go_on_soon({});
}

// When all has been said that is said together: it is written together.
void ReportWriter::go_on_soon(Duration least) {
  if (std::exchange(writing_, true)) return;
  waits_ = store_.loop().now();
  look_at(later(*waits_, least));
}

void ReportWriter::look_at(Instant due) {
  looks_at_ = due;
  store_.loop().cancel(timer_);
  timer_ = store_.loop().post_at(due, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
}

void ReportWriter::look() {
  if (closed_) return;
  const Instant last = later(*waits_, gather_.most);
  if (store_.loop().now() < last && hooks_.more_to_come()) return look_at(last);
  waits_.reset();
  go_on();
}

void ReportWriter::hurry() {
  const Instant now = store_.loop().now();
  if (waits_ && looks_at_ > now && now >= later(*waits_, gather_.least)) look_at(now);
}

void ReportWriter::put(std::string key, Report report) {
  changed_.insert(key);
  wanted_.insert_or_assign(std::move(key), Wanted{std::move(report), {}});
  go_on_soon(gather_.least);
}

void ReportWriter::erase(const std::string& key) {
  wanted_.erase(key);
  changed_.insert(key);
  go_on_soon(gather_.least);
}

store::Txn ReportWriter::next_batch() {
  store::Txn txn;
  std::size_t bytes = 0;
  bool fewer = false;
  while (!changed_.empty() && batch_.size() < keys_max) {
    const auto wanted = wanted_.find(*changed_.begin());
    if (wanted != wanted_.end() && wanted->second.text.empty()) wanted->second.text = format(wanted->second.report);
    const std::size_t size = wanted == wanted_.end() ? 0 : wanted->second.text.size();
    if (!batch_.empty() && bytes + size > bytes_max) break;
    const std::string key = changed_.extract(changed_.begin()).value();
    if (size > store::value_bytes_max) {  // the others need not wait for it
      hooks_.on_trouble({Code::too_large, fmt::format("{} has {} bytes, and is not written", key, size)});
      continue;
    }
    const auto known = there_.find(key);
    if (wanted == wanted_.end() && known == there_.end()) continue;
    if (wanted != wanted_.end() && known != there_.end() && known->second.text == wanted->second.text) continue;
    txn.compare(known == there_.end() ? store::absent(key) : store::unchanged(key, known->second.modified));
    if (wanted == wanted_.end()) {
      fewer = true;
      txn.erase(key);
      batch_.emplace(key, std::nullopt);
    } else {
      bytes += size;
      txn.put(key, wanted->second.text);
      batch_.emplace(key, wanted->second.text);
    }
  }
  if (fewer) {
    for (store::Write& more : hooks_.with_fewer(wanted_.size())) txn.then.push_back(std::move(more));
  }
  return txn;
}

void ReportWriter::go_on() {
  writing_ = false;
  if (closed_ || !hooks_.may_write()) return;
  store::Txn txn = next_batch();
  if (txn.then.empty()) return hooks_.on_idle();
  writing_ = true;
  store_.txn(std::move(txn), [weak = weak_from_this()](Result<store::Committed> done) {
    if (const auto self = weak.lock(); self && !self->closed_) self->on_answer(done);
  });
}

void ReportWriter::on_answer(const Result<store::Committed>& done) {
  auto batch = std::exchange(batch_, {});
  if (done && done->succeeded) {
    for (auto& [key, text] : batch) {
      if (text) {
        there_[key] = {done->revision, *std::move(text)};
      } else {
        there_.erase(key);
      }
    }
    writing_ = false;
    if (changed_.empty() || gather_.most == Duration{}) return go_on();
    return go_on_soon({});
  }
  for (const auto& [key, text] : batch) changed_.insert(key);
  if (done || done.error().code == Code::unknown_outcome) return read_again();
  hooks_.on_trouble(done.error());
  pause();
}

void ReportWriter::read_again() {
  store_.list(prefix_, [weak = weak_from_this()](Result<store::Listing> listing) {
    const auto self = weak.lock();
    if (!self || self->closed_) return;
    if (!listing) {
      self->hooks_.on_trouble(listing.error());
      return self->pause();
    }
    self->there_.clear();
    for (store::Entry& entry : listing->entries) {
      self->changed_.insert(entry.key);
      self->there_[entry.key] = {entry.modified, std::move(entry.value)};
    }
    self->go_on();
  });
}

// What went wrong may have been done after all only if it was said to be unknown; then read_again() comes first.
void ReportWriter::pause() {
  store_.loop().post_after(pause_time, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->closed_) self->read_again();
  });
}

}  // namespace evenkeel::node::detail

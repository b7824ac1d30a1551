#pragma once
// ReportWriter: makes the store's documents below one prefix equal to those that one incarnation wants there, in bounded txns, one at a time.
//
// Each write compares the document with the revision last known of it, so that a late write of an earlier incarnation and this one cannot
// overwrite each other unseen: who is second reads again and decides again. What has an unknown outcome is read before it is tried again.
// What will be said in a moment is waited for a moment, so that it is written once: what was told comes in pieces, and so does what becomes of it.
// On the store's loop. Held by shared_ptr; once it is closed, nothing more comes of it.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evenkeel/model/exchange.h"
#include "evenkeel/store/store.h"

namespace evenkeel::node::detail {

class ReportWriter : public std::enable_shared_from_this<ReportWriter> {
 public:
  static constexpr std::size_t keys_max = 50;        // of a txn
  static constexpr std::size_t bytes_max = 700'000;  // of a txn's values; keys and what goes with them have room beside it

  struct Hooks {
    std::function<bool()> may_write;  // false: the session is over, and with it all writing
    std::function<void()> on_idle;    // everything is written
    // So many documents will be left after a txn that erases some: what else must be written with it.
    std::function<std::vector<store::Write>(std::size_t left)> with_fewer;
    std::function<void(const Error&)> on_trouble;  // something could not be written; it is tried again
    std::function<bool()> more_to_come;            // in a moment
  };
  // How long what is to be said is gathered: at least, and at most if there is more to come. 0: nothing is waited for.
  struct Gather {
    Duration least = {};
    Duration most = {};
  };

  ReportWriter(store::Store& store, std::string prefix, Gather gather, Hooks hooks);

  // What is there from before; whatever is not wanted of it goes.
  void begin(const store::Listing& there);
  void put(std::string key, Report report);
  void erase(const std::string& key);
  // There is no more to come just now.
  void hurry();
  void close() { closed_ = true; }

  bool idle() const { return !writing_ && changed_.empty(); }
  std::size_t wanted() const { return wanted_.size(); }

 private:
  struct Known {
    store::Revision modified;
    std::string text;
  };
  // A report, and once it was needed its text: many are replaced before they are written.
  struct Wanted {
    Report report;
    std::string text;
  };
  void go_on();
  void go_on_soon(Duration least);
  void look();
  void look_at(Instant due);
  store::Txn next_batch();
  void on_answer(const Result<store::Committed>& done);
  void read_again();
  void pause();

  store::Store& store_;
  std::string prefix_;
  Hooks hooks_;
  const Gather gather_;
  std::map<std::string, Wanted> wanted_;
  std::map<std::string, Known> there_;
  std::set<std::string> changed_;                            // keys to be looked at
  std::map<std::string, std::optional<std::string>> batch_;  // what is under way
  bool writing_ = false;                                     // or about to
  std::optional<Instant> waits_;                             // before it writes: since when
  Instant looks_at_;
  Timer timer_;
  bool closed_ = false;
};

}  // namespace evenkeel::node::detail

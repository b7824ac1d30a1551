#pragma once
// History: what clients asked of a store and were told, and whether any honest store could have answered so.
//
//   History history;
//   const auto put = history.call({.client = 1, .key = "/k", .kind = Operation::Kind::write, .value = "a"}, now);
//   history.done(put, revision, now);                          // or refused(), not_done(); without any it is unknown
//   EXPECT_EQ(check(history.operations()), "");                // else: which key, and what cannot be explained
//
// Each key is a register of its own, absent at first. An operation took effect at one moment between its call and its answer; one whose
// outcome is unknown took effect once at any time after its call, or never. The checker looks for an order of those moments in which every
// answer is right (the search of Wing and Gong, with a memory of what was tried). It also knows revisions: they grow with every write of a
// key, a compare holds exactly if the latest write has that revision, and a read tells the revisions of the writes that it saw.
// A weak read (a list, or what a watch says) may be older, but not older than what its client has seen or done before on that key.
//
// Every write writes a value of its own, so that a read tells which write it saw. Cost: about (operations × those under way at once) a key;
// what is unknown multiplies that, so a key should have some hundreds of operations, and some tens with an unknown outcome.

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/base/time.h"
#include "evenkeel/store/store.h"

namespace evenkeel::test {

struct Operation {
  enum class Kind : std::uint8_t { read, weak_read, write };
  enum class Outcome : std::uint8_t {
    unknown,  // no answer, or one that does not say whether it was done
    done,
    refused,   // a write whose compare did not hold
    not_done,  // certainly without effect, and nothing was learnt
  };
  int client = 0;
  std::string key;
  Kind kind = Kind::read;
  std::optional<std::string> value;         // read: what was seen, none: absent; write: what is written, none: erase
  std::optional<store::Revision> expected;  // write: only if the latest write is this one; 0: only if absent
  Outcome outcome = Outcome::unknown;
  store::Revision created;   // read: of the entry, if there is one
  store::Revision modified;  // read: of the entry; write: its own, if done
  Instant called;
  Instant answered = Instant::max();
};

// Empty if all is well, else what is wrong, for people.
std::string check(const std::vector<Operation>& operations);

// One operation in a line: "c1 [3ms,5ms] put a if 7 -> done 9".
std::string format(const Operation& operation);

// Any thread may call.
class History {
 public:
  using Ticket = std::size_t;

  Ticket call(Operation operation, Instant now);
  void done(Ticket ticket, store::Revision revision, Instant now);                  // a write
  void seen(Ticket ticket, const std::optional<store::Entry>& entry, Instant now);  // a read
  void refused(Ticket ticket, Instant now);
  void not_done(Ticket ticket, Instant now);

  std::vector<Operation> operations() const;

 private:
  void finish(Ticket ticket, Operation::Outcome outcome, Instant now);

  mutable std::mutex mutex_;
  std::vector<Operation> operations_;
};

}  // namespace evenkeel::test

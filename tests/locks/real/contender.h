#pragma once
// Contender: a process that wants a lock, works while it has it, and says what it sees, until it is killed. The tests' own program runs as
// one if its first word is `contend`; contest.h starts those.
//
// Its work is a counter in the store, which it reads once and then adds to in txns with the lock's guard. When it finds its lock lost it tries
// once more to add, with nothing but that guard, and goes back to wait for the lock as a new run would.
//
// It says, one line each, a word and three numbers (times in nanoseconds of the boot-time clock, which is one for all processes of a host):
//   valid TOKEN AT DEADLINE   the lock was good then
//   lost TOKEN AT 0           it was not any more
//   again TOKEN AT 0          and then it was: never
//   wrote TOKEN COUNT 0       the counter is now so much
//   late TOKEN COUNT 0        the same after the lock was lost: nobody has taken it yet
//   refused TOKEN COUNT 0     the store did not let it
// Lines that begin with # are for people.

#include <span>
#include <string>
#include <vector>

#include "evenkeel/base/time.h"

namespace evenkeel::locks {

struct ContenderOptions {
  std::string url;
  std::string mode;  // session, expiring, or office: an election
  std::string path;  // of the lock; the counter is beside it
  std::string name;
  Duration ttl = 1s;
};

std::string counter_of(const std::string& path);

// Both ways between options and words.
std::vector<std::string> contender_words(const ContenderOptions& options);
ContenderOptions parse_contender(std::span<char*> words);

// Returns only if it cannot begin.
int contend(const ContenderOptions& options);

}  // namespace evenkeel::locks

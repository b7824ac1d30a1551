#include "tests/store/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace evenkeel::test {
namespace {

using store::Revision;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;
using Bits = std::vector<bool>;

constexpr int none = -1;

// What a key is at some moment: by the number of the write that made it so.
struct State {
  int writer = none;   // of the value that is there; none: absent
  int creator = none;  // since which it has been there
  Revision last;       // the newest known revision of a write so far, erasing ones too
  friend auto operator<=>(const State&, const State&) = default;
};

// One key's operations that say something, by when they can have begun to matter.
struct Step {
  Operation operation;
  Instant begin;                     // it took effect no earlier; a weak read may be older than its call
  int after = none;                  // the step of the same client that it does not go behind
  std::optional<Revision> revision;  // of a write, if anybody was told
};

// Looks for an order of one key's steps.
class Search {
 public:
  explicit Search(std::vector<Step> steps) : steps_(std::move(steps)), done_(steps_.size()) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Operation& operation = steps_[i].operation;
      (operation.outcome == Outcome::unknown ? unknown_ : definite_).push_back(static_cast<int>(i));
      if (operation.kind == Kind::write && operation.value) by_value_[*operation.value] = static_cast<int>(i);
    }
  }

  std::string run() {
    if (go({}, 0)) return {};
    return tried_ > tries_max ? fmt::format("not decided after {} tries: too many unknown outcomes", tries_max) : explain();
  }

 private:
  static constexpr std::size_t tries_max = 200'000;

  const Operation& operation(int step) const { return steps_[static_cast<std::size_t>(step)].operation; }
  const std::optional<Revision>& revision(int step) const { return steps_[static_cast<std::size_t>(step)].revision; }

  bool holds(const Operation& write, const State& state) const {
    if (!write.expected) return true;
    if (write.expected == Revision()) return state.writer == none;
    // A revision that nobody was told is not one that anybody compares with.
    return state.writer != none && revision(state.writer) == write.expected;
  }

  bool sees(const Operation& read, const State& state) const {
    if (!read.value) return state.writer == none;
    const auto writer = by_value_.find(*read.value);
    if (writer == by_value_.end() || writer->second != state.writer) return false;
    const auto known = revision(state.creator);
    return revision(state.writer) == read.modified && (!known || known == read.created);
  }

  // The state after a step, if its answer is right there.
  std::optional<State> apply(int step, const State& state) const {
    const Operation& one = operation(step);
    if (one.kind != Kind::write) return sees(one, state) ? std::optional(state) : std::nullopt;
    if (one.outcome == Outcome::refused) return holds(one, state) ? std::nullopt : std::optional(state);
    if (!holds(one, state)) return std::nullopt;
    if (!one.value && state.writer == none) return state;
    State next = state;
    if (const auto own = revision(step)) {
      if (*own <= state.last) return std::nullopt;
      next.last = *own;
    }
    next.writer = one.value ? step : none;
    next.creator = !one.value ? none : state.writer == none ? step : state.creator;
    return next;
  }

  bool changes(int step) const { return operation(step).kind == Kind::write && operation(step).outcome != Outcome::refused; }
  bool open(int step) const { return !done_[static_cast<std::size_t>(step)]; }

  // Definite steps that may come next: nothing that is still open had its answer before they began.
  std::vector<int> next_definite() const {
    Instant limit = Instant::max();
    std::vector<int> found;
    for (const int step : definite_) {
      if (!open(step)) continue;
      if (steps_[static_cast<std::size_t>(step)].begin > limit) break;
      limit = std::min(limit, operation(step).answered);
      const int after = steps_[static_cast<std::size_t>(step)].after;
      if (after == none || !open(after)) found.push_back(step);
    }
    return found;
  }

  std::vector<int> next_unknown() const {
    Instant limit = Instant::max();
    for (const int step : definite_) {
      if (open(step)) limit = std::min(limit, operation(step).answered);
    }
    std::vector<int> found;
    for (const int step : unknown_) {
      if (open(step) && operation(step).called <= limit) found.push_back(step);
    }
    return found;
  }

  // Writes come in the order of their revisions: none whose revision is above one that is still to come.
  bool too_early(int step) const {
    const auto own = revision(step);
    if (!own || operation(step).kind != Kind::write || !operation(step).value) return false;
    return std::ranges::any_of(definite_, [&](int other) {
      const Operation& one = operation(other);
      return open(other) && one.kind == Kind::write && one.outcome == Outcome::done && one.value && one.modified < *own;
    });
  }

  bool try_step(int step, const State& next, std::size_t count) {
    const auto at = static_cast<std::size_t>(step);
    done_[at] = true;
    const bool found = go(next, count + (operation(step).outcome == Outcome::unknown ? 0 : 1));
    if (!found) done_[at] = false;
    return found;
  }

  // Whether the rest can be ordered, from a state in which `count` definite steps are done.
  bool go(const State& state, std::size_t count) {
    if (count == definite_.size()) return true;
    if (++tried_ > tries_max || seen_before(state)) return false;
    if (count >= best_count_) std::tie(best_count_, best_, best_done_) = std::tuple(count, state, done_);
    const std::vector<int> definite = next_definite();
    // What is right now and can never change anything may as well be first: no other order needs to be tried.
    for (const int step : definite) {
      if (!changes(step) && apply(step, state)) return try_step(step, state, count);
    }
    for (const auto& steps : {definite, next_unknown()}) {
      for (const int step : steps) {
        const auto next = apply(step, state);
        if (next && changes(step) && !too_early(step) && try_step(step, *next, count)) return true;
      }
    }
    return false;
  }

  // The same state with the same definite steps done was tried before, with no more of the unknown ones used up.
  bool seen_before(const State& state) {
    Bits definite, unknown;
    for (const int step : definite_) definite.push_back(!open(step));
    for (const int step : unknown_) unknown.push_back(!open(step));
    std::vector<Bits>& tried = seen_[{std::move(definite), state}];
    for (const Bits& used : tried) {
      bool within = true;
      for (std::size_t i = 0; within && i < used.size(); ++i) within = !used[i] || unknown[i];
      if (within) return true;
    }
    tried.push_back(std::move(unknown));
    return false;
  }

  std::string explain() {
    done_ = best_done_;
    std::string text =
        fmt::format("no order explains more than {} of {} answers; then the key is {}, and none of these fits:\n", best_count_,
                    definite_.size(), best_.writer == none ? "absent" : *operation(best_.writer).value);
    for (const int step : next_definite()) text += fmt::format("  {}\n", format(operation(step)));
    text += "all of it:\n";
    for (const Step& step : steps_) text += fmt::format("  {}\n", format(step.operation));
    return text;
  }

  std::vector<Step> steps_;
  std::vector<int> definite_, unknown_;
  std::map<std::string, int> by_value_;
  Bits done_;
  std::map<std::pair<Bits, State>, std::vector<Bits>> seen_;
  std::size_t tried_ = 0;
  std::size_t best_count_ = 0;
  State best_;
  Bits best_done_;
};

bool says_something(const Operation& operation) {
  return operation.outcome != Outcome::not_done && (operation.kind == Kind::write || operation.outcome == Outcome::done);
}

// The last step of the same client that was answered before this operation was called.
int step_before(const std::vector<Step>& steps, const Operation& operation) {
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Operation& one = steps[i].operation;
    if (one.client == operation.client && one.outcome != Outcome::unknown && one.answered <= operation.called)
      return static_cast<int>(i);
  }
  return none;
}

// A weak read begins where its client's operation before it did, or where time begins.
std::vector<Step> make_steps(std::vector<Operation> operations) {
  std::ranges::stable_sort(operations, {}, &Operation::called);
  std::vector<Step> steps;
  for (Operation& operation : operations) {
    if (!says_something(operation)) continue;
    Step step{.begin = operation.called};
    if (operation.kind == Kind::weak_read) {
      step.after = step_before(steps, operation);
      step.begin = step.after == none ? Instant::min() : steps[static_cast<std::size_t>(step.after)].begin;
    }
    if (operation.kind == Kind::write && operation.outcome == Outcome::done) step.revision = operation.modified;
    step.operation = std::move(operation);
    steps.push_back(std::move(step));
  }
  return steps;
}

// By when they begin, with `after` still naming the same.
std::vector<Step> sort_steps(std::vector<Step> steps) {
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i].begin; });
  std::vector<int> place(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  std::vector<Step> sorted;
  for (const std::size_t i : order) {
    if (steps[i].after != none) steps[i].after = place[static_cast<std::size_t>(steps[i].after)];
    sorted.push_back(std::move(steps[i]));
  }
  return sorted;
}

// Reads tell the revision of writes whose answer was lost. Also finds reads of what nobody wrote.
std::string learn_revisions(std::vector<Step>& steps) {
  std::map<std::string, Step*> writes;
  for (Step& step : steps) {
    if (step.operation.kind != Kind::write || !step.operation.value) continue;
    ensure(writes.emplace(*step.operation.value, &step).second, "every write of a history writes a value of its own");
  }
  for (const Step& step : steps) {
    if (step.operation.kind == Kind::write || !step.operation.value) continue;
    const auto write = writes.find(*step.operation.value);
    if (write == writes.end() || write->second->operation.outcome == Outcome::refused)
      return fmt::format("it was never written, by what its writer was told: {}", format(step.operation));
    auto& known = write->second->revision;
    if (known && *known != step.operation.modified)
      return fmt::format("{} is of revision {}, and yet: {}", *step.operation.value, *known, format(step.operation));
    known = step.operation.modified;
  }
  return {};
}

// For each client: what it saw or did never goes back. It follows from the search, but says more plainly what is wrong.
std::string check_monotonic(const std::vector<Step>& steps) {
  std::map<int, const Step*> latest;
  for (const Step& step : steps) {
    const Operation& one = step.operation;
    if (one.outcome != Outcome::done || !one.value) continue;
    const auto [before, first] = latest.try_emplace(one.client, &step);
    if (!first && before->second->operation.answered < one.called) {
      if (one.modified < before->second->operation.modified)
        return fmt::format("a client went back:\n  {}\n  {}", format(before->second->operation), format(one));
      before->second = &step;
    }
  }
  return {};
}

std::string check_key(std::vector<Operation> operations) {
  std::vector<Step> steps = make_steps(std::move(operations));
  if (std::string wrong = learn_revisions(steps); !wrong.empty()) return wrong;
  if (std::string wrong = check_monotonic(steps); !wrong.empty()) return wrong;
  return Search(sort_steps(std::move(steps))).run();
}

}  // namespace

std::string check(const std::vector<Operation>& operations) {
  std::map<std::string, std::vector<Operation>> by_key;
  for (const Operation& operation : operations) by_key[operation.key].push_back(operation);
  for (auto& [key, all] : by_key) {
    if (std::string wrong = check_key(std::move(all)); !wrong.empty()) return fmt::format("{}: {}", key, wrong);
  }
  return {};
}

std::string format(const Operation& operation) {
  std::string text = fmt::format("c{} [{},{}] ", operation.client, format(operation.called),
                                 operation.answered == Instant::max() ? "…" : format(operation.answered));
  if (operation.kind != Kind::write) {
    text += operation.kind == Kind::read ? "get" : "list";
    if (operation.outcome != Outcome::done) return text + " -> no answer";
    if (!operation.value) return text + " -> absent";
    return text + fmt::format(" -> {} created {} modified {}", *operation.value, operation.created, operation.modified);
  }
  text += operation.value ? "put " + *operation.value : "erase";
  if (operation.expected) text += operation.expected == Revision() ? " if absent" : fmt::format(" if {}", *operation.expected);
  switch (operation.outcome) {
    case Outcome::unknown:
      return text + " -> unknown";
    case Outcome::refused:
      return text + " -> refused";
    case Outcome::not_done:
      return text + " -> not done";
    case Outcome::done:
      break;
  }
  return text + fmt::format(" -> done {}", operation.modified);
}

History::Ticket History::call(Operation operation, Instant now) {
  operation.called = now;
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
  return operations_.size() - 1;
}

void History::finish(Ticket ticket, Outcome outcome, Instant now) {
  operations_[ticket].outcome = outcome;
  operations_[ticket].answered = now;
}

void History::done(Ticket ticket, Revision revision, Instant now) {
  const std::lock_guard lock(mutex_);
  finish(ticket, Outcome::done, now);
  operations_[ticket].modified = revision;
}

void History::seen(Ticket ticket, const std::optional<store::Entry>& entry, Instant now) {
  const std::lock_guard lock(mutex_);
  finish(ticket, Outcome::done, now);
  Operation& read = operations_[ticket];
  read.value = entry ? std::optional(entry->value) : std::nullopt;
  read.created = entry ? entry->created : Revision();
  read.modified = entry ? entry->modified : Revision();
}

void History::refused(Ticket ticket, Instant now) {
  const std::lock_guard lock(mutex_);
  finish(ticket, Outcome::refused, now);
}

void History::not_done(Ticket ticket, Instant now) {
  const std::lock_guard lock(mutex_);
  finish(ticket, Outcome::not_done, now);
}

std::vector<Operation> History::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

}  // namespace evenkeel::test

// The scheduler against the naive model, on random commands in regimes that each lean on one rule. A failure prints its seed and a
// trace as short as a simple search finds, which `evenkeel broker replay` plays.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "evenkeel/base/rng.h"
#include "evenkeel/broker/trace.h"
#include "tests/broker/runners.h"
#include "tests/story/slow_build.h"

namespace evenkeel::broker {
namespace {

constexpr std::size_t commands_a_seed = slow_build ? 400 : 2500, seeds = slow_build ? 2 : 10;

enum Op : std::uint8_t {
  submit,
  submit_instant,
  update,
  resubmit,
  update_cookie,
  remove_task,
  finish,
  finish_instant,
  reduce,
  merge,
  client_died,
  advance,
  configure,
  stranger,  // a task that nobody has
  ops
};

struct Regime {
  std::string name;
  Options options;
  std::uint64_t queues = 4, types = 8, more_resources = 0;
  std::vector<std::uint64_t> weights = {0, 1, 2, 30, 100};
  std::vector<std::uint64_t> limits = {4, 10, 100, 1000};  // of the node; `unlimited` means none
  std::vector<std::uint64_t> queue_limits = {2, 5, 40, unlimited};
  std::vector<std::uint64_t> durations = {0, 100, 1000, 1000};
  std::vector<std::uint64_t> needs = {0, 1, 1, 2, 3, 5};
  std::vector<std::uint64_t> advances = {1, 10, 100, 500};
  std::uint64_t clients = 4, ids = 40, tasks = 60;
  std::array<std::uint64_t, ops> odds = {30, 4, 5, 4, 2, 4, 20, 3, 4, 3, 1, 25, 1, 2};
  Config (*config)() = nullptr;
};

template <class T>
const T& any_of(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

Config random_config(Rng& rng, const Regime& regime) {
  if (regime.config != nullptr) return regime.config();
  std::vector<std::string> resources = {"cpu", "memory"};
  for (std::uint64_t r = 0; r < regime.more_resources; ++r) resources.push_back("r" + std::to_string(rng.below(6)));
  const auto limits = [&](const std::vector<std::uint64_t>& choices) {
    Amounts amounts;
    for (const std::string& resource : resources) {
      if (const std::uint64_t limit = any_of(rng, choices); !find_amount(amounts, resource) && !rng.chance(1, 8))
        amounts.emplace_back(resource, limit);
    }
    return amounts;
  };
  Config config;
  for (std::uint64_t q = 0; q < regime.queues; ++q) {
    config.queues.push_back({.name = q == 0 ? "queue_default" : "q" + std::to_string(q),
                             .weight = any_of(rng, regime.weights),
                             .limit = limits(regime.queue_limits)});
  }
  for (std::uint64_t t = 0; t < regime.types; ++t) {
    config.types.push_back({.name = t == 0 ? "unknown" : "t" + std::to_string(t),
                            .queue = any_of(rng, config.queues).name,
                            .default_duration = Micros(any_of(rng, regime.durations))});
  }
  // Some are left out, so that a reconfigure drops and brings back queues and types.
  if (rng.chance(1, 2)) config.types.pop_back();
  config.limit = limits(regime.limits);
  return config;
}

// Random commands that lean on what the model has now.
class Scenario {
 public:
  Scenario(const Regime& regime, Rng rng, NaiveRunner& naive) : regime_(regime), rng_(rng), naive_(naive) {}

  trace::Command next() {
    if (!naive_.engine()) return trace::Configure{random_config(rng_, regime_)};
    Op op = any_op();
    // A full house is emptied first.
    if (naive_.engine()->tasks() > regime_.tasks && (op == submit || op == submit_instant)) op = finish;
    const auto [client, task] = any_task(op == finish || op == finish_instant || op == reduce || op == merge || op == resubmit);
    switch (op) {
      case submit:
      case submit_instant:
        return trace::Submit{.client = any_client(),
                             .task = TaskId(rng_.chance(1, 5) ? 0 : 1 + rng_.below(regime_.ids)),
                             .type = any_type(),
                             .priority = rng_.below(3),
                             .need = any_need(),
                             .cookie = std::to_string(rng_.below(1000)),
                             .instant = op == submit_instant};
      case update:
      case resubmit:
        return trace::Update{.client = client,
                             .task = task,
                             .type = any_type(),
                             .priority = rng_.below(3),
                             .need = any_need(),
                             .resubmit = op == resubmit};
      case update_cookie:
        return trace::UpdateCookie{client, task, std::to_string(rng_.below(1000))};
      case remove_task:
        return trace::Remove{client, task, rng_.chance(1, 2)};
      case finish:
      case finish_instant:
        return trace::Finish{.client = client, .task = task, .cancel = rng_.chance(1, 5), .instant = op == finish_instant};
      case reduce:
        return trace::Reduce{client, task, any_need()};
      case merge:
        return trace::Merge{client, task, any_task(true, client).second};
      case client_died:
        return trace::ClientDied{any_client()};
      case advance:
        return trace::Advance{
            Micros(rng_.chance(1, 3) ? rng_.below(any_of(rng_, regime_.advances) + 1) : any_of(rng_, regime_.advances))};
      case configure:
        return trace::Configure{random_config(rng_, regime_)};
      case stranger:
      case ops:
        break;
    }
    return trace::Finish{.client = any_client(), .task = TaskId(regime_.ids + 100'000), .instant = rng_.chance(1, 2)};
  }

 private:
  Op any_op() {
    std::uint64_t sum = 0;
    for (const std::uint64_t odds : regime_.odds) sum += odds;
    std::uint64_t draw = rng_.below(sum);
    for (std::size_t op = 0; op < ops; ++op) {
      if (draw < regime_.odds[op]) return static_cast<Op>(op);
      draw -= regime_.odds[op];
    }
    return stranger;
  }
  std::string any_client() { return "c" + std::to_string(rng_.below(regime_.clients)); }
  std::string any_type() {
    if (rng_.chance(1, 20)) return "nosuch";
    return any_of(rng_, naive_.engine()->config().types).name;
  }
  Amounts any_need() {
    Amounts need;
    for (const std::string& resource : naive_.engine()->resources()) {
      if (const std::uint64_t amount = any_of(rng_, regime_.needs); amount != 0) need.emplace_back(resource, amount);
    }
    return need;
  }
  // A task that is there, if any; with luck one that runs, and of this client.
  std::pair<std::string, TaskId> any_task(bool running, const std::string& of = "") {
    std::pair<std::string, TaskId> found = {any_client(), TaskId(1 + rng_.below(regime_.ids))};
    for (int attempt = 0; attempt < 6; ++attempt) {
      const ClientId client(static_cast<std::uint32_t>(rng_.below(regime_.clients)));
      const auto task = naive_.engine()->first_from(client, TaskId(rng_.below(regime_.ids)));
      if (!task) continue;
      found = {naive_.names().at(std::get<0>(*task)), std::get<1>(*task)};
      if ((!running || std::get<2>(*task)) && (of.empty() || found.first == of)) break;
    }
    return found;
  }

  const Regime& regime_;
  Rng rng_;
  NaiveRunner& naive_;
};

// Client numbers are each engine's own affair: in what is compared they are the numbers in the clients' names.
template <class Engine>
ClientId common_number(const RunnerOf<Engine>& runner, ClientId client) {
  return ClientId(static_cast<std::uint32_t>(std::stoul(runner.names().at(client).substr(1))));
}

template <class Engine>
Status comparable_status(RunnerOf<Engine>& runner) {
  Status status = runner.engine()->observe(Micros(runner.now()), 1000, 1000);
  for (QueueStatus& queue : status.queues) {
    for (TaskStatus& task : queue.waiting) task.client = common_number(runner, task.client);
  }
  for (TaskStatus& task : status.running) task.client = common_number(runner, task.client);
  std::ranges::sort(status.running, {}, [](const TaskStatus& task) { return std::tuple(task.since, task.client, task.id); });
  return status;
}

template <class Engine>
State comparable_state(RunnerOf<Engine>& runner) {
  State state = runner.engine()->save(Micros(runner.now()));
  for (TaskStatus& task : state.tasks) task.client = common_number(runner, task.client);
  for (ClientId& client : state.clients) client = common_number(runner, client);
  std::ranges::sort(state.clients);
  std::erase_if(state.finished_by_queue, [](const auto& entry) { return entry.second == 0; });
  std::erase_if(state.finished_by_type, [](const auto& entry) { return entry.second == 0; });
  return state;
}

std::string show(UInt128 value) { return fmt::format("{}", value); }

std::string difference(const TaskStatus& a, const TaskStatus& b) {
  return fmt::format("task {}/{} type {} since {} planned {} running {}; naive {}/{} type {} since {} planned {} running {}",
                     a.client, a.id, a.type, a.since.count(), a.planned_duration.count(), a.running, b.client, b.id, b.type,
                     b.since.count(), b.planned_duration.count(), b.running);
}

std::string difference(const Counters& a, const Counters& b) {
  return fmt::format("held {} finished {} enqueued {} infly {}; naive held {} finished {} enqueued {} infly {}",
                     fmt::join(a.held, "/"), a.finished, a.enqueued, a.infly, fmt::join(b.held, "/"), b.finished, b.enqueued,
                     b.infly);
}

std::string difference(const std::vector<TaskStatus>& a, const std::vector<TaskStatus>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) return difference(a[i], b[i]);
  }
  return fmt::format("{} tasks; naive {}", a.size(), b.size());
}

// What differs first, in words; empty if nothing does.
std::string difference(const Status& fast, const Status& naive) {
  if (fast == naive) return "";
  if (fast.denominator != naive.denominator)
    return fmt::format("denominator {}; naive {}", show(fast.denominator), show(naive.denominator));
  if (fast.missing_types != naive.missing_types) return "missing types";
  if (fast.total != naive.total) return "total: " + difference(fast.total, naive.total);
  if (fast.queues.size() != naive.queues.size() || fast.types.size() != naive.types.size()) return "how many queues or types";
  for (std::size_t q = 0; q < fast.queues.size(); ++q) {
    const QueueStatus &a = fast.queues[q], &b = naive.queues[q];
    if (a.real != b.real || a.planned != b.planned) {
      return fmt::format("queue {}: real {} planned {}; naive real {} planned {}", a.name, show(a.real), show(a.planned),
                         show(b.real), show(b.planned));
    }
    if (a.counters != b.counters) return fmt::format("queue {}: {}", a.name, difference(a.counters, b.counters));
    if (a.waiting != b.waiting) return fmt::format("queue {}: waiting: {}", a.name, difference(a.waiting, b.waiting));
    if (!(a.in_queue == b.in_queue)) return fmt::format("queue {}: in-queue times", a.name);
    if (a != b) return fmt::format("queue {}", a.name);
  }
  for (std::size_t t = 0; t < fast.types.size(); ++t) {
    const TypeStatus &a = fast.types[t], &b = naive.types[t];
    if (a.mean_duration != b.mean_duration)
      return fmt::format("type {}: mean {}; naive {}", a.name, a.mean_duration.count(), b.mean_duration.count());
    if (a.counters != b.counters) return fmt::format("type {}: {}", a.name, difference(a.counters, b.counters));
    if (!(a.in_queue == b.in_queue)) return fmt::format("type {}: in-queue times", a.name);
    if (!(a.execution == b.execution)) return fmt::format("type {}: execution times", a.name);
  }
  if (fast.running != naive.running) return "running: " + difference(fast.running, naive.running);
  return "status";
}

std::string difference(const State& fast, const State& naive) {
  if (fast == naive) return "";
  if (fast.now != naive.now) return fmt::format("state: now {}; naive {}", fast.now.count(), naive.now.count());
  if (fast.config != naive.config) return "state: config";
  if (fast.next_task != naive.next_task) return "state: next task";
  if (fast.missing_types != naive.missing_types) return "state: missing types";
  if (fast.finished != naive.finished) return "state: finished";
  if (fast.finished_by_queue != naive.finished_by_queue) return "state: finished by queue";
  if (fast.finished_by_type != naive.finished_by_type) return "state: finished by type";
  if (fast.clients != naive.clients) return "state: clients";
  if (fast.queues != naive.queues) return "state: queues";
  if (fast.types != naive.types) return "state: types";
  if (fast.tasks != naive.tasks) return "state: tasks: " + difference(fast.tasks, naive.tasks);
  return "state";
}

// What must hold of any status, whoever says it; empty if it does.
std::string broken_invariant(const Status& status) {
  Counters queues{.held = std::vector<UInt128>(status.resources.size(), 0)}, types = queues;
  const auto add = [](Counters& sum, const Counters& counters) {
    for (std::size_t r = 0; r < sum.held.size(); ++r) sum.held[r] += counters.held[r];
    sum.enqueued += counters.enqueued;
    sum.infly += counters.infly;
  };
  for (const QueueStatus& queue : status.queues) add(queues, queue.counters);
  for (const TypeStatus& type : status.types) add(types, type.counters);
  queues.finished = types.finished = status.total.finished;
  if (queues != status.total) return "the queues' counters do not sum up to the total";
  if (types != status.total) return "the types' counters do not sum up to the total";
  return "";
}

// Both engines, and now and then a third one restored from the first, on the same commands.
class Pair {
 public:
  explicit Pair(const Options& options) : options_(options), fast_(options), naive_(options) {}

  NaiveRunner& naive() { return naive_; }
  FastRunner& fast() { return fast_; }

  // Runs a command on all; what differs, or nothing.
  std::string run(const trace::Command& command) {
    std::string fast, naive;
    const auto done = fast_.run(command, fast);
    const auto naive_done = naive_.run(command, naive);
    if (done.has_value() != naive_done.has_value()) return "one ended the trace";
    if (fast != naive) return fmt::format("events:\n{}naive:\n{}", fast, naive);
    if (!restored_) return "";
    std::string restored;
    std::ignore = restored_->run(command, restored);
    return restored == fast ? "" : fmt::format("events:\n{}after restore:\n{}", fast, restored);
  }

  std::string compare() {
    if (!fast_.engine() || !naive_.engine()) return "";
    const Status status = comparable_status(fast_);
    if (auto wrong = difference(status, comparable_status(naive_)); !wrong.empty()) return wrong;
    if (auto wrong = difference(comparable_state(fast_), comparable_state(naive_)); !wrong.empty()) return wrong;
    return broken_invariant(status);
  }

  // A third engine from what the first one saves, by way of its text.
  std::string restore() {
    if (!fast_.engine()) return "";
    const trace::Restore saved{fast_.engine()->save(Micros(fast_.now())), fast_.names()};
    const std::string line = trace::format(saved);
    restored_.emplace(options_);
    std::string out;
    if (const auto done = restored_->line(line, out); !done) return done.error().message + "\n" + line;
    return difference(comparable_state(*restored_), comparable_state(fast_));
  }

 private:
  Options options_;
  FastRunner fast_;
  NaiveRunner naive_;
  std::optional<FastRunner> restored_;
};

// Plays commands from the start, comparing all after each; what differs, and after how many commands.
std::pair<std::string, std::size_t> replay(const Options& options, const std::vector<trace::Command>& commands) {
  Pair pair(options);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    std::string wrong = pair.run(commands[i]);
    if (wrong.empty()) wrong = pair.compare();
    if (wrong.empty()) wrong = pair.restore();
    if (!wrong.empty()) return {wrong, i + 1};
  }
  return {"", commands.size()};
}

// Leaves out what is not needed to fail: halves, quarters, … single commands; in a bounded number of tries, for each plays all.
std::vector<trace::Command> shrink(const Options& options, std::vector<trace::Command> commands) {
  int tries = 400;
  for (std::size_t size = commands.size() / 2; size > 0; size /= 2) {
    for (std::size_t at = 1; at < commands.size() && tries > 0; --tries) {
      auto fewer = commands;
      const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(size, commands.size() - at)));
      if (const auto [wrong, length] = replay(options, fewer); !wrong.empty()) {
        fewer.resize(length);
        commands = fewer;
      } else {
        at += size;
      }
    }
  }
  return commands;
}

std::string explain(const Regime& regime, std::uint64_t seed, std::vector<trace::Command> commands, const std::string& wrong) {
  std::string text = fmt::format("regime {}, seed {}, after {} commands: {}\n", regime.name, seed, commands.size(), wrong);
  if (const auto [again, length] = replay(regime.options, commands); !again.empty()) {
    commands.resize(length);
    commands = shrink(regime.options, std::move(commands));
    text += fmt::format("shortest trace found: {}\n", replay(regime.options, commands).first);
  }
  for (std::size_t i = 0; i < commands.size() && i < 200; ++i) text += trace::format(commands[i]) + "\n";
  return text;
}

// Finishes what runs until nothing is left: then every task that waited was granted, none starved.
std::string drain(Pair& pair, std::vector<trace::Command>& commands) {
  std::size_t left = pair.naive().engine()->tasks();
  while (left > 0) {
    const auto running = pair.naive().engine()->observe(Micros(pair.naive().now()), 0, 1).running;
    if (running.empty()) return "tasks wait and none runs";
    commands.push_back(trace::Finish{.client = pair.naive().names().at(running[0].client), .task = running[0].id});
    if (auto wrong = pair.run(commands.back()); !wrong.empty()) return wrong;
    if (pair.naive().engine()->tasks() != left - 1) return "a finished task did not go";
    --left;
  }
  return pair.compare();
}

std::string play(const Regime& regime, std::uint64_t seed, std::vector<trace::Command>& commands) {
  Pair pair(regime.options);
  Scenario generator(regime, Rng(seed), pair.naive());
  Rng rng(seed + 1'000'000);
  for (std::size_t i = 0; i < commands_a_seed; ++i) {
    commands.push_back(generator.next());
    if (auto wrong = pair.run(commands.back()); !wrong.empty()) return wrong;
    if (rng.chance(1, 8)) {
      if (auto wrong = pair.compare(); !wrong.empty()) return wrong;
    }
    if (rng.chance(1, 60)) {
      if (auto wrong = pair.restore(); !wrong.empty()) return wrong;
    }
    if (rng.chance(1, 20)) {
      const auto line = trace::format(commands.back());
      const auto again = trace::parse(line, pair.naive().engine()->resources());
      if (!again || !(*again == commands.back())) return "does not survive being written and read: " + line;
    }
  }
  return drain(pair, commands);
}

std::vector<Regime> regimes() {
  constexpr std::uint64_t big = unlimited;
  const auto with = [](Regime regime, std::initializer_list<std::pair<Op, std::uint64_t>> odds) {
    for (const auto& [op, odd] : odds) regime.odds[op] = odd;
    return regime;
  };
  return {
      {.name = "default config",
       .durations = {},
       .needs = {0, 1, 1, 2, 1 << 30},
       .advances = {100, 1'000'000, 60'000'000},
       .config = default_config},
      {.name = "heavy contention", .limits = {2, 3}, .queue_limits = {1, 2, 3}, .tasks = 120},
      {.name = "many queues", .queues = 50, .types = 70, .limits = {50, 70}, .queue_limits = {2, 3, 4}, .tasks = 150},
      {.name = "many resources", .more_resources = 3, .needs = {0, 0, 0, 1, 2, 4}},
      {.name = "huge values",
       .limits = {big, big - 1, big / 2, 0, 1, 1ULL << 63},
       .queue_limits = {big, big - 1, 5},
       .durations = {big, big / 3, 7},
       .needs = {0, 1, big, big - 1, big / 2, 1ULL << 63},
       .advances = {1, 1000, 1ULL << 40}},
      {.name = "wide denominator",
       .queues = 10,
       .types = 14,
       .weights = {97, 89, 83, 79, 73, 71, 67, 61, 59, 53, 47, 43, 41, 37, 31, 29, 100, 99},
       .limits = {1'000'003, 17'179'869'184},
       .queue_limits = {1'000'000, unlimited},
       .needs = {0, 1, 1000, 300'000, 1'000'000}},
      {.name = "long overruns", .limits = {6, 7, 11}, .durations = {1, 10, 100'000}, .advances = {1, 100, 50'000, 1'000'000}},
      {.name = "ties",
       .queues = 6,
       .types = 9,
       .weights = {10},
       .limits = {4},
       .queue_limits = {2, 4},
       .durations = {0, 0, 100},
       .needs = {0, 1, 2},
       .advances = {0, 100, 100}},
      with({.name = "reconfigured often", .more_resources = 2}, {{configure, 12}}),
      with({.name = "clients die often"}, {{client_died, 12}, {submit, 45}}),
      with({.name = "instants, merges, resubmits"},
           {{submit_instant, 25}, {merge, 20}, {reduce, 12}, {resubmit, 15}, {update, 15}, {finish_instant, 10}}),
      {.name = "queue limit first", .options = {.queue_limit_first = true}, .queue_limits = {1, 2, 5}},
      {.name = "oversized refused", .options = {.refuse_oversized = true}, .limits = {4, 10}, .queue_limits = {2, 5}},
      {.name = "bounded queues", .options = {.waiting_max = 3}, .limits = {4, 10}},
  };
}

TEST(BrokerDifferential, SchedulerDoesWhatTheNaiveModelDoes) {
  for (const Regime& regime : regimes()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      std::vector<trace::Command> commands;
      const std::string wrong = play(regime, seed, commands);
      if (wrong.empty()) continue;
      ADD_FAILURE() << explain(regime, seed, std::move(commands), wrong);
      break;
    }
  }
}

// Without updates, merges and reconfigures no limit is exceeded but by a task that is alone under it.
TEST(BrokerDifferential, LimitsHold) {
  Regime regime{.name = "limits", .limits = {4, 10}, .queue_limits = {2, 5, 9}};
  for (const Op op : {update, resubmit, merge, configure}) regime.odds[op] = 0;
  Pair pair(regime.options);
  Scenario generator(regime, Rng(7), pair.naive());
  const auto within = [](const Counters& counters, const std::vector<std::uint64_t>& limit) {
    for (std::size_t r = 0; r < limit.size(); ++r) {
      if (counters.held[r] > limit[r] && counters.infly > 1) return false;
    }
    return true;
  };
  std::vector<trace::Command> commands;
  for (std::size_t i = 0; i < commands_a_seed; ++i) {
    commands.push_back(generator.next());
    const std::string wrong = pair.run(commands.back());
    ASSERT_TRUE(wrong.empty()) << explain(regime, 7, commands, wrong);
    const Status status = pair.fast().engine()->observe(Micros(pair.fast().now()), 0, 0);
    ASSERT_TRUE(within(status.total, status.limit)) << "after " << i << " commands";
    for (const QueueStatus& queue : status.queues) ASSERT_TRUE(within(queue.counters, queue.limit)) << queue.name;
  }
}

// Queues that always have work share the node by their weights: what each consumed of its dominant resource, over its weight, is the
// same for all but for what is in flight.
TEST(BrokerDifferential, BackloggedQueuesShareByWeight) {
  struct Work {
    std::vector<std::uint64_t> need;
    std::uint64_t duration;
  };
  const std::vector<std::uint64_t> weights = {10, 20, 30, 40};
  const std::vector<Work> work = {{{1, 80}, 1000}, {{4, 10}, 700}, {{2, 20}, 1500}, {{1, 10}, 300}};
  Config config{.limit = {{"cpu", 40}, {"memory", 800}}};
  for (std::size_t q = 0; q < weights.size(); ++q) {
    const std::string name = q == 0 ? "queue_default" : "q" + std::to_string(q);
    config.queues.push_back({.name = name, .weight = weights[q]});
    config.types.push_back(
        {.name = q == 0 ? "unknown" : "t" + std::to_string(q), .queue = name, .default_duration = Micros(500)});
  }
  auto scheduler = Scheduler::make(config, {}, Micros(0));
  ASSERT_TRUE(scheduler.has_value());
  std::vector<ClientId> clients;
  for (std::size_t q = 0; q < weights.size(); ++q) clients.push_back(scheduler->connect());

  using Finish = std::tuple<std::uint64_t, std::size_t, TaskId>;
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes;
  std::vector<double> consumed(weights.size(), 0), held(weights.size(), 0);
  std::uint64_t now = 0;
  const auto share = [&](std::size_t q) { return std::max(double(work[q].need[0]) / 40, double(work[q].need[1]) / 800); };
  const auto take = [&](const Effects& effects) {
    for (const Event& event : effects.events) {
      const auto q = static_cast<std::size_t>(std::ranges::find(clients, event.client) - clients.begin());
      finishes.emplace(now + work[q].duration, q, event.task);
      held[q] += share(q);
    }
  };
  const auto submit_one = [&](std::size_t q) {
    take(scheduler->submit(clients[q], {.type = config.types[q].name, .need = work[q].need}, Micros(now)));
  };
  for (int i = 0; i < 100; ++i) {
    for (std::size_t q = 0; q < weights.size(); ++q) submit_one(q);
  }
  while (now < 2'000'000) {
    const auto [at, q, task] = finishes.top();
    finishes.pop();
    for (std::size_t i = 0; i < held.size(); ++i) consumed[i] += held[i] * double(at - now);
    now = at;
    held[q] -= share(q);
    take(scheduler->finish(clients[q], task, Cancelled::no, Micros(now)));
    submit_one(q);
  }
  const double first = consumed[0] / double(weights[0]);
  for (std::size_t q = 1; q < weights.size(); ++q)
    EXPECT_NEAR(consumed[q] / double(weights[q]) / first, 1, 0.02) << "queue " << q;
}

TEST(NaiveModel, ArithmeticStopsAtTheEnds) {
  constexpr UInt128 most = ~UInt128{0}, one = 1;
  EXPECT_TRUE(naive::add(most, 1) == most);
  EXPECT_TRUE(naive::add(most - 5, 5) == most);
  EXPECT_TRUE(naive::subtract(3, 4) == 0);
  EXPECT_TRUE(naive::multiply(one << 64, one << 64) == most);
  EXPECT_TRUE(naive::multiply(one << 64, (one << 64) - 1) == most - (one << 64) + 1);
  EXPECT_TRUE(naive::multiply(most, 0) == 0);
  EXPECT_TRUE(naive::scaled_quotient(1, 3) == (one << 64) / 3);
  EXPECT_TRUE(naive::scaled_quotient(one << 64, 3) == most / 3);  // 2^128 / 3, rounded down
  EXPECT_TRUE(naive::scaled_quotient(most, 1) == most);
  EXPECT_TRUE(naive::scaled_quotient(most, most) == one << 64);
  EXPECT_TRUE(naive::scaled_quotient(most - 1, most) == (one << 64) - 1);
  // (2^127 + 1) * 2^64 / (2^127 + 3) = 2^64 - 2^65 / (2^127 + 3): one below 2^64.
  EXPECT_TRUE(naive::scaled_quotient((one << 127) + 1, (one << 127) + 3) == (one << 64) - 1);
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const UInt128 value = (UInt128{rng.next()} << 64 | rng.next()) >> rng.below(128);
    const UInt128 divisor = ((UInt128{rng.next()} << 64 | rng.next()) >> rng.below(127)) | 1;
    const UInt128 quotient = naive::scaled_quotient(value, divisor);
    if (quotient == most || quotient >> 64 != 0) continue;
    // quotient * divisor <= value * 2^64 < (quotient + 1) * divisor, compared by their upper 128 bits first.
    const auto wide = [&](UInt128 a) {
      const UInt128 low = UInt128{static_cast<std::uint64_t>(a)} * static_cast<std::uint64_t>(divisor);
      const UInt128 high = UInt128{static_cast<std::uint64_t>(a)} * static_cast<std::uint64_t>(divisor >> 64) + (low >> 64);
      return std::pair(high, static_cast<std::uint64_t>(low));  // a < 2^64
    };
    EXPECT_TRUE(wide(quotient) <= std::pair(value, std::uint64_t{0}));
    if (quotient != (one << 64) - 1) {
      EXPECT_TRUE(wide(quotient + 1) > std::pair(value, std::uint64_t{0}));
    }
  }
}

}  // namespace
}  // namespace evenkeel::broker

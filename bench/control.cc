// Benchmarks of control: the machine alone, fed with documents made by hand, at 1k, 10k, 100k and a million shards of three replicas. One JSON
// line a case. Times are the process's own on the processor, so that what else runs on the machine counts little; the nodes' part (obeying, and
// reporting it) costs nothing here. Plans are answered by what is there already.
//
//   build/bench/control            all cases
//   build/bench/control 100000     those of one size
//
// A node holds a thousand replicas (a third of them leaders) of shards drawn by lot, so that its loss concerns a thousand shards in nearly as
// many buckets: the worst that one node can do.

#include "evenkeel/control/control.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/base/text.h"
#include "evenkeel/control/shell/documents.h"

namespace evenkeel::control {
namespace {

constexpr std::uint64_t seed = 20261116;
constexpr std::uint32_t replicas = 3;
constexpr std::uint32_t replicas_per_node = 1000;
constexpr std::uint32_t lone_nodes = 20;  // each leads one shard, and holds nothing else
const WorkloadId workload("pages");
const StateId leader("leader"), follower("follower");

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void report(std::string_view name, std::uint32_t shards, const std::vector<std::pair<std::string_view, double>>& figures) {
  std::string line = fmt::format(R"({{"bench":"control","case":"{}","shards":{})", name, shards);
  for (const auto& [what, value] : figures) line += fmt::format(R"(,"{}":{:.6g})", what, value);
  fmt::print("{}}}\n", line);
  std::fflush(stdout);
}

// 1. A cluster at rest, as documents.

using Seen = std::pair<Key, Document>;

class Instance {
 public:
  explicit Instance(std::uint32_t shards)
      : shards_(shards), nodes_(std::max(9u, shards * replicas / replicas_per_node)), buckets_(buckets_for(shards)) {
    in_bucket_.resize(buckets_);
    for (std::uint32_t shard = 0; shard < shards_; ++shard)
      in_bucket_[bucket_of({workload, ShardIndex(shard)}, buckets_).value()].push_back(shard);
    inventory_.resize(nodes());
    for (std::uint32_t b = 0; b < buckets_; ++b) {
      for (const auto& [node, held] : by_node(b)) ++inventory_[node];
    }
    spec_ = find_spec();
  }

  std::uint32_t shards() const { return shards_; }
  std::uint32_t nodes() const { return nodes_ + lone_nodes; }
  std::uint32_t lone(std::uint32_t i) const { return nodes_ + i; }
  std::uint32_t buckets() const { return buckets_; }
  static NodeId name(std::uint32_t node) { return NodeId(fmt::format("node-{}", node)); }
  static DataId data(std::uint32_t node) { return DataId(fmt::format("disk-{}", node)); }
  static Incarnation incarnation(std::uint32_t node) { return Incarnation(node + 1); }
  static Key key(Key::Kind kind, std::uint32_t node) { return {.kind = kind, .node = name(node)}; }

  // The first leads.
  std::vector<std::uint32_t> row(std::uint32_t shard) const {
    std::vector<std::uint32_t> nodes;
    if (shard < lone_nodes) nodes.push_back(lone(shard));
    for (std::uint64_t draw = 0; nodes.size() < replicas; ++draw) {
      const auto node = static_cast<std::uint32_t>(mix64(mix64(seed, shard), draw) % nodes_);
      if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
    }
    return nodes;
  }

  // Every document in turn.
  void each(const std::function<void(Seen)>& visit) const {
    ConfigDocument config;
    config.settings.control.max_offline = nodes();  // maintenance is not what is measured
    visit({{.kind = Key::Kind::config}, config});
    visit({{.kind = Key::Kind::workload, .workload = workload}, workload_document(shards_, buckets_)});
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      visit({key(Key::Kind::beat, node), BeatSeen{incarnation(node), 10s, false}});
      visit({key(Key::Kind::live, node), live(node)});
    }
    for (std::uint32_t b = 0; b < buckets_; ++b) {
      visit({{.kind = Key::Kind::shards, .workload = workload, .bucket = Bucket(b)}, records(b)});
      visit({{.kind = Key::Kind::view, .workload = workload, .bucket = Bucket(b)}, view(b)});
      for (const auto& [node, held] : by_node(b)) visit(report_of(node, b, held, 100));
    }
  }

  // What a node reports of a bucket at rest.
  Seen report_of(std::uint32_t node, std::uint32_t bucket, const std::vector<std::uint32_t>& held, std::uint64_t progress) const {
    Report made{.node = name(node),
                .workload = workload,
                .bucket = Bucket(bucket),
                .incarnation = incarnation(node),
                .data = data(node),
                .obeyed = {ControllerEpoch(1), 1}};
    for (const std::uint32_t shard : held)
      made.replicas.push_back({.shard = ShardIndex(shard),
                               .state = row(shard)[0] == node ? leader : follower,
                               .version = version,
                               .last = version.epoch,
                               .progress = progress});
    return {{.kind = Key::Kind::report, .node = name(node), .workload = workload, .bucket = Bucket(bucket)}, made};
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_node(std::uint32_t bucket) const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> held;
    for (const std::uint32_t shard : in_bucket_[bucket]) {
      for (const std::uint32_t node : row(shard)) held[node].push_back(shard);
    }
    return held;
  }

  static WorkloadDocument workload_document(std::uint32_t shards, std::uint32_t buckets) {
    Workload spec{.name = workload, .shards = shards, .replicas = replicas};
    spec.control.fencing = Fencing::epoch;
    spec.control.acks = 2;
    return {.spec = spec, .buckets = buckets};
  }
  LiveDocument live(std::uint32_t node) const {
    return {.node = name(node),
            .incarnation = incarnation(node),
            .data = data(node),
            .address = fmt::format("10.{}.{}.{}:9000", node / 62500, node / 250 % 250, node % 250),
            .zone = fmt::format("dc{}", node % 3),
            .inventory = node < inventory_.size() ? inventory_[node] : 0};
  }

 private:
  static constexpr Version version{Epoch(1), Change(2)};

  RecordBucket records(std::uint32_t bucket) const {
    RecordBucket made{.workload = workload, .bucket = Bucket(bucket), .spec = spec_};
    for (const std::uint32_t shard : in_bucket_[bucket]) {
      ShardRecord record{.shard = ShardIndex(shard), .version = version, .told = version, .has_data = true};
      for (const std::uint32_t node : row(shard)) {
        const bool leads = record.holders.empty();
        record.placement.push_back(name(node));
        record.holders.push_back({.node = name(node),
                                  .data = data(node),
                                  .incarnation = incarnation(node),
                                  .told = leads ? leader : follower,
                                  .may_be = leads ? leader : StateId(),
                                  .version = version,
                                  .arrived = true});
        if (!leads) record.holders.back().copy_from = record.placement.front();
      }
      made.shards.push_back(std::move(record));
    }
    return made;
  }
  ViewBucket view(std::uint32_t bucket) const {
    ViewBucket made{.workload = workload, .bucket = Bucket(bucket), .shards_in_all = shards_};
    for (const std::uint32_t shard : in_bucket_[bucket]) {
      const auto nodes = row(shard);
      ShardView one{.shard = ShardIndex(shard), .version = version, .leader = name(nodes[0])};
      for (std::size_t i = 1; i < nodes.size(); ++i) one.others.push_back({name(nodes[i]), follower});
      made.shards.push_back(std::move(one));
    }
    return made;
  }

  // What the machine writes of the workload's spec: it is asked, with one shard and one node.
  std::uint64_t find_spec() const {
    Machine machine({.cluster = ClusterId("bench")});
    const auto feed = [&](Input input) { return machine.step(std::move(input), Instant()); };
    const std::uint32_t node = nodes();
    feed(Saw{{.kind = Key::Kind::config}, ConfigDocument{}});
    feed(Saw{{.kind = Key::Kind::workload, .workload = workload}, workload_document(1, 1)});
    feed(Saw{key(Key::Kind::beat, node), BeatSeen{incarnation(node), 10s, false}});
    feed(Saw{key(Key::Kind::live, node), live(node)});
    feed(Elected{ControllerEpoch(1)});
    const std::optional<Cluster> problem = machine.step(Tick{}, Instant() + 1s).plan;
    ensure(problem && problem->nodes.size() == 1, "a node that came is planned for");
    place::Plan plan;
    plan.placement[workload].push_back(std::vector{NodeIndex(0)});
    const Output out = feed(Planned{plan});
    ensure(out.commits.size() == 1, "a shard that is placed is written");
    return out.commits[0].records.spec;
  }

  std::uint32_t shards_, nodes_, buckets_;
  std::vector<std::vector<std::uint32_t>> in_bucket_;
  std::vector<std::uint32_t> inventory_;  // by node
  std::uint64_t spec_ = 0;
};

// 2. The machine, and what obeys it.

struct Cost {
  double seconds = 0;       // of all steps
  double plan_seconds = 0;  // of those that make a problem or take a plan
  double longest = 0;       // step, but for those
  double first = 0;         // until the first commits
  std::uint64_t steps = 0;
  std::uint64_t commits = 0;
  std::uint64_t targets = 0;
  std::uint64_t record_bytes = 0, view_bytes = 0, target_bytes = 0;
  double format_seconds = 0;
};

class Driver {
 public:
  explicit Driver(const Instance& instance) : instance_(instance), machine_({.cluster = ClusterId("bench")}) {}

  Output step(Input input) {
    const bool plans = std::holds_alternative<Planned>(input);
    const double start = cpu_seconds();
    Output out = machine_.step(std::move(input), now_);
    const double took = cpu_seconds() - start;
    ++cost.steps;
    cost.seconds += took;
    if (plans || out.plan) {
      cost.plan_seconds += took;
    } else {
      cost.longest = std::max(cost.longest, took);
    }
    if (cost.commits == 0 && !out.commits.empty()) cost.first = cost.seconds;
    for (Commit& commit : out.commits) {
      count(commit);
      commits_.push_back(std::move(commit));
    }
    out.commits.clear();
    if (out.plan) problem_ = std::move(out.plan);
    wake_ = out.wake;
    return out;
  }

  // As it is when nothing happens.
  void load() {
    instance_.each([&](Seen seen) { machine_.step(Saw{seen.first, std::move(seen.second)}, now_); });
  }
  void elect() {
    step(Elected{ControllerEpoch(2)});
    settle();
  }

  void end_session(std::uint32_t node) {
    step(Saw{Instance::key(Key::Kind::beat, node), Document(BeatSeen{Instance::incarnation(node), 10s, true})});
  }

  // Every commit is done and obeyed at once, by all nodes but this one, until nothing is left to do.
  void settle(std::uint32_t lost = ~0u) {
    const NodeId lost_name = Instance::name(lost);
    while (true) {
      if (!commits_.empty()) {
        const Commit commit = std::move(commits_.front());
        commits_.pop_front();
        step(Answered{commit.records.workload, commit.records.bucket, Answered::Outcome::done});
        for (const Target& target : commit.targets) {
          if (target.node != lost_name) obey(target);
        }
      } else if (problem_) {
        place::Plan plan;
        plan.placement = std::exchange(problem_, std::nullopt)->placement;
        step(Planned{std::move(plan)});
      } else if (wake_ <= now_ + soon) {  // what is waited for longer is not of this event
        now_ = std::max(now_, wake_);
        step(Tick{});
      } else {
        return;
      }
    }
  }

  void wait(Duration time) { now_ += time; }
  const Machine& machine() const { return machine_; }
  Cost cost;

 private:
  void obey(const Target& target) {
    Report made{.node = target.node,
                .workload = target.workload,
                .bucket = target.bucket,
                .incarnation = target.incarnation,
                .data = DataId("disk-" + target.node.str().substr(5)),
                .obeyed = target.number};
    for (const ReplicaTarget& entry : target.replicas) {
      const Epoch last = entry.seal ? entry.version.epoch : std::max(entry.version.epoch, Epoch(1));
      made.replicas.push_back(
          {.shard = entry.shard, .state = entry.state, .version = entry.version, .last = last, .progress = 100});
      if (entry.seal) made.replicas.back().sealed = Sealed{*entry.seal, last, 100};
    }
    step(Saw{{.kind = Key::Kind::report, .node = target.node, .workload = target.workload, .bucket = target.bucket}, made});
  }
  void count(const Commit& commit) {
    const double start = cpu_seconds();
    ++cost.commits;
    cost.record_bytes += format(commit.records).size();
    cost.view_bytes += format(commit.view).size();
    for (const Target& target : commit.targets) cost.target_bytes += format(target).size();
    cost.targets += commit.targets.size();
    cost.format_seconds += cpu_seconds() - start;
  }

  const Instance& instance_;
  Machine machine_;
  static constexpr Duration soon = 3s;
  Instant now_{1h};
  Instant wake_ = Instant::max();
  std::deque<Commit> commits_;
  std::optional<Cluster> problem_;
};

// 3. The cases.

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Reports that say something new about one replica, and lead to nothing.
void bench_reports(const Instance& instance, Driver& driver) {
  constexpr std::uint32_t events = 2000;
  Rng rng(seed);
  std::vector<Seen> seen;
  for (std::uint32_t i = 0; i < events; ++i) {
    const auto bucket = static_cast<std::uint32_t>(rng.below(instance.buckets()));
    const auto held = instance.by_node(bucket);
    const auto at = std::next(held.begin(), static_cast<std::ptrdiff_t>(rng.below(held.size())));
    seen.push_back(instance.report_of(at->first, bucket, at->second, 101 + i));
  }
  driver.cost = {};
  std::vector<double> took;
  for (Seen& one : seen) {
    const double before = driver.cost.seconds;
    driver.step(Saw{one.first, std::move(one.second)});
    took.push_back(driver.cost.seconds - before);
  }
  ensure(driver.cost.commits == 0, "progress is nothing to act on");
  report("one report", instance.shards(), {{"us", 1e6 * median(took)}, {"longest_us", 1e6 * driver.cost.longest}});
}

// A node that leads one shard: from the end of its session to the commit that says who leads now.
void bench_one_shard(const Instance& instance, Driver& driver) {
  std::vector<double> first, all, plan;
  for (std::uint32_t i = 0; i + 1 < lone_nodes; ++i) {
    driver.cost = {};
    driver.end_session(instance.lone(i));
    driver.settle(instance.lone(i));
    const auto state = driver.machine().explain({workload, ShardIndex(i)});
    ensure(state && state->view.leader && *state->view.leader == Instance::name(instance.row(i)[1]), "the next one leads");
    first.push_back(driver.cost.first);
    all.push_back(driver.cost.seconds - driver.cost.plan_seconds);
    plan.push_back(driver.cost.plan_seconds);
  }
  report("fail-over of one shard", instance.shards(),
         {{"first_commit_us", 1e6 * median(first)}, {"us", 1e6 * median(all)}, {"plan_ms", 1e3 * median(plan)}});
}

// A node with a thousand replicas.
void bench_node(const Instance& instance, Driver& driver) {
  std::uint32_t led = 0, held = 0;
  for (std::uint32_t shard = 0; shard < instance.shards(); ++shard) {
    const auto row = instance.row(shard);
    led += row[0] == 0 ? 1 : 0;
    held += std::ranges::find(row, 0u) != row.end() ? 1 : 0;
  }
  driver.cost = {};
  driver.end_session(0);
  driver.settle(0);
  const Cost& cost = driver.cost;
  const double own = cost.seconds - cost.plan_seconds;
  const auto bytes = static_cast<double>(cost.record_bytes + cost.view_bytes + cost.target_bytes);
  report("fail-over of a node", instance.shards(),
         {{"held", held},
          {"led", led},
          {"first_commits_ms", 1e3 * cost.first},
          {"ms", 1e3 * own},
          {"us_per_shard", 1e6 * own / held},
          {"longest_step_ms", 1e3 * cost.longest},
          {"plan_ms", 1e3 * cost.plan_seconds},
          {"steps", static_cast<double>(cost.steps)},
          {"commits", static_cast<double>(cost.commits)},
          {"targets", static_cast<double>(cost.targets)},
          {"format_ms", 1e3 * cost.format_seconds}});
  report("bytes written when a node dies", instance.shards(),
         {{"all_mb", bytes / 1e6},
          {"records_mb", static_cast<double>(cost.record_bytes) / 1e6},
          {"targets_mb", static_cast<double>(cost.target_bytes) / 1e6},
          {"view_mb", static_cast<double>(cost.view_bytes) / 1e6},
          {"kb_per_shard", bytes / 1e3 / held},
          {"router_kb_per_shard", static_cast<double>(cost.view_bytes) / 1e3 / held}});
}

// Nodes say what all their replicas carry, and then that all of it is another load; and loads are looked at until it is planned for them.
void bench_pulses(const Instance& instance, Driver& driver) {
  std::vector<std::vector<ShardId>> held(instance.nodes());
  for (std::uint32_t shard = lone_nodes; shard < instance.shards(); ++shard) {
    for (const std::uint32_t node : instance.row(shard)) held[node].push_back({workload, ShardIndex(shard)});
  }
  std::vector<double> took;
  double replicas_said = 0;
  for (std::uint64_t count = 1; count <= 2; ++count) {
    driver.cost = {};
    took.clear();
    for (std::uint32_t node = 1; node < instance.lone(0); ++node) {
      Pulse pulse{.node = Instance::name(node), .incarnation = Instance::incarnation(node), .count = count};
      for (const ShardId& shard : held[node]) {
        const auto amount = static_cast<std::int64_t>(count * (1 + shard.shard.value() % 7));
        pulse.replicas.push_back({.shard = shard,
                                  .last = Epoch(1),
                                  .progress = 100,
                                  .lag = 0,
                                  .load = {{ResourceId("cpu"), Quantity(amount)}, {ResourceId("disk"), Quantity(amount << 30)}}});
      }
      replicas_said += count == 2 ? static_cast<double>(held[node].size()) : 0;
      const double before = driver.cost.seconds;
      driver.step(Pulsed{std::move(pulse), 1h});
      took.push_back(driver.cost.seconds - before);
    }
  }
  report("one pulse, all loads anew", instance.shards(),
         {{"us", 1e6 * median(took)}, {"us_per_replica", 1e6 * driver.cost.seconds / replicas_said}});
  driver.cost = {};
  for (int looks = 0; looks < 3; ++looks) {
    driver.wait(61s);
    driver.step(Tick{});
    driver.settle();
  }
  report("a look at loads", instance.shards(), {{"longest_ms", 1e3 * driver.cost.longest}});
}

// A controller that has read everything is elected, after a node's session has ended; and one that reads it first.
void bench_take_over(const Instance& instance) {
  std::vector<std::pair<Key, store::Entry>> texts;
  std::vector<Seen> others;  // their text is the store's session's own
  const Keys keys(ClusterId("bench"));
  instance.each([&](Seen seen) {
    const auto text = [&](const auto& document) -> std::optional<std::string> {
      if constexpr (std::is_same_v<std::decay_t<decltype(document)>, BeatSeen>) {
        return std::nullopt;
      } else {
        return format(document);
      }
    };
    if (auto value = std::visit(text, seen.second)) {
      texts.emplace_back(seen.first, store::Entry{.key = "bench", .value = *std::move(value)});
    } else {
      others.push_back(std::move(seen));
    }
  });
  double bytes = 0;
  for (const auto& [key, entry] : texts) bytes += static_cast<double>(entry.value.size());
  Driver driver(instance);
  double start = cpu_seconds();
  std::vector<Seen> documents = std::move(others);
  documents.reserve(documents.size() + texts.size());
  for (const auto& [key, entry] : texts) documents.emplace_back(key, parse_document(key, entry).value());
  const double parse = cpu_seconds() - start;
  texts.clear();
  start = cpu_seconds();
  for (Seen& seen : documents) driver.step(Saw{seen.first, std::move(seen.second)});
  driver.end_session(0);
  const double take_in = cpu_seconds() - start;
  driver.cost = {};
  start = cpu_seconds();
  const Output out = driver.step(Elected{ControllerEpoch(2)});
  const double elected = cpu_seconds() - start - driver.cost.format_seconds;
  ensure(driver.cost.commits > 0, "there is something to do");
  report("take-over", instance.shards(),
         {{"documents", static_cast<double>(documents.size())},
          {"mb", bytes / 1e6},
          {"parse_ms", 1e3 * parse},
          {"take_in_ms", 1e3 * take_in},
          {"elected_to_commits_ms", 1e3 * elected},
          {"cold_ms", 1e3 * (parse + take_in + elected)}});
}

void run(std::uint32_t shards) {
  const Instance instance(shards);
  {
    Driver driver(instance);
    double start = cpu_seconds();
    driver.load();
    start = cpu_seconds();
    driver.elect();
    ensure(driver.cost.commits == 0, "a cluster at rest stays at rest");
    report("a cluster at rest is looked over", shards, {{"ms", 1e3 * (cpu_seconds() - start)}});
    bench_reports(instance, driver);
    bench_one_shard(instance, driver);
    bench_node(instance, driver);
    bench_pulses(instance, driver);
  }
  if (shards <= 100'000) bench_take_over(instance);
}

}  // namespace
}  // namespace evenkeel::control

int main(int argc, char** argv) {
  if (argc > 1) {
    const auto shards = evenkeel::parse_unsigned(argv[1]);
    if (!shards || *shards == 0 || *shards > 10'000'000) {
      fmt::print(stderr, "control: {}: expected how many shards, up to ten million, or nothing\n", argv[1]);
      return 2;
    }
    evenkeel::control::run(static_cast<std::uint32_t>(*shards));
    return 0;
  }
  for (const std::uint32_t shards : {1'000u, 10'000u, 100'000u, 1'000'000u}) evenkeel::control::run(shards);
}

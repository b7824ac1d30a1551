#include "bench/roadef_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace roadef {

namespace {

using evenkeel::Code;
using evenkeel::fail;
namespace place = evenkeel::place;

constexpr Amount amount_most = Amount{1} << 40;
constexpr Amount weight_most = 1'000'000;
constexpr Amount distance_most = Amount{1} << 31;
constexpr Amount count_most = 10'000'000;
constexpr double objective_most = 4e18;  // below 2^62

// Whole numbers between white space. After the first that is wrong it gives zeros and keeps that error.
class Numbers {
 public:
  Numbers(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  template <class T = Amount>
  T next(std::string_view what, Amount least, Amount most) {
    if (error_) return static_cast<T>(least);
    const std::string_view token = take();
    ++token_;
    Amount value = 0;
    const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (token.empty()) {
      wrong(fmt::format("the file ends here; expected {}", what));
    } else if (code != std::errc() || end != token.data() + token.size()) {
      wrong(fmt::format("expected {}, found '{}'", what, token.substr(0, 40)));
    } else if (value < least || value > most) {
      wrong(fmt::format("expected {} from {} to {}, found {}", what, least, most, value));
    } else {
      return static_cast<T>(value);
    }
    return static_cast<T>(least);
  }

  // A number of things that each take at least one token: more than the file has bytes is wrong before any memory is asked for.
  std::size_t count(std::string_view what, Amount least) {
    const auto value = next(what, least, count_most);
    if (!error_ && static_cast<std::size_t>(value) > text_.size())
      wrong(fmt::format("expected {}, found {}, more than the file has bytes", what, value));
    return error_ ? 0 : static_cast<std::size_t>(value);
  }

  template <class T = Amount>
  std::vector<T> row(std::size_t size, std::string_view what, Amount most = amount_most) {
    std::vector<T> values;
    for (std::size_t i = 0; i < size && !error_; ++i) values.push_back(next<T>(what, 0, most));
    return values;
  }

  void end(std::string_view of) {
    if (!error_ && !take().empty()) {
      ++token_;
      wrong(fmt::format("expected the end of {}", of));
    }
  }
  bool failed() const { return error_.has_value(); }
  const std::string& error() const { return *error_; }

 private:
  std::string_view take() {
    const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
    const std::size_t first = at_;
    while (at_ < text_.size() && !blank(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
  }
  void wrong(std::string_view message) { error_ = fmt::format("{}: token {}: {}", file_, token_, message); }

  std::string_view text_, file_;
  std::size_t at_ = 0;
  std::size_t token_ = 0;
  std::optional<std::string> error_;
};

void read_machines(Numbers& in, Model& model) {
  const std::size_t machines = in.count("the number of machines", 1);
  for (std::size_t i = 0; i < machines && !in.failed(); ++i) {
    Machine machine;
    machine.neighbourhood = in.next<std::uint32_t>("a machine's neighbourhood", 0, count_most);
    machine.location = in.next<std::uint32_t>("a machine's location", 0, count_most);
    machine.capacity = in.row(model.resources.size(), "a capacity");
    machine.safety = in.row(model.resources.size(), "a safety capacity");
    machine.move_cost = in.row<std::uint32_t>(machines, "the cost of a move between machines", distance_most);
    model.machines.push_back(std::move(machine));
  }
}

void read_services(Numbers& in, Model& model) {
  const std::size_t services = in.count("the number of services", 0);
  for (std::size_t i = 0; i < services && !in.failed(); ++i) {
    Service service;
    service.spread = in.next<std::uint32_t>("a service's number of locations", 0, count_most);
    const std::size_t depends = in.count("a service's number of dependencies", 0);
    for (std::size_t k = 0; k < depends && !in.failed(); ++k)
      service.depends_on.push_back(in.next<std::uint32_t>("a service depended on", 0, static_cast<Amount>(services) - 1));
    model.services.push_back(std::move(service));
  }
}

void read_processes(Numbers& in, Model& model) {
  const std::size_t processes = in.count("the number of processes", 0);
  for (std::size_t i = 0; i < processes && !in.failed(); ++i) {
    Process process;
    process.service = in.next<std::uint32_t>("a process's service", 0, static_cast<Amount>(model.services.size()) - 1);
    process.needs = in.row(model.resources.size(), "a requirement");
    process.move_cost = in.next("a process's move cost", 0, amount_most);
    model.processes.push_back(std::move(process));
  }
}

void read_balances(Numbers& in, Model& model) {
  const Amount last = static_cast<Amount>(model.resources.size()) - 1;
  const std::size_t balances = in.count("the number of balances", 0);
  for (std::size_t i = 0; i < balances && !in.failed(); ++i) {
    Balance balance;
    balance.first = in.next<std::uint32_t>("a balance's first resource", 0, last);
    balance.second = in.next<std::uint32_t>("a balance's second resource", 0, last);
    balance.target = in.next("a balance's target", 0, weight_most);
    balance.weight = in.next("a balance's weight", 0, weight_most);
    model.balances.push_back(balance);
  }
}

// No objective, nor a part of one, is above this: everything on the worst machine, and every process moved the dearest way.
double objective_bound(const Model& model) {
  double needs = 0, capacity = 0, process_moves = 0, dearest = 0, bound = 0;
  for (const Process& process : model.processes) {
    for (const Amount need : process.needs) needs += static_cast<double>(need);
    process_moves += static_cast<double>(process.move_cost);
  }
  for (const Machine& machine : model.machines) {
    for (const Amount most : machine.capacity) capacity += static_cast<double>(most);
    for (const std::uint32_t cost : machine.move_cost) dearest = std::max(dearest, static_cast<double>(cost));
  }
  for (const Resource& resource : model.resources) bound += static_cast<double>(resource.weight + 1) * needs;
  for (const Balance& balance : model.balances)
    bound += static_cast<double>(balance.weight + 1) * static_cast<double>(balance.target + 1) * (capacity + needs);
  const auto processes = static_cast<double>(model.processes.size());
  return bound + static_cast<double>(model.process_move_weight) * process_moves +
         static_cast<double>(model.machine_move_weight) * processes * dearest +
         static_cast<double>(model.service_move_weight) * processes;
}

}  // namespace

Result<Model> parse_model(std::string_view text, std::string_view file) {
  Numbers in(text, file);
  Model model;
  const std::size_t resources = in.count("the number of resources", 1);
  for (std::size_t i = 0; i < resources && !in.failed(); ++i) {
    const bool transient = in.next("whether a resource is transient, 0 or 1", 0, 1) == 1;
    model.resources.push_back({.transient = transient, .weight = in.next("a resource's weight", 0, weight_most)});
  }
  read_machines(in, model);
  read_services(in, model);
  read_processes(in, model);
  read_balances(in, model);
  model.process_move_weight = in.next("the weight of process moves", 0, weight_most);
  model.service_move_weight = in.next("the weight of service moves", 0, weight_most);
  model.machine_move_weight = in.next("the weight of machine moves", 0, weight_most);
  in.end("the model");
  if (in.failed()) return fail(Code::invalid, "{}", in.error());
  if (objective_bound(model) > objective_most)
    return fail(Code::too_large, "{}: the amounts times their weights may add up to more than {:.0g}", file, objective_most);
  return model;
}

Result<Assignment> parse_assignment(std::string_view text, std::string_view file, const Model& model) {
  Numbers in(text, file);
  Assignment assignment;
  for (std::size_t i = 0; i < model.processes.size() && !in.failed(); ++i)
    assignment.push_back(in.next<std::uint32_t>("a process's machine", 0, static_cast<Amount>(model.machines.size()) - 1));
  in.end("the assignment, one machine for each process of the model");
  if (in.failed()) return fail(Code::invalid, "{}", in.error());
  return assignment;
}

std::string format_model(const Model& model) {
  std::string out;
  const auto line = [&](const auto&... values) {
    fmt::format_to(std::back_inserter(out), "{}\n", fmt::join({fmt::format("{}", values)...}, " "));
  };
  const auto list = [](const auto& values) { return fmt::format("{}", fmt::join(values, " ")); };
  line(model.resources.size());
  for (const Resource& resource : model.resources) line(resource.transient ? 1 : 0, resource.weight);
  line(model.machines.size());
  for (const Machine& machine : model.machines)
    line(machine.neighbourhood, machine.location, list(machine.capacity), list(machine.safety), list(machine.move_cost));
  line(model.services.size());
  for (const Service& service : model.services) line(service.spread, service.depends_on.size(), list(service.depends_on));
  line(model.processes.size());
  for (const Process& process : model.processes) line(process.service, list(process.needs), process.move_cost);
  line(model.balances.size());
  for (const Balance& balance : model.balances) line(balance.first, balance.second, balance.target, balance.weight);
  line(model.process_move_weight, model.service_move_weight, model.machine_move_weight);
  return out;
}

std::string format_assignment(const Assignment& assignment) { return fmt::format("{}\n", fmt::join(assignment, " ")); }

// ---------------------------------------------------------------------------------------------------------------------------------------
// The judge: every figure from its definition.

namespace {

struct Table {
  std::vector<Amount> values;
  std::size_t width;
  Table(std::size_t rows, std::size_t width_of) : values(rows * width_of), width(width_of) {}
  Amount& operator()(std::size_t row, std::size_t column) { return values[row * width + column]; }
  Amount operator()(std::size_t row, std::size_t column) const { return values[row * width + column]; }
};

Table used(const Model& model, const Assignment& end) {
  Table use(model.machines.size(), model.resources.size());
  for (std::size_t p = 0; p < end.size(); ++p)
    for (std::size_t r = 0; r < use.width; ++r) use(end[p], r) += model.processes[p].needs[r];
  return use;
}

void check_capacity(const Model& model, const Assignment& start, const Assignment& end, const Table& use, Verdict& verdict) {
  Table held(model.machines.size(), model.resources.size());
  for (std::size_t p = 0; p < end.size(); ++p)
    for (std::size_t r = 0; r < held.width; ++r)
      if (model.resources[r].transient && start[p] != end[p]) held(start[p], r) += model.processes[p].needs[r];
  for (std::size_t m = 0; m < model.machines.size(); ++m)
    for (std::size_t r = 0; r < held.width; ++r)
      if (use(m, r) + held(m, r) > model.machines[m].capacity[r])
        verdict.violations.push_back(fmt::format("machine {} holds {} + {} of resource {}, and has {}", m, use(m, r), held(m, r),
                                                 r, model.machines[m].capacity[r]));
}

std::vector<std::vector<std::uint32_t>> members(const Model& model) {
  std::vector<std::vector<std::uint32_t>> result(model.services.size());
  for (std::size_t p = 0; p < model.processes.size(); ++p)
    result[model.processes[p].service].push_back(static_cast<std::uint32_t>(p));
  return result;
}

// The different values of `of` over a service's processes, in order.
template <class Of>
std::vector<std::uint32_t> different(const std::vector<std::uint32_t>& processes, const Of& of) {
  std::vector<std::uint32_t> values;
  for (const auto p : processes) values.push_back(of(p));
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void check_services(const Model& model, const Assignment& end, Verdict& verdict) {
  const auto of = members(model);
  std::vector<std::vector<std::uint32_t>> neighbourhoods;
  for (std::size_t s = 0; s < of.size(); ++s) {
    if (different(of[s], [&](std::uint32_t p) { return end[p]; }).size() < of[s].size())
      verdict.violations.push_back(fmt::format("service {} has two processes on one machine", s));
    const auto locations = different(of[s], [&](std::uint32_t p) { return model.machines[end[p]].location; }).size();
    if (locations < model.services[s].spread)
      verdict.violations.push_back(fmt::format("service {} is in {} locations of {}", s, locations, model.services[s].spread));
    neighbourhoods.push_back(different(of[s], [&](std::uint32_t p) { return model.machines[end[p]].neighbourhood; }));
  }
  for (std::size_t s = 0; s < of.size(); ++s)
    for (const auto other : model.services[s].depends_on)
      if (!std::ranges::includes(neighbourhoods[other], neighbourhoods[s]))
        verdict.violations.push_back(fmt::format("service {} is in a neighbourhood without service {}", s, other));
}

Amount load_cost(const Model& model, const Table& use) {
  Amount cost = 0;
  for (std::size_t m = 0; m < model.machines.size(); ++m) {
    const Machine& machine = model.machines[m];
    for (std::size_t r = 0; r < use.width; ++r)
      cost += model.resources[r].weight * std::max<Amount>(0, use(m, r) - machine.safety[r]);
    for (const Balance& balance : model.balances) {
      const Amount first = machine.capacity[balance.first] - use(m, balance.first);
      const Amount second = machine.capacity[balance.second] - use(m, balance.second);
      cost += balance.weight * std::max<Amount>(0, balance.target * first - second);
    }
  }
  return cost;
}

Amount move_cost(const Model& model, const Assignment& start, const Assignment& end) {
  Amount process_moves = 0, machine_moves = 0;
  std::vector<Amount> moved(model.services.size());
  for (std::size_t p = 0; p < end.size(); ++p) {
    if (start[p] == end[p]) continue;
    process_moves += model.processes[p].move_cost;
    machine_moves += model.machines[start[p]].move_cost[end[p]];
    ++moved[model.processes[p].service];
  }
  const Amount most = moved.empty() ? 0 : *std::ranges::max_element(moved);
  return model.process_move_weight * process_moves + model.machine_move_weight * machine_moves + model.service_move_weight * most;
}

}  // namespace

Verdict evaluate(const Model& model, const Assignment& start, const Assignment& end) {
  Verdict verdict;
  const Table use = used(model, end);
  check_capacity(model, start, end, use, verdict);
  check_services(model, end, verdict);
  verdict.objective = load_cost(model, use) + move_cost(model, start, end);
  return verdict;
}

Amount lower_bound(const Model& model) {
  const std::size_t width = model.resources.size();
  std::vector<Amount> use(width), capacity(width), safety(width);
  for (std::size_t r = 0; r < width; ++r) {
    for (const Process& process : model.processes) use[r] += process.needs[r];
    for (const Machine& machine : model.machines) capacity[r] += machine.capacity[r], safety[r] += machine.safety[r];
  }
  Amount bound = 0;
  for (std::size_t r = 0; r < width; ++r) bound += model.resources[r].weight * std::max<Amount>(0, use[r] - safety[r]);
  for (const Balance& balance : model.balances) {
    const Amount first = capacity[balance.first] - use[balance.first];
    const Amount second = capacity[balance.second] - use[balance.second];
    bound += balance.weight * std::max<Amount>(0, balance.target * first - second);
  }
  return bound;
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// The same as a problem of the engine.

namespace {

// Files may name few domains by large numbers: here they are numbered one after the other.
place::Partition partition(const Model& model, std::uint32_t Machine::*domain) {
  std::vector<std::uint32_t> named;
  for (const Machine& machine : model.machines) named.push_back(machine.*domain);
  std::ranges::sort(named);
  named.erase(std::ranges::unique(named).begin(), named.end());
  place::Partition result{.domain = {}, .domains = static_cast<std::uint32_t>(named.size())};
  for (const Machine& machine : model.machines)
    result.domain.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(named, machine.*domain) - named.begin()));
  return result;
}

void add_machines(const Model& model, place::Problem& problem) {
  for (std::size_t r = 0; r < model.resources.size(); ++r)
    problem.dimensions.push_back({.name = fmt::format("r{}", r),
                                  .held = model.resources[r].transient,
                                  .soft_weight = static_cast<double>(model.resources[r].weight),
                                  .soft_tier = place::Cost::level});
  problem.nodes = static_cast<std::uint32_t>(model.machines.size());
  for (const Machine& machine : model.machines) {
    problem.limit.insert(problem.limit.end(), machine.capacity.begin(), machine.capacity.end());
    problem.soft.insert(problem.soft.end(), machine.safety.begin(), machine.safety.end());
    problem.between.insert(problem.between.end(), machine.move_cost.begin(), machine.move_cost.end());
  }
  problem.capacity = problem.limit;
  problem.base.assign(problem.limit.size(), 0);
  problem.base_held.assign(problem.limit.size(), 0);
  problem.share.assign(problem.limit.size(), 0.0);
  problem.able.emplace_back(problem.nodes, std::uint8_t{1});
  problem.partitions = {partition(model, &Machine::location), partition(model, &Machine::neighbourhood)};
  problem.dependency_partition = 1;
}

void add_weights(const Model& model, place::Problem& problem) {
  for (const Balance& balance : model.balances)
    problem.free_pairs.push_back({.first = balance.first,
                                  .second = balance.second,
                                  .ratio = balance.target,
                                  .weight = static_cast<double>(balance.weight)});
  problem.move_weight = static_cast<double>(model.process_move_weight);
  problem.between_weight = static_cast<double>(model.machine_move_weight);
  problem.most_moved_weight = static_cast<double>(model.service_move_weight);
  problem.distinct_at_peak = false;
}

}  // namespace

Instance::Instance(const Model& model, const Assignment& start) : replica_(model.processes.size()) {
  add_machines(model, problem);
  add_weights(model, problem);
  const auto of = members(model);
  for (std::size_t s = 0; s < of.size(); ++s) {
    const auto group = static_cast<std::uint32_t>(s);
    problem.families.push_back({.name = fmt::format("s{}", s),
                                .partition = 0,
                                .spread_least = model.services[s].spread,
                                .spread_hard = true,
                                .depends_on = model.services[s].depends_on});
    problem.group_family.push_back(group);
    for (const auto p : of[s]) {
      const auto replica = static_cast<std::uint32_t>(problem.origin.size());
      replica_[p] = replica;
      problem.replica_group.push_back(group);
      problem.replica_load.push_back(replica);
      problem.origin.push_back(start[p]);
      problem.loads.insert(problem.loads.end(), model.processes[p].needs.begin(), model.processes[p].needs.end());
      problem.move_cost.push_back(static_cast<double>(model.processes[p].move_cost));
    }
    problem.group_first.push_back(static_cast<std::uint32_t>(problem.origin.size()));
  }
}

Assignment Instance::assignment(const place::State& state) const {
  Assignment result;
  for (const auto replica : replica_) result.push_back(state.at(replica));
  return result;
}

// ---------------------------------------------------------------------------------------------------------------------------------------
// An instance out of a seed.

namespace {

// Services of one to ten processes, and one in sixteen of up to half as many as there are machines, each process on a machine of its own: the least
// loaded of a few. Sizes are heavy-tailed: nine in ten small, one up to thirty times that.
void make_processes(Made& made, evenkeel::Rng& rng, std::uint32_t machines, std::uint32_t processes) {
  constexpr std::uint64_t looked_at = 4;
  const std::size_t width = made.model.resources.size();
  std::vector<std::uint32_t> order(machines);
  std::vector<Amount> load(machines);
  for (std::uint32_t m = 0; m < machines; ++m) order[m] = m;
  while (made.start.size() < processes) {
    const auto service = static_cast<std::uint32_t>(made.model.services.size());
    const std::uint64_t most = rng.chance(1, 16) ? std::max(10u, machines / 2) : 10;
    const auto size = std::min<std::uint64_t>({1 + rng.below(most), machines, processes - made.start.size()});
    made.model.services.emplace_back();
    rng.shuffle(std::span(order));
    for (std::uint64_t i = 0; i < size; ++i) {
      Process process{.service = service, .move_cost = rng.between(1, 100)};
      const std::int64_t large = rng.chance(1, 10) ? 3000 : 100;
      for (std::size_t r = 0; r < width; ++r) process.needs.push_back(rng.between(large / 10, large));
      const auto few = std::span(order).subspan(i, std::min(looked_at, machines - i));
      std::swap(few.front(), *std::ranges::min_element(few, {}, [&](std::uint32_t m) { return load[m]; }));
      for (const Amount need : process.needs) load[order[i]] += need;
      made.model.processes.push_back(std::move(process));
      made.start.push_back(order[i]);
    }
  }
}

// Room for what is there at the start, and slack above that; safe is what is about the mean. One machine in twenty is to be emptied.
void make_capacities(Made& made, evenkeel::Rng& rng, const Table& use, std::uint32_t slack) {
  const std::size_t machines = made.model.machines.size();
  for (std::size_t r = 0; r < use.width; ++r) {
    Amount all = 0;
    for (std::size_t m = 0; m < machines; ++m) all += use(m, r);
    const Amount mean = all / static_cast<Amount>(machines);
    for (std::size_t m = 0; m < machines; ++m) {
      const Amount capacity = use(m, r) + mean * rng.between(slack * 4, slack * 16) / 1000;
      made.model.machines[m].capacity.push_back(capacity);
      made.model.machines[m].safety.push_back(m % 20 == 7 ? 0 : std::min(capacity, mean * rng.between(80, 110) / 100));
    }
  }
}

// What holds at the start may be asked for: spread over some of the locations, and dependencies on services that are all around.
void make_relations(Made& made, evenkeel::Rng& rng) {
  const auto of = members(made.model);
  const auto over = [&](std::size_t service, std::uint32_t Machine::*domain) {
    return different(of[service], [&](std::uint32_t p) { return made.model.machines[made.start[p]].*domain; });
  };
  for (std::size_t s = 0; s < of.size(); ++s) {
    Service& service = made.model.services[s];
    service.spread = static_cast<std::uint32_t>((over(s, &Machine::location).size() + 1) / 2);
    for (int tries = 0; tries < 8; ++tries) {
      const auto other = static_cast<std::uint32_t>(rng.below(of.size()));
      const bool listed = std::ranges::count(service.depends_on, other) > 0;
      if (other == s || listed || !std::ranges::includes(over(other, &Machine::neighbourhood), over(s, &Machine::neighbourhood)))
        continue;
      service.depends_on.push_back(other);
    }
  }
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  constexpr std::string_view what = "expected MACHINESxPROCESSESxRESOURCES or MACHINESxPROCESSESxRESOURCESxSLACK";
  Shape shape;
  const std::array fields = {&shape.machines, &shape.processes, &shape.resources, &shape.slack};
  constexpr std::array<std::uint32_t, 4> most = {10'000, 1'000'000, 64, 1000};
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t field = 0;
  while (true) {
    const auto [next, code] = std::from_chars(at, end, *fields[field]);
    if (code != std::errc()) return fail(Code::invalid, "{}, found '{}'", what, text.substr(0, 40));
    if (*fields[field] < (field < 3 ? 1u : 0u) || *fields[field] > most[field])
      return fail(Code::invalid, "{}: at most {} machines, {} processes, {} resources and a slack of {}; only the slack may be 0",
                  text, most[0], most[1], most[2], most[3]);
    ++field;
    if (next == end && field >= 3) return shape;
    if (next == end || *next != 'x' || field == fields.size())
      return fail(Code::invalid, "{}, found '{}'", what, text.substr(0, 40));
    at = next + 1;
  }
}

Made make_instance(std::uint64_t seed, const Shape& shape) {
  const auto [machines, processes, resources, slack] = shape;
  evenkeel::Rng rng(seed);
  Made made;
  for (std::uint32_t r = 0; r < resources; ++r)
    made.model.resources.push_back({.transient = r % 3 == 1, .weight = rng.between(1, 10)});
  for (std::uint32_t m = 0; m < machines; ++m) {
    Machine machine{.neighbourhood = m % std::max(1u, machines / 25),
                    .location = static_cast<std::uint32_t>(rng.below(1 + machines / 5))};
    for (std::uint32_t to = 0; to < machines; ++to)
      machine.move_cost.push_back(to == m ? 0 : static_cast<std::uint32_t>(rng.between(1, 10)));
    made.model.machines.push_back(std::move(machine));
  }
  make_processes(made, rng, machines, processes);
  make_capacities(made, rng, used(made.model, made.start), slack);
  make_relations(made, rng);
  if (resources > 1) made.model.balances.push_back({.first = 0, .second = 1, .target = 1, .weight = 2});
  made.model.process_move_weight = 1;
  made.model.service_move_weight = 10;
  made.model.machine_move_weight = 1;
  return made;
}

}  // namespace roadef

#include "evenkeel/place/methods.h"

#include <algorithm>
#include <map>

#include "evenkeel/base/hash.h"
#include "evenkeel/place/detail/methods_cost.h"
#include "evenkeel/place/detail/node_rules.h"

namespace evenkeel::place {
namespace {

using detail::Straw;

// Names of nodes and paths of forks are hashed apart, so that a zone and a node of one name do not draw alike.
constexpr std::uint64_t fork_seed = 1;
// Draws from the tree per replica before the rest is filled as by rendezvous. A domain of a tenth of all weight is missed fifty times
// in a row by one key in two hundred.
constexpr std::uint32_t draws_per_replica = 50;
// Up to so many replicas are kept in a short sorted list while the nodes pass by; beyond, all nodes are sorted.
constexpr std::uint32_t short_row = 16;

}  // namespace

std::string_view name(Method method) { return method == Method::rendezvous ? "rendezvous" : "crush"; }

std::optional<Method> parse_method(std::string_view text) {
  for (const Method method : {Method::rendezvous, Method::crush}) {
    if (text == name(method)) return method;
  }
  return std::nullopt;
}

// What is chosen so far. Rows are short, so both questions are answered by looking at all of it.
struct Draw::Row {
  const std::vector<std::uint32_t>& domains;
  std::vector<std::uint32_t> chosen;
  std::span<const std::uint32_t> barred;

  bool may_take(std::uint32_t node) const { return !holds(node) && std::ranges::find(barred, node) == barred.end(); }
  bool holds(std::uint32_t node) const { return std::ranges::find(chosen, node) != chosen.end(); }
  std::uint32_t count(std::uint32_t domain) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(chosen, [&](std::uint32_t node) { return domains[node] == domain; }));
  }
  // How many domains hold more than so many.
  std::uint32_t domains_above(std::uint32_t held) const {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto before = std::span(chosen).first(i);
      const auto same = std::ranges::count_if(before, [&](std::uint32_t node) { return domains[node] == domains[chosen[i]]; });
      if (same == held) ++found;
    }
    return found;
  }
};

Draw::Draw(std::vector<DrawNode> nodes, DrawOptions options) : nodes_(std::move(nodes)), options_(options) {
  ensure(nodes_.size() <= nodes_max, "the nodes of a draw are at most nodes_max");
  for (const DrawNode& node : nodes_) {
    ensure(node.weight <= DrawNode::weight_max, "a weight is at most weight_max, so that sums of them fit");
    hashes_.push_back(hash64(node.name.str()));
  }
  number_domains();
  if (options_.method != Method::crush) return;
  std::vector<std::uint32_t> all;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) all.push_back(node);
  std::ranges::sort(all, {}, [&](std::uint32_t node) -> const NodeId& { return nodes_[node].name; });
  forks_.emplace_back();
  grow_fork(0, all, 0);
}

void Draw::number_domains() {
  std::map<std::string, std::uint32_t> numbers;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    const std::string domain =
        options_.depth == 0 ? nodes_[node].name.str() : detail::domain_of(nodes_[node].name, nodes_[node].zone, options_.depth);
    const auto number = numbers.emplace(domain, static_cast<std::uint32_t>(numbers.size())).first->second;
    domains_.push_back(number);
    domain_takers_.resize(numbers.size());
    if (!takes(node)) continue;
    ++takers_;
    if (domain_takers_[number]++ == 0) ++taking_domains_;
  }
  ensure(options_.depth != 0 || numbers.size() == nodes_.size(), "the names of the nodes of a draw differ");
  std::ranges::sort(domain_takers_, std::greater<>());
}

// The children of a fork are the next parts of the paths below it, and the nodes whose path ends here.
void Draw::grow_fork(std::size_t fork, const std::vector<std::uint32_t>& below, std::size_t depth) {
  std::map<std::string_view, std::vector<std::uint32_t>> by_part;
  std::vector<Fork> children;
  for (const std::uint32_t node : below) {
    const auto parts = detail::parts_of(nodes_[node].zone);
    if (parts.size() > depth) {
      by_part[parts[depth]].push_back(node);
    } else {
      children.push_back({.hash = hashes_[node], .weight = nodes_[node].weight, .node = node});
    }
  }
  for (const auto& [part, nodes] : by_part) {
    const std::string_view zone = nodes_[nodes.front()].zone;
    Fork child{.hash = hash64(zone.substr(0, static_cast<std::size_t>(part.data() - zone.data()) + part.size()), fork_seed)};
    for (const std::uint32_t node : nodes) child.weight += nodes_[node].weight;
    children.push_back(child);
  }
  const std::size_t first = forks_.size();
  forks_[fork].first = static_cast<std::uint32_t>(first);
  forks_[fork].count = static_cast<std::uint32_t>(children.size());
  forks_.insert(forks_.end(), children.begin(), children.end());
  std::size_t child = first + children.size() - by_part.size();
  for (const auto& [part, nodes] : by_part) grow_fork(child++, nodes, depth + 1);
}

std::vector<std::uint32_t> Draw::pick(const ShardId& shard, std::uint32_t replicas) const {
  return pick(format(shard), replicas);
}

std::vector<std::uint32_t> Draw::pick(std::string_view key, std::uint32_t replicas, const std::vector<std::uint32_t>& kept,
                                      std::span<const std::uint32_t> barred) const {
  Row row{domains_, kept, barred};
  const std::uint64_t hash = hash64(key, options_.seed);
  if (options_.method == Method::crush) pick_by_tree(hash, replicas, row);
  if (row.chosen.size() >= replicas) return row.chosen;
  const std::uint32_t fresh = taking_domains_ - std::min(taking_domains_, row.domains_above(0));
  const auto missing = static_cast<std::uint32_t>(replicas - row.chosen.size());
  // A domain may be fresh and have only nodes that are barred: then the one pass would find too few.
  if (barred.empty() && missing <= short_row && (options_.hard || missing <= fresh)) {
    pick_fresh(hash, replicas, row);
  } else {
    pick_best(hash, replicas, row);
  }
  return row.chosen;
}

// The best nodes of different fresh domains, in one pass with a short sorted list. A domain that fell off the list has as many better
// ones before it as are asked for, and those only get better: so it never has to come back.
void Draw::pick_fresh(std::uint64_t key, std::uint32_t replicas, Row& row) const {
  const std::size_t missing = replicas - row.chosen.size();
  struct Entry {
    Straw straw;
    std::uint32_t node;
  };
  std::vector<Entry> best;
  const auto before = [&](const Entry& a, const Entry& b) {
    if (a.straw.before(b.straw)) return true;
    return !b.straw.before(a.straw) && nodes_[a.node].name < nodes_[b.node].name;
  };
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!takes(node)) continue;
    const std::uint64_t hash = mix64(key, hashes_[node]);
    const std::uint64_t weight = nodes_[node].weight;
    if (best.size() == missing && detail::surely_after(hash, weight, best.back().straw)) continue;
    if (!row.chosen.empty() && row.count(domains_[node]) > 0) continue;
    const Entry entry{detail::draw_straw(hash, weight), node};
    const auto same = std::ranges::find_if(best, [&](const Entry& other) { return domains_[other.node] == domains_[node]; });
    if (same != best.end()) {
      if (!before(entry, *same)) continue;
      best.erase(same);
    }
    best.insert(std::ranges::upper_bound(best, entry, before), entry);
    if (best.size() > missing) best.pop_back();
  }
  for (const Entry& entry : best) row.chosen.push_back(entry.node);
}

// All nodes in order; a domain's second comes after every domain's first.
void Draw::pick_best(std::uint64_t key, std::uint32_t replicas, Row& row) const {
  struct Entry {
    Straw straw;
    std::uint32_t node;
    std::uint32_t round;
  };
  std::vector<Entry> all;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (takes(node) && row.may_take(node))
      all.push_back({detail::draw_straw(mix64(key, hashes_[node]), nodes_[node].weight), node, 0});
  }
  std::ranges::sort(all, [&](const Entry& a, const Entry& b) {
    if (a.straw.before(b.straw)) return true;
    return !b.straw.before(a.straw) && nodes_[a.node].name < nodes_[b.node].name;
  });
  std::vector<std::uint32_t> rounds(domain_takers_.size());
  for (const std::uint32_t node : row.chosen) ++rounds[domains_[node]];
  for (Entry& entry : all) entry.round = rounds[domains_[entry.node]]++;
  std::ranges::stable_sort(all, {}, &Entry::round);
  for (const Entry& entry : all) {
    if (row.chosen.size() >= replicas || (options_.hard && entry.round > 0)) break;
    row.chosen.push_back(entry.node);
  }
}

std::uint32_t Draw::domains_with_more_than(std::uint32_t takers) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(domain_takers_, takers, std::greater<>()) - domain_takers_.begin());
}

// The key's draws are one sequence, and the row its first different nodes of fresh domains. So a node that is out leaves a gap which the
// next of the sequence fills, and no other replica moves.
void Draw::pick_by_tree(std::uint64_t key, std::uint32_t replicas, Row& row) const {
  if (takers_ == 0) return;
  std::uint32_t round = 0;
  const std::uint64_t draws = std::uint64_t{draws_per_replica} * std::min(replicas, takers_);
  for (std::uint64_t draw = 0; draw < draws && row.chosen.size() < replicas; ++draw) {
    while (domains_with_more_than(round) <= row.domains_above(round)) {
      if (options_.hard || domains_with_more_than(++round) == 0) return;
    }
    const std::uint32_t node = descend(mix64(key, draw));
    if (takes(node) && row.may_take(node) && row.count(domains_[node]) == round) row.chosen.push_back(node);
  }
}

std::uint32_t Draw::descend(std::uint64_t key) const {
  const Fork* fork = forks_.data();
  while (fork->node < 0) {
    const auto children = std::span(forks_).subspan(fork->first, fork->count);
    const Fork* best = nullptr;
    Straw shortest;
    for (const Fork& child : children) {
      const std::uint64_t hash = mix64(key, child.hash);
      if (child.weight == 0 || (best != nullptr && detail::surely_after(hash, child.weight, shortest))) continue;
      const Straw straw = detail::draw_straw(hash, child.weight);
      if (best != nullptr && !straw.before(shortest)) continue;
      best = &child;
      shortest = straw;
    }
    ensure(best != nullptr, "below a fork that weighs something something does");
    fork = best;
  }
  return static_cast<std::uint32_t>(fork->node);
}

}  // namespace evenkeel::place

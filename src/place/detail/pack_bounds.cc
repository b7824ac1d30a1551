#include "evenkeel/place/detail/pack_bounds.h"

#include <algorithm>
#include <functional>

namespace evenkeel::place::detail {
namespace {

std::size_t domain_count(const Pack& request) {
  std::uint32_t most = 0;
  for (const std::uint32_t domain : request.domains) most = std::max(most, domain + 1);
  return most;
}

// How many nodes the request can use at once for one shard: able nodes, or domains that have one.
std::uint64_t places(const Pack& request, auto&& fits) {
  std::vector<std::uint8_t> seen(domain_count(request));
  std::uint64_t count = 0;
  for (std::uint32_t n = 0; n < request.able.size(); ++n) {
    if (request.able[n] == 0 || !fits(n)) continue;
    if (request.hard && seen[request.domains[n]] != 0) continue;
    seen[request.domains[n]] = 1;
    ++count;
  }
  return count;
}

double plain(Amount amount) { return static_cast<double>(amount); }

double needed(const Pack& request, std::size_t d) {
  double sum = 0;
  for (std::size_t s = 0; s < request.shards; ++s) sum += plain(request.loads[s * request.width + d]) * request.replicas;
  return sum + plain(request.lead[d]) * request.shards;
}

// What fits at most: nobody holds more than one replica of every shard, leads included.
double held_at_most(const Pack& request, std::size_t d) {
  double one_of_each = 0;
  for (std::size_t s = 0; s < request.shards; ++s) one_of_each += plain(request.loads[s * request.width + d] + request.lead[d]);
  std::vector<double> room(request.hard ? domain_count(request) : 1);
  for (std::uint32_t n = 0; n < request.able.size(); ++n) {
    if (request.able[n] == 0) continue;
    room[request.hard ? request.domains[n] : 0] += std::clamp(plain(request.room[n * request.width + d]), 0.0, one_of_each);
  }
  double sum = 0;
  for (const double in_domain : room) sum += request.hard ? std::min(in_domain, one_of_each) : in_domain;
  return sum;
}

// The largest load for which there are places enough, or -1; loads above it are proof.
Amount fits_at_most(const Pack& request, std::size_t d) {
  std::vector<Amount> room;
  if (request.hard) room.assign(domain_count(request), -1);
  for (std::uint32_t n = 0; n < request.able.size(); ++n) {
    if (request.able[n] == 0) continue;
    const Amount here = request.room[n * request.width + d];
    if (request.hard) {
      room[request.domains[n]] = std::max(room[request.domains[n]], here);
    } else {
      room.push_back(here);
    }
  }
  if (room.size() < request.replicas) return -1;
  std::ranges::nth_element(room, room.begin() + (request.replicas - 1), std::greater());
  return room[request.replicas - 1];
}

}  // namespace

std::optional<NoPack> why_no_home(const Pack& request, std::uint32_t shard) {
  const Amount* load = request.loads.data() + std::size_t{shard} * request.width;
  const auto fits_in = [&](std::uint32_t n, std::size_t d) {
    return load[d] <= 0 || load[d] <= request.room[n * request.width + d];
  };
  const auto fits = [&](std::uint32_t n) {
    if (std::ranges::binary_search(request.barred, Bar{shard, n})) return false;
    for (std::size_t d = 0; d < request.width; ++d) {
      if (!fits_in(n, d)) return false;
    }
    return true;
  };
  if (places(request, fits) >= request.replicas) return std::nullopt;
  NoPack no;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (std::size_t d = 0; d < request.width; ++d) {
    const std::uint64_t count = places(request, [&](std::uint32_t n) { return fits_in(n, d); });
    if (count >= fewest) continue;
    fewest = count;
    no.dimension = d;
  }
  return no;
}

std::optional<NoPack> why_no_pack(const Pack& request) {
  if (request.shards == 0 || request.replicas == 0) return std::nullopt;
  const std::uint64_t found = places(request, [](std::uint32_t) { return true; });
  if (found < request.replicas) {
    const auto able = static_cast<std::uint64_t>(std::ranges::count_if(request.able, [](std::uint8_t a) { return a != 0; }));
    const bool too_few = able < request.replicas;
    return NoPack{NoDeal{too_few ? NoDeal::Bound::nodes : NoDeal::Bound::spread, request.replicas, too_few ? able : found}};
  }
  for (std::size_t d = 0; d < request.width; ++d) {
    const Amount most = fits_at_most(request, d);
    for (std::size_t s = 0; s < request.shards; ++s) {
      const Amount load = request.loads[s * request.width + d];
      if (load > 0 && load > most) return NoPack{.dimension = d};
    }
    // Sums of doubles are nearly exact: what is above by less than that is left to be tried.
    if (needed(request, d) > held_at_most(request, d) * (1 + 1e-9)) return NoPack{.dimension = d};
  }
  return std::nullopt;
}

std::size_t tightest_dimension(const Pack& request) {
  std::size_t best = 0;
  double best_part = -1;
  for (std::size_t d = 0; d < request.width; ++d) {
    const double room = held_at_most(request, d);
    const double part = needed(request, d) / std::max(room, 1e-9);
    if (part <= best_part) continue;
    best = d;
    best_part = part;
  }
  return best;
}

}  // namespace evenkeel::place::detail

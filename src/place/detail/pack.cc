#include "evenkeel/place/detail/pack.h"

#include <algorithm>
#include <array>

#include "evenkeel/base/hash.h"
#include "evenkeel/base/rng.h"
#include "evenkeel/place/detail/pack_bounds.h"
#include "evenkeel/place/detail/pack_eject.h"
#include "evenkeel/place/detail/pack_greedy.h"
#include "evenkeel/place/detail/pack_lead.h"
#include "evenkeel/place/detail/pack_lists.h"
#include "evenkeel/place/detail/pack_refine.h"
#include "evenkeel/place/detail/pack_state.h"

namespace evenkeel::place::detail {
namespace {

struct Try {
  PackOrder order = PackOrder::largest;
  double jitter = 0;
};

// The usual order first; the others are for requests that fit only just, and for small ones, of which the best of several is taken.
constexpr std::array pack_tries{Try{PackOrder::largest, 0},   Try{PackOrder::tightest, 0},   Try{PackOrder::sum, 0},
                                Try{PackOrder::largest, 0.1}, Try{PackOrder::tightest, 0.1}, Try{PackOrder::sum, 0.2},
                                Try{PackOrder::largest, 0.4}, Try{PackOrder::tightest, 0.3}};

class Packer {
 public:
  explicit Packer(const Pack& request) : request_(request), packing_(request), rng_(seed(request)) {}

  Packed run() {
    const std::uint64_t work =
        std::uint64_t{request_.shards} * request_.replicas * std::min<std::uint64_t>(request_.able.size(), 64);
    const auto starts = std::clamp<std::uint64_t>(2'000'000 / std::max<std::uint64_t>(1, work), 1, 64);
    const std::uint64_t failures_max = work > 10'000'000 ? 3 : pack_tries.size();
    std::uint64_t good = 0;
    for (std::uint64_t i = 0; good < starts && i < failures_max + good; ++i) {
      packing_.clear();
      // Beyond the table only chance is left.
      if (!try_once(i < pack_tries.size() ? pack_tries[i] : Try{PackOrder::largest, 0.9}, starts)) continue;
      ++good;
      keep_better();
    }
    return result();
  }

 private:
  static std::uint64_t seed(const Pack& request) {
    std::uint64_t mixed = mix64(request.shards, request.replicas);
    for (const std::uint64_t salt : request.salt) mixed = mix64(mixed, salt);
    return mixed;
  }

  bool try_once(const Try& how, std::uint64_t starts) {
    std::vector<std::uint32_t> homeless = PackGreedy(packing_, rng_).run(how.order, how.jitter);
    const std::uint64_t count = std::uint64_t{request_.shards} * request_.replicas;
    if (!homeless.empty()) {
      PackLists lists(packing_);
      homeless =
          PackEject(packing_, lists, rng_)
              .run(std::move(homeless), 20 * count + std::min<std::uint64_t>(20'000'000, 200 * count * request_.able.size()));
      if (!homeless.empty()) {
        homeless_ = packing_.shard_of(homeless.back());
        return false;
      }
    }
    level_leads(packing_);
    if (packing_.levels() == 0 || count == 0) return true;
    PackLists lists(packing_);
    PackRefine(packing_, lists, rng_).run(100 * count + 2'000'000 / starts);
    return true;
  }

  void keep_better() {
    const Packing::Standing standing = packing_.standing();
    if (!best_.empty() && !(standing < best_standing_)) return;
    best_standing_ = standing;
    best_.clear();
    for (std::uint32_t s = 0; s < request_.shards; ++s) {
      const auto row = packing_.row(s);
      best_.insert(best_.end(), row.begin(), row.end());
    }
  }

  Packed result() {
    Packed packed;
    packed.evaluated = packing_.evaluated;
    packed.found = !best_.empty();
    if (!packed.found) {
      const auto no = why_no_home(request_, homeless_);
      packed.proved = no.has_value();
      packed.dimension = no ? no->dimension : tightest_dimension(request_);
      return packed;
    }
    packed.rows.reserve(request_.shards, best_.size());
    for (std::size_t i = 0; i < best_.size(); ++i) {
      packed.rows.add(NodeIndex(best_[i]));
      if ((i + 1) % request_.replicas == 0) packed.rows.end_row();
    }
    return packed;
  }

  const Pack& request_;
  Packing packing_;
  Rng rng_;
  std::vector<std::uint32_t> best_;  // shards × replicas
  Packing::Standing best_standing_;
  std::uint32_t homeless_ = 0;  // a shard that found no home in the last try
};

}  // namespace

Packed pack(const Pack& request) {
  Packed packed;
  if (request.shards == 0 || request.replicas == 0) {
    for (std::uint32_t s = 0; s < request.shards; ++s) packed.rows.end_row();
    packed.found = true;
    return packed;
  }
  if (const auto no = why_no_pack(request)) {
    packed.proved = true;
    packed.bound = no->bound;
    packed.dimension = no->dimension;
    return packed;
  }
  return Packer(request).run();
}

}  // namespace evenkeel::place::detail

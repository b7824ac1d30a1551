#include "evenkeel/place/detail/pack_lead.h"

namespace evenkeel::place::detail {
namespace {

// What one leader more, or the last one, adds to Σ leaders² / part.
double burden(const Packing& packing, std::uint32_t node, bool more) {
  const double part = packing.lead_part(node);
  const double twice = 2.0 * packing.leaders(node) + (more ? 1 : -1);
  return part > 0 ? twice / part : 1e300;
}

bool hand_on(Packing& packing, std::uint32_t shard) {
  const auto row = packing.row(shard);
  const bool may = packing.may_lead(row[0]);
  std::uint32_t best = 0;
  double best_burden = may ? burden(packing, row[0], false) : 2e300;
  for (std::uint32_t slot = 1; slot < row.size(); ++slot) {
    if (!packing.may_lead(row[slot])) continue;
    const double its = burden(packing, row[slot], true);
    if (its >= best_burden || !packing.fits_lead(row[slot])) continue;
    best = slot;
    best_burden = its;
  }
  packing.lead(shard, best);
  return best != 0;
}

}  // namespace

void level_leads(Packing& packing) {
  constexpr int passes_max = 8;
  if (packing.replicas() < 2) return;
  for (int pass = 0; pass < passes_max; ++pass) {
    bool any = false;
    for (std::uint32_t shard = 0; shard < packing.shards(); ++shard) any = hand_on(packing, shard) || any;
    if (!any) break;
  }
}

}  // namespace evenkeel::place::detail

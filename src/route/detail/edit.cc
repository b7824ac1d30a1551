#include "evenkeel/route/detail/edit.h"

#include <algorithm>
#include <utility>

#include "evenkeel/base/hash.h"

namespace evenkeel::route {

namespace {

// The document's shards in order, each once, at its highest version.
std::vector<const ShardView*> in_order(const ViewBucket& bucket) {
  std::vector<const ShardView*> said;
  said.reserve(bucket.shards.size());
  for (const ShardView& shard : bucket.shards) said.push_back(&shard);
  const auto before = [](const ShardView* a, const ShardView* b) {
    return a->shard != b->shard ? a->shard < b->shard : a->version > b->version;
  };
  if (!std::ranges::is_sorted(said, before)) std::ranges::stable_sort(said, before);
  const auto twice = std::ranges::unique(said, {}, [](const ShardView* view) { return view->shard; });
  said.erase(twice.begin(), twice.end());
  return said;
}

Sharding sharding_of(const ViewBucket& bucket) { return {bucket.shards_in_all, bucket.key_map, bucket.hash_version}; }

}  // namespace

const Table::Row* Table::Piece::find(ShardIndex shard) const {
  const auto at = std::ranges::lower_bound(rows, shard, {}, [](const Row& row) { return row.view.shard; });
  return at == rows.end() || at->view.shard != shard ? nullptr : &*at;
}

std::uint32_t Table::Part::place(Bucket bucket) const {
  const auto at = std::ranges::lower_bound(pieces, bucket, {}, [](const auto& piece) { return piece->bucket; });
  return at == pieces.end() || (*at)->bucket != bucket ? detail::none : static_cast<std::uint32_t>(at - pieces.begin());
}

// 1. Shards.

Table::Edit::Open& Table::Edit::open(const WorkloadId& workload) {
  const auto [at, is_new] = open_.try_emplace(workload);
  Open& open = at->second;
  if (is_new) {
    open.was = from_.part(workload);
    if (open.was != nullptr) open.pieces = open.was->pieces;
  }
  return open;
}

const Table::Piece* Table::Edit::current(const WorkloadId& workload, Bucket bucket) const {
  const auto at = open_.find(workload);
  if (at != open_.end()) {
    const auto added = at->second.added.find(bucket);
    if (added != at->second.added.end()) return added->second.get();
  }
  const Part* was = from_.part(workload);
  const std::uint32_t place = was == nullptr ? detail::none : was->place(bucket);
  if (place == detail::none) return nullptr;
  return (at == open_.end() ? was->pieces : at->second.pieces)[place].get();
}

Table::Edit::News Table::Edit::compare(const ViewBucket& bucket, const std::vector<const ShardView*>& said,
                                       const Piece* now) const {
  const Part* was = from_.part(bucket.workload);
  const std::uint32_t place = was == nullptr ? detail::none : was->place(bucket.bucket);
  News news;
  news.shards.reserve(said.size());
  for (const ShardView* view : said) {
    const Row* own = now == nullptr ? nullptr : now->find(view->shard);
    const Row* known = own;
    if (was != nullptr) {
      const detail::At at = was->index->find(view->shard);
      if (at.piece != place) news.elsewhere = true;
      // One that this edit has removed is not known any more.
      const bool there = at.piece != detail::none && current(bucket.workload, was->piece(at).bucket) != nullptr;
      if (there && (known == nullptr || was->row(at).view.version > known->view.version)) known = &was->row(at);
    }
    if (own != nullptr && own->view.version < view->version) news.higher = true;
    if (own != nullptr && own->view.version > view->version) news.lower = true;
    news.shards.push_back(known != nullptr && known->view.version >= view->version ? &known->view : view);
  }
  return news;
}

void Table::Edit::put(const ViewBucket& bucket) {
  const std::vector<const ShardView*> said = in_order(bucket);
  const Piece* now = current(bucket.workload, bucket.bucket);
  const News news = compare(bucket, said, now);
  if (news.lower && !news.higher) return;  // an older document than the one that was read
  const bool same_shards =
      now != nullptr && std::ranges::equal(said, now->rows, {}, &ShardView::shard, [](const Row& row) { return row.view.shard; });
  if (same_shards && !news.higher && now->sharding == sharding_of(bucket)) return;
  std::shared_ptr<const Piece> piece = make(bucket, news);
  Open& open = this->open(bucket.workload);
  if (!same_shards || news.elsewhere) open.reindex = true;
  set(open, std::move(piece));
}

void Table::Edit::set(Open& open, std::shared_ptr<const Piece> piece) {
  const std::uint32_t place = open.was == nullptr ? detail::none : open.was->place(piece->bucket);
  if (place == detail::none) {
    open.reindex = true;
    open.added[piece->bucket] = std::move(piece);
  } else {
    open.pieces[place] = std::move(piece);
  }
}

std::shared_ptr<const Table::Piece> Table::Edit::make(const ViewBucket& bucket, const News& news) {
  auto piece = std::make_shared<Piece>();
  piece->bucket = bucket.bucket;
  piece->sharding = sharding_of(bucket);
  piece->rows.reserve(news.shards.size());
  for (const ShardView* view : news.shards) {
    const auto first = static_cast<std::uint32_t>(piece->serving.size());
    if (view->leader) piece->serving.push_back({slot(*view->leader), detail::none});
    for (std::uint32_t peer = 0; peer < view->others.size(); ++peer) {
      if (view->others[peer].node != view->leader) piece->serving.push_back({slot(view->others[peer].node), peer});
    }
    piece->rows.push_back({*view, first, static_cast<std::uint32_t>(piece->serving.size()) - first});
  }
  return piece;
}

void Table::Edit::remove(const WorkloadId& workload, Bucket bucket) {
  if (current(workload, bucket) == nullptr) return;
  Open& open = this->open(workload);
  open.reindex = true;
  if (open.added.erase(bucket) == 0) open.pieces[open.was->place(bucket)] = nullptr;
}

// 2. Nodes.

Table::Nodes& Table::Edit::open_nodes() {
  if (!nodes_) nodes_ = from_.nodes_ ? *from_.nodes_ : Nodes();
  return *nodes_;
}

std::uint32_t Table::Edit::slot(const NodeId& node) {
  if (nodes() != nullptr) {
    const auto at = nodes()->places.find(node);
    if (at != nodes()->places.end()) return at->second;
  }
  set(node, {.endpoint = {.node = node}, .hash = hash64(node.str())});
  return nodes_->places.at(node);
}

void Table::Edit::set(const NodeId& node, const detail::Known& known) {
  Nodes& nodes = open_nodes();
  const auto [at, is_new] = nodes.places.try_emplace(node, static_cast<std::uint32_t>(nodes.slots.size()));
  if (is_new && !nodes.free.empty()) {
    at->second = nodes.free.back();
    nodes.free.pop_back();
  } else if (is_new) {
    nodes.slots.emplace_back();
  }
  nodes.slots[at->second] = std::make_shared<const detail::Known>(known);
}

void Table::Edit::put(const LiveDocument& live) {
  const detail::Known* now = nodes() == nullptr ? nullptr : nodes()->find(live.node);
  Endpoint endpoint{live.node, live.address, live.zone};
  if (now != nullptr && now->live && now->endpoint == endpoint) return;
  set(live.node, {.endpoint = std::move(endpoint), .hash = hash64(live.node.str()), .heard = true, .live = true});
}

void Table::Edit::remove(const NodeId& node) {
  const detail::Known* now = nodes() == nullptr ? nullptr : nodes()->find(node);
  if (now == nullptr || !now->live) return;
  detail::Known known = *now;
  known.live = false;
  set(node, known);
}

void Table::Edit::sweep(const Table& table, Nodes& nodes) {
  std::vector<bool> needed(nodes.slots.size(), false);
  for (const auto& part : table.parts_) {
    for (const auto& piece : part->pieces) {
      for (const detail::Serving& serving : piece->serving) needed[serving.slot] = true;
    }
  }
  std::size_t used = 0;
  for (std::uint32_t slot = 0; slot < nodes.slots.size(); ++slot) {
    auto& known = nodes.slots[slot];
    if (!known) continue;
    if (needed[slot] || known->live) {
      ++used;
      continue;
    }
    nodes.places.erase(known->endpoint.node);
    nodes.free.push_back(slot);
    known = nullptr;
  }
  nodes.sweep_at = std::max<std::size_t>(64, 2 * used);
}

// 3. The next table.

std::shared_ptr<const Table::Part> Table::Edit::close(const WorkloadId& workload, Open open) const {
  auto part = std::make_shared<Part>();
  part->workload = workload;
  for (auto& piece : open.pieces) {
    if (piece) part->pieces.push_back(std::move(piece));
  }
  for (auto& [bucket, piece] : open.added) part->pieces.push_back(std::move(piece));
  if (part->pieces.empty()) return nullptr;
  if (!open.added.empty()) std::ranges::sort(part->pieces, {}, [](const auto& piece) { return piece->bucket; });
  for (const auto& piece : part->pieces) {
    if (piece->sharding.shards > part->sharding.shards) part->sharding = piece->sharding;
  }
  if (open.was != nullptr && !open.reindex && part->sharding.shards == open.was->sharding.shards) {
    part->index = open.was->index;
    return part;
  }
  auto index = std::make_shared<detail::Index>();
  for (std::uint32_t at_piece = 0; at_piece < part->pieces.size(); ++at_piece) {
    const std::vector<Row>& rows = part->pieces[at_piece]->rows;
    for (std::uint32_t at_row = 0; at_row < rows.size(); ++at_row) {
      const ShardView& view = rows[at_row].view;
      if (view.shard.value() >= part->sharding.shards) break;
      detail::At& at = index->make(view.shard);
      if (at.piece == detail::none || part->row(at).view.version < view.version) at = {at_piece, at_row};
    }
  }
  part->index = std::move(index);
  return part;
}

Table Table::Edit::finish() && {
  Table next;
  next.parts_.reserve(from_.parts_.size() + open_.size());
  for (const auto& part : from_.parts_) {
    if (!open_.contains(part->workload)) next.parts_.push_back(part);
  }
  for (auto& [workload, open] : open_) {
    auto part = close(workload, std::move(open));
    if (part) next.parts_.push_back(std::move(part));
  }
  if (!open_.empty()) std::ranges::sort(next.parts_, {}, [](const auto& part) -> const WorkloadId& { return part->workload; });
  next.nodes_ = from_.nodes_;
  if (nodes_) {
    if (nodes_->places.size() > nodes_->sweep_at) sweep(next, *nodes_);
    next.nodes_ = std::make_shared<const Nodes>(*std::move(nodes_));
  }
  return next;
}

}  // namespace evenkeel::route

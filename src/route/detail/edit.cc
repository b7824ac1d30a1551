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

Sharding said_by(const ViewBucket& bucket) {
  return {bucket.shards_in_all, bucket.key_map, bucket.hash_version, bucket.split_from, bucket.idle};
}

}  // namespace

const ShardView* Table::Piece::find(ShardIndex shard) const {
  const auto at = std::ranges::lower_bound(views, shard, {}, &ShardView::shard);
  return at == views.end() || at->shard != shard ? nullptr : &*at;
}

Table::Pieces::Pieces(const std::vector<std::shared_ptr<const Piece>>& all) : size_(static_cast<std::uint32_t>(all.size())) {
  std::shared_ptr<Chunk> chunk;
  for (std::uint32_t place = 0; place < size_; ++place) {
    if (place % chunk_size == 0) chunks_.push_back(chunk = std::make_shared<Chunk>());
    (*chunk)[place % chunk_size] = {all[place], all[place]->rows.data()};
  }
}

Table::Pieces Table::Pieces::with(const std::map<std::uint32_t, std::shared_ptr<const Piece>>& other) const {
  Pieces next = *this;
  std::shared_ptr<Chunk> chunk;  // the one that is being changed: places come in order
  for (const auto& [place, piece] : other) {
    auto& shared = next.chunks_[place / chunk_size];
    if (chunk != shared) shared = chunk = std::make_shared<Chunk>(*shared);
    (*chunk)[place % chunk_size] = {piece, piece->rows.data()};
  }
  return next;
}

std::uint32_t Table::Pieces::place(Bucket bucket) const {
  const auto number = [&](std::uint32_t place) { return (*this)[place].piece->bucket; };
  if (bucket.value() < size_ && number(bucket.value()) == bucket) return bucket.value();  // none is missing before it
  std::uint32_t from = 0;
  for (std::uint32_t to = size_; from < to;) {
    const std::uint32_t middle = from + (to - from) / 2;
    if (number(middle) < bucket) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from < size_ && number(from) == bucket ? from : detail::none;
}

// 1. Shards.

Table::Edit::Open& Table::Edit::open(const WorkloadId& workload) {
  const auto [at, is_new] = open_.try_emplace(workload);
  if (is_new) at->second.was = from_.part(workload);
  return at->second;
}

const Table::Piece* Table::Edit::current(const WorkloadId& workload, Bucket bucket) const {
  const auto at = open_.find(workload);
  if (at != open_.end()) {
    const auto added = at->second.added.find(bucket);
    if (added != at->second.added.end()) return added->second.get();
  }
  const Part* was = from_.part(workload);
  const std::uint32_t place = was == nullptr ? detail::none : was->pieces.place(bucket);
  if (place == detail::none) return nullptr;
  if (at != open_.end()) {
    const auto changed = at->second.changed.find(place);
    if (changed != at->second.changed.end()) return changed->second.get();
  }
  return was->pieces[place].piece.get();
}

Table::Edit::News Table::Edit::compare(const ViewBucket& bucket, const std::vector<const ShardView*>& said,
                                       const Piece* now) const {
  const Part* was = from_.part(bucket.workload);
  const std::uint32_t place = was == nullptr ? detail::none : was->pieces.place(bucket.bucket);
  News news;
  news.shards.reserve(said.size());
  for (const ShardView* view : said) {
    const ShardView* own = now == nullptr ? nullptr : now->find(view->shard);
    const ShardView* known = own;
    if (was != nullptr) {
      const detail::At at = was->index->find(view->shard);
      if (at.piece != place) news.elsewhere = true;
      // One that this edit has removed is not known any more.
      const bool there = at.piece != detail::none && current(bucket.workload, was->piece(at).bucket) != nullptr;
      if (there && (known == nullptr || was->view(at).version > known->version)) known = &was->view(at);
    }
    if (own != nullptr && own->version < view->version) news.higher = true;
    if (own != nullptr && own->version > view->version) news.lower = true;
    news.shards.push_back(known != nullptr && known->version >= view->version ? known : view);
  }
  return news;
}

void Table::Edit::put(const ViewBucket& bucket) {
  const std::vector<const ShardView*> said = in_order(bucket);
  const Piece* now = current(bucket.workload, bucket.bucket);
  const News news = compare(bucket, said, now);
  if (news.lower && !news.higher) return;  // an older document than the one that was read
  const bool same_shards = now != nullptr && std::ranges::equal(said, now->views, {}, &ShardView::shard, &ShardView::shard);
  if (same_shards && !news.higher && now->sharding == said_by(bucket)) return;
  std::shared_ptr<const Piece> piece = make(bucket, news);
  Open& open = this->open(bucket.workload);
  if (!same_shards || news.elsewhere) open.reindex = true;
  if (now == nullptr || now->sharding != piece->sharding) open.resize = true;
  set(open, std::move(piece));
}

void Table::Edit::set(Open& open, std::shared_ptr<const Piece> piece) {
  const std::uint32_t place = open.was == nullptr ? detail::none : open.was->pieces.place(piece->bucket);
  if (place == detail::none) {
    open.reindex = true;
    open.added[piece->bucket] = std::move(piece);
  } else {
    open.changed[place] = std::move(piece);
  }
}

std::shared_ptr<const Table::Piece> Table::Edit::make(const ViewBucket& bucket, const News& news) {
  auto piece = std::make_shared<Piece>();
  piece->bucket = bucket.bucket;
  piece->sharding = said_by(bucket);
  piece->views.reserve(news.shards.size());
  piece->rows.reserve(news.shards.size());
  std::vector<detail::Serving> serving;
  for (const ShardView* view : news.shards) {
    serving.clear();
    if (view->leader) serving.push_back({slot(*view->leader), detail::none});
    for (const Peer& peer : view->others) {
      const bool idle = std::ranges::find(bucket.idle, peer.state) != bucket.idle.end();
      if (peer.node != view->leader && !idle) serving.push_back({slot(peer.node), state(peer.state)});
    }
    Row row{.version = view->version, .count = static_cast<std::uint32_t>(serving.size())};
    if (serving.size() <= Row::inside) {
      std::ranges::copy(serving, row.serving.begin());
    } else {
      row.first = static_cast<std::uint32_t>(piece->more.size());
      piece->more.insert(piece->more.end(), serving.begin(), serving.end());
    }
    piece->views.push_back(*view);
    piece->rows.push_back(row);
  }
  return piece;
}

void Table::Edit::remove(const WorkloadId& workload, Bucket bucket) {
  if (current(workload, bucket) == nullptr) return;
  Open& open = this->open(workload);
  open.reindex = true;
  open.resize = true;
  if (open.added.erase(bucket) == 0) open.changed[open.was->pieces.place(bucket)] = nullptr;
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

std::uint32_t Table::Edit::state(const StateId& state) {
  const auto find = [&](const Nodes& nodes) { return std::ranges::find(nodes.states, state) - nodes.states.begin(); };
  if (nodes() == nullptr || find(*nodes()) == std::ssize(nodes()->states)) open_nodes().states.push_back(state);
  return static_cast<std::uint32_t>(find(*nodes()));
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
    for (std::uint32_t place = 0; place < part->pieces.size(); ++place) {
      const Piece& piece = *part->pieces[place].piece;
      for (const Row& row : piece.rows) {
        for (const detail::Serving& serving : piece.serving(row)) needed[serving.slot] = true;
      }
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

Table::Pieces Table::Edit::pieces_of(const Open& open) {
  const bool in_place =
      open.added.empty() && std::ranges::all_of(open.changed, [](const auto& one) { return one.second != nullptr; });
  if (in_place && open.was != nullptr) return open.was->pieces.with(open.changed);
  std::vector<std::shared_ptr<const Piece>> all;
  for (std::uint32_t place = 0; open.was != nullptr && place < open.was->pieces.size(); ++place) {
    const auto changed = open.changed.find(place);
    const auto& piece = changed == open.changed.end() ? open.was->pieces[place].piece : changed->second;
    if (piece) all.push_back(piece);
  }
  for (const auto& [bucket, piece] : open.added) all.push_back(piece);
  std::ranges::sort(all, {}, [](const auto& piece) { return piece->bucket; });
  return Pieces(all);
}

Sharding Table::Edit::sharding_of(const Pieces& pieces) {
  Sharding sharding;
  for (std::uint32_t place = 0; place < pieces.size(); ++place) {
    const Sharding& said = pieces[place].piece->sharding;
    const std::uint32_t split_from = said.shards == sharding.shards ? std::max(said.split_from, sharding.split_from) : 0;
    if (said.shards > sharding.shards) sharding = said;
    // Buckets are not written anew when the last shard is split: then it makes no difference, as all are there.
    sharding.split_from = std::max(sharding.split_from, split_from);
  }
  return sharding;
}

std::shared_ptr<const Table::Part> Table::Edit::close(const WorkloadId& workload, const Open& open) {
  auto part = std::make_shared<Part>();
  part->workload = workload;
  part->pieces = pieces_of(open);
  if (part->pieces.size() == 0) return nullptr;
  part->sharding = open.resize || open.was == nullptr ? sharding_of(part->pieces) : open.was->sharding;
  if (open.was != nullptr && !open.reindex && part->sharding.shards == open.was->sharding.shards) {
    part->index = open.was->index;
    return part;
  }
  auto index = std::make_shared<detail::Index>();
  for (std::uint32_t place = 0; place < part->pieces.size(); ++place) {
    const std::vector<ShardView>& views = part->pieces[place].piece->views;
    for (std::uint32_t row = 0; row < views.size(); ++row) {
      if (views[row].shard.value() >= part->sharding.shards) break;
      detail::At& at = index->make(views[row].shard);
      if (at.piece == detail::none || part->view(at).version < views[row].version) at = {place, row};
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
  for (const auto& [workload, open] : open_) {
    auto part = close(workload, open);
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

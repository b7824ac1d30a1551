#include "evenkeel/broker/detail/kinetic.h"

namespace evenkeel::broker::detail {
namespace {

// The heap's order: any fixed mixture does.
std::uint32_t height(QueueIndex q) {
  std::uint32_t mixed = (q + 1) * 0x9E3779B1u;
  mixed = (mixed ^ (mixed >> 15)) * 0x85EBCA77u;
  return mixed ^ (mixed >> 13);
}

bool higher(QueueIndex a, QueueIndex b) { return height(a) != height(b) ? height(a) > height(b) : a < b; }

}  // namespace

void NeedTree::fight(const Line* lines, QueueIndex at, std::uint64_t now) {
  Node& node = nodes_[at];
  node.winner = at;
  node.expires = never;
  for (const QueueIndex child : {node.left, node.right}) {
    if (child == no_queue) continue;
    const Duel duel = ByKey::duel(lines, node.winner, nodes_[child].winner, now);
    node.winner = duel.winner;
    node.expires = std::min({node.expires, duel.expires, nodes_[child].expires});
  }
}

void NeedTree::repair(const Line* lines, QueueIndex at, std::uint64_t now) {
  if (at == no_queue || nodes_[at].expires > now) return;
  repair(lines, nodes_[at].left, now);
  repair(lines, nodes_[at].right, now);
  fight(lines, at, now);
}

void NeedTree::split(const Line* lines, QueueIndex at, QueueIndex q, QueueIndex& left, QueueIndex& right, std::uint64_t now) {
  if (at == no_queue) {
    left = right = no_queue;
  } else if (before(at, q)) {
    QueueIndex rest = no_queue;
    split(lines, nodes_[at].right, q, nodes_[at].right, rest, now);
    fight(lines, at, now);
    left = at;
    right = rest;
  } else {
    QueueIndex rest = no_queue;
    split(lines, nodes_[at].left, q, rest, nodes_[at].left, now);
    fight(lines, at, now);
    left = rest;
    right = at;
  }
}

QueueIndex NeedTree::join(const Line* lines, QueueIndex left, QueueIndex right, std::uint64_t now) {
  if (left == no_queue || right == no_queue) return left == no_queue ? right : left;
  const QueueIndex top = higher(left, right) ? left : right;
  if (top == left) {
    nodes_[top].right = join(lines, nodes_[top].right, right, now);
  } else {
    nodes_[top].left = join(lines, left, nodes_[top].left, now);
  }
  fight(lines, top, now);
  return top;
}

QueueIndex NeedTree::insert(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now) {
  if (at == no_queue || higher(q, at)) {
    split(lines, at, q, nodes_[q].left, nodes_[q].right, now);
    fight(lines, q, now);
    return q;
  }
  QueueIndex& child = before(q, at) ? nodes_[at].left : nodes_[at].right;
  child = insert(lines, child, q, now);
  fight(lines, at, now);
  return at;
}

QueueIndex NeedTree::remove(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now) {
  if (at == q) return join(lines, nodes_[q].left, nodes_[q].right, now);
  QueueIndex& child = before(q, at) ? nodes_[at].left : nodes_[at].right;
  child = remove(lines, child, q, now);
  fight(lines, at, now);
  return at;
}

void NeedTree::refresh(const Line* lines, QueueIndex at, QueueIndex q, std::uint64_t now) {
  if (at != q) refresh(lines, before(q, at) ? nodes_[at].left : nodes_[at].right, q, now);
  fight(lines, at, now);
}

void NeedTree::set(const Line* lines, QueueIndex q, std::uint64_t need, std::uint64_t now) {
  Node& node = nodes_[q];
  if (node.present && node.need == need) return refresh(lines, root_, q, now);
  if (node.present) erase(lines, q, now);
  node.present = true;
  node.need = need;
  root_ = insert(lines, root_, q, now);
}

void NeedTree::erase(const Line* lines, QueueIndex q, std::uint64_t now) {
  if (!nodes_[q].present) return;
  root_ = remove(lines, root_, q, now);
  nodes_[q] = {};
}

QueueIndex NeedTree::first_above(const Line* lines, std::uint64_t free, std::uint64_t now) {
  repair(lines, root_, now);
  QueueIndex best = no_queue;
  const auto offer = [&](QueueIndex q) {
    if (best == no_queue || ByKey::before(lines, q, best, now)) best = q;
  };
  for (QueueIndex at = root_; at != no_queue;) {
    const Node& node = nodes_[at];
    if (node.need <= free) {
      at = node.right;
      continue;
    }
    offer(at);
    if (node.right != no_queue) offer(nodes_[node.right].winner);
    at = node.left;
  }
  return best;
}

}  // namespace evenkeel::broker::detail

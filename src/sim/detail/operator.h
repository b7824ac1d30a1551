#pragma once
// Operator: who writes a cluster's documents by hand. Each edit reads, changes and writes one document, and tries again until it is done.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evenkeel/store/store.h"

namespace evenkeel::sim {

class Operator {
 public:
  // The new text from the one that is there; nothing: it stays as it is.
  using Change = std::function<std::optional<std::string>(const std::optional<std::string>& text)>;

  explicit Operator(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  // Edits are made one after the other.
  void edit(std::string key, Change change);
  bool idle() const { return edits_.empty(); }

 private:
  struct Edit {
    std::string key;
    Change change;
  };

  void begin();
  void write(const store::Read& read);
  void again();
  void done();

  std::unique_ptr<store::Store> store_;
  std::deque<Edit> edits_;
};

}  // namespace evenkeel::sim

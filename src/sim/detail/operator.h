#pragma once
// Operator: who writes a cluster's documents by hand. Each edit reads, changes and writes one document, and tries again until it is done.
// What was wanted of a document is remembered, so that it can be written again after the store has lost it.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel/store/store.h"

namespace evenkeel::sim {

class Operator {
 public:
  // The new text from the one that is there; nothing: it stays as it is.
  using Change = std::function<std::optional<std::string>(const std::optional<std::string>& text)>;

  explicit Operator(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  // Edits are made one after the other. One that is to be done once is not remembered.
  void edit(std::string key, Change change);
  void edit_once(std::string key, Change change);
  // All that was edited, as if for the first time, over what is there.
  void edit_again();
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
  std::map<std::string, std::vector<Change>> wanted_;  // of each document, in order
};

}  // namespace evenkeel::sim

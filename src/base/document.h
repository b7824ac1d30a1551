#pragma once
// Document: YAML or JSON text as a tree one can walk, with the place of every value, in a few flat arrays.
//
// It is the one reader under every file that people write (cluster files, broker configs, stories): both syntaxes give the same
// tree, so what is said of a field holds in both. A `Value` is a light handle into it; the document must outlive it.
//
//   auto document = Document::parse(text, "pages.yaml");
//   if (!document) return print(document.error());
//   Diagnostics problems = document->problems();          // keys given twice: wrong, but the rest can still be read
//   for (auto [key, value] : document->root().pairs()) ...
//
// Strictness, the same for both syntaxes: one document; valid UTF-8, control characters only as escapes; keys are scalars, each once per
// map; no anchors, aliases or tags (so no text is larger than it looks); bounded size, depth and scalar length.
// Cost: 20 bytes a value and the scalars' own text. Linear time. Nothing is allocated per value.

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evenkeel/base/diagnostic.h"

namespace evenkeel {

enum class Syntax : std::uint8_t { yaml, json };

class Document;

class Value {
 public:
  enum class Kind : std::uint8_t {
    null,   // nothing, ~ or null
    plain,  // an unquoted scalar: a number, true, false, or in YAML any word
    text,   // a quoted scalar
    list,
    map,
  };

  Kind kind() const;
  bool is_scalar() const { return kind() == Kind::plain || kind() == Kind::text; }
  Place place() const;
  // The scalar's text, unescaped; empty for other kinds.
  std::string_view text() const;
  // How many items a list, or pairs a map, has.
  std::size_t size() const;
  // What it is, for messages: `the text "x"`, `"5"` for a plain scalar, `a list`, `nothing`.
  std::string describe() const;

  // Ranges over a list's items and a map's pairs; empty for other kinds.
  class Items;
  class Pairs;
  Items items() const;
  Pairs pairs() const;

 private:
  friend class Document;
  Value(const Document* document, std::uint32_t at) : document_(document), at_(at) {}
  Value after() const;  // the next sibling's place on the tape

  const Document* document_;
  std::uint32_t at_;
};

class Document {
 public:
  static constexpr std::size_t size_max = 256u << 20;   // of the text
  static constexpr std::size_t values_max = 32u << 20;  // of 20 bytes each: 640 MiB
  static constexpr std::size_t scalar_max = 64u << 10;  // bytes of one scalar
  static constexpr std::size_t depth_max = 32;

  // Without a syntax given: JSON if the file's name ends in .json, or has neither ending and the text starts with `{"`, `{}` or `[`;
  // else YAML.
  static Parsed<Document> parse(std::string_view text, std::string file, std::optional<Syntax> syntax = std::nullopt);

  Value root() const { return {this, 0}; }
  const std::string& file() const { return problems_.file(); }
  // What is wrong although it could be read. Whoever reads the document adds to a copy of this, and refuses the file if it is not empty.
  const Diagnostics& problems() const { return problems_; }

 private:
  friend class Value;
  friend class TapeBuilder;
  struct Record {
    std::uint32_t text;  // where its text starts in texts_, for scalars
    std::uint32_t size;  // bytes of a scalar, items of a list, pairs of a map
    std::uint32_t end;   // one past the last record of its subtree
    std::uint32_t line;
    std::uint32_t column : 29;  // a text of at most 2^28 bytes has no larger one
    std::uint32_t kind : 3;
  };
  static_assert(sizeof(Record) == 20);

  // Grows by chunks, since a vector that doubles holds everything twice at its worst moment.
  class Tape {
   public:
    std::size_t size() const { return size_; }
    Record& operator[](std::size_t at) { return chunks_[at / chunk][at % chunk]; }
    const Record& operator[](std::size_t at) const { return chunks_[at / chunk][at % chunk]; }
    void push_back(const Record& record) {
      if (size_ % chunk == 0) chunks_.push_back(std::make_unique_for_overwrite<Record[]>(chunk));
      (*this)[size_++] = record;
    }

   private:
    static constexpr std::size_t chunk = 1u << 16;
    std::vector<std::unique_ptr<Record[]>> chunks_;
    std::size_t size_ = 0;
  };

  explicit Document(std::string file) : problems_(std::move(file)) {}

  Diagnostics problems_;
  Tape tape_;  // in the order of the text: a container, then its subtree
  std::string texts_;
};

inline Value::Kind Value::kind() const { return static_cast<Kind>(document_->tape_[at_].kind); }
inline Value Value::after() const { return {document_, document_->tape_[at_].end}; }
inline std::string_view Value::text() const {
  const auto& record = document_->tape_[at_];
  return is_scalar() ? std::string_view(document_->texts_).substr(record.text, record.size) : std::string_view();
}

class Value::Items {
 public:
  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    explicit iterator(Value at) : at_(at) {}
    Value operator*() const { return at_; }
    iterator& operator++() {
      at_ = at_.after();
      return *this;
    }
    bool operator==(const iterator& other) const { return at_.at_ == other.at_.at_; }

   private:
    Value at_;
  };
  Items(Value begin, Value end) : begin_(begin), end_(end) {}
  iterator begin() const { return begin_; }
  iterator end() const { return end_; }

 private:
  iterator begin_, end_;
};

class Value::Pairs {
 public:
  class iterator {
   public:
    using value_type = std::pair<Value, Value>;
    using difference_type = std::ptrdiff_t;
    explicit iterator(Value at) : at_(at) {}
    std::pair<Value, Value> operator*() const { return {at_, at_.after()}; }
    iterator& operator++() {
      at_ = at_.after().after();
      return *this;
    }
    bool operator==(const iterator& other) const { return at_.at_ == other.at_.at_; }

   private:
    Value at_;
  };
  Pairs(Value begin, Value end) : begin_(begin), end_(end) {}
  iterator begin() const { return begin_; }
  iterator end() const { return end_; }

 private:
  iterator begin_, end_;
};

}  // namespace evenkeel

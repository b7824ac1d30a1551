#include "evenkeel/locks/locks.h"

#include <sys/random.h>

#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/locks/detail/acquisition.h"
#include "evenkeel/locks/detail/inspection.h"

namespace evenkeel::locks {
namespace {

// From the system and not from an Rng: it must differ between hosts and runs that know nothing of each other.
std::string random_owner() {
  std::uint64_t words[2] = {};
  ensure(::getentropy(words, sizeof(words)) == 0, "the system has random bytes");
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

Result<> check(const std::string& path, const AcquireOptions& options) {
  if (auto good = detail::check_path(path); !good) return good;
  if (options.kind == Kind::expiring && options.ttl < detail::ttl_min)
    return fail(Code::invalid, "a lock's ttl is at least {}, and {} was given", format(detail::ttl_min), format(options.ttl));
  if (options.margin < Duration{} || options.margin > options.ttl / 2)
    return fail(Code::invalid, "a lock's margin is between 0 and half of its ttl, and {} was given", format(options.margin));
  if (options.wait < Duration{}) return fail(Code::invalid, "the time to wait is negative: {}", format(options.wait));
  if (options.meta.size() > detail::meta_bytes_max || find_invalid_utf8(options.meta))
    return fail(Code::invalid, "a lock's meta is UTF-8 of at most {} bytes", detail::meta_bytes_max);
  return {};
}

Duration margin_of(const AcquireOptions& options) {
  return options.margin > Duration{} ? options.margin : std::min(options.ttl / 10, Duration(5s));
}

}  // namespace

class Locks::Work {
 public:
  Work(store::Store& store, store::Session* session, std::optional<Rng> names)
      : common_(std::make_shared<detail::Common>(store, session)), names_(names) {}
  ~Work() {
    for (const auto& weak : acquisitions_) {
      if (const auto acquisition = weak.lock()) acquisition->close();
    }
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const std::shared_ptr<detail::Common>& common() const { return common_; }

  void acquire(std::string path, AcquireOptions options, const std::stop_token& stop,
               store::Answer<std::unique_ptr<Held>> answer) {
    auto good = check(path, options);
    if (good && options.kind == Kind::session) good = check_session();
    if (!good) return refuse(std::move(answer), std::move(good).error());
    // Whoever does not wait has no place in a queue.
    const bool fair = options.fair && options.wait > Duration{};
    auto acquisition =
        std::make_shared<detail::Acquisition>(common_, wish(std::move(path), std::move(options)), std::move(answer));
    std::erase_if(acquisitions_, [](const auto& weak) { return weak.expired(); });
    acquisitions_.push_back(acquisition);
    acquisition->start(fair, stop);
  }

  template <class T>
  void refuse(store::Answer<T> answer, Error error) {
    common_->store().loop().post(
        [answer = std::move(answer), error = std::move(error)]() mutable { answer(fail(std::move(error))); });
  }

 private:
  Result<> check_session() const {
    if (common_->session() == nullptr) return fail(Code::invalid, "a session lock needs a session, and there is none");
    if (common_->session_lost())
      return fail(Code::refused, "the session {} is lost, and its locks are with it",
                  quote(common_->session()->identity().str()));
    return {};
  }

  detail::Wish wish(std::string path, AcquireOptions options) {
    const Duration margin = margin_of(options);
    std::string owner = names_ ? fmt::format("{:016x}{:016x}", names_->next(), names_->next()) : random_owner();
    detail::Record record{.owner = std::move(owner), .kind = options.kind, .ttl = options.ttl, .meta = std::move(options.meta)};
    if (options.kind == Kind::session) {
      record.ttl = common_->session_ttl;
      record.beat = common_->session()->key();
      record.identity = common_->session()->identity().str();
    } else {
      record.beat = detail::renewal_key(path);
      record.identity = record.owner;
    }
    return {.path = std::move(path),
            .record = std::move(record),
            .margin = margin,
            .until = later(common_->store().loop().now(), options.wait),
            .queued = {}};
  }

  std::shared_ptr<detail::Common> common_;
  std::optional<Rng> names_;
  std::vector<std::weak_ptr<detail::Acquisition>> acquisitions_;
};

Locks::Locks(store::Store& store, store::Session* session, std::optional<Rng> names)
    : work_(std::make_shared<Work>(store, session, names)) {}
Locks::~Locks() = default;

void Locks::acquire(std::string path, AcquireOptions options, std::stop_token stop, store::Answer<std::unique_ptr<Held>> answer) {
  work_->acquire(std::move(path), std::move(options), stop, std::move(answer));
}

void Locks::show(std::string path, store::Answer<LockState> answer) {
  if (auto good = detail::check_path(path); !good) return work_->refuse(std::move(answer), std::move(good).error());
  detail::show(work_->common(), path, std::move(answer));
}

void Locks::list(std::string prefix, store::Answer<std::vector<LockState>> answer) {
  detail::list(work_->common(), prefix, std::move(answer));
}

void Locks::break_lock(std::string path, store::Answer<LockState> answer) {
  if (auto good = detail::check_path(path); !good) return work_->refuse(std::move(answer), std::move(good).error());
  detail::break_lock(work_->common(), path, std::move(answer));
}

}  // namespace evenkeel::locks

#include <algorithm>

#include "evenkeel/store/backends/etcd/detail/core.h"

namespace evenkeel::store::etcd::detail {
namespace {

// etcd bounds a page by entries only; so the next page's number follows from the size of those seen so far.
constexpr std::size_t page_entries_first = 100;
constexpr std::size_t page_entries_max = 1000;
constexpr std::size_t page_bytes_aim = 4 << 20;
// A list whose revision was compacted between two pages begins again; from the third time on all is one page, which cannot happen to.
constexpr int starts_in_pages_max = 2;

using Page = etcdserverpb::RangeResponse;

struct Pages {
  Core& core;
  std::string prefix;
  Answer<Listing> answer;
  Listing listing;
  std::size_t bytes = 0;
  int starts = 0;
};
using PagesPtr = std::shared_ptr<Pages>;

void start(const PagesPtr& pages);
void ask(const PagesPtr& pages);

std::int64_t page_entries(const Pages& pages) {
  if (pages.starts > starts_in_pages_max) return 0;  // no limit
  if (pages.listing.entries.empty()) return page_entries_first;
  const std::size_t each = std::max<std::size_t>(pages.bytes / pages.listing.entries.size(), 1);
  return static_cast<std::int64_t>(std::clamp<std::size_t>(page_bytes_aim / each, 1, page_entries_max));
}

void take(const PagesPtr& pages, Result<Page> page) {
  if (!page) {
    if (page.error().code == Code::conflict && pages->starts <= starts_in_pages_max) return start(pages);
    return pages->answer(fail(std::move(page).error()));
  }
  Listing& listing = pages->listing;
  if (listing.entries.empty()) listing.revision = Revision(page->header().revision());
  for (mvccpb::KeyValue& kv : *page->mutable_kvs()) {
    pages->bytes += kv.key().size() + kv.value().size();
    listing.entries.push_back(entry_of(kv, pages->core.keys));
  }
  if (page->more() && page->kvs_size() > 0) return ask(pages);
  pages->answer(std::move(listing));
}

// From the key after the last one on, as of the revision of the first page.
void ask(const PagesPtr& pages) {
  const Keys& keys = pages->core.keys;
  etcdserverpb::RangeRequest request;
  request.set_key(keys.full(pages->prefix));
  request.set_range_end(keys.full(end_of(pages->prefix)));
  request.set_limit(page_entries(*pages));
  if (!pages->listing.entries.empty()) {
    request.set_key(keys.full(pages->listing.entries.back().key) + '\0');
    request.set_revision(pages->listing.revision.value());
  }
  pages->core.caller.call<Page>(methods::range, std::move(request), pages->core.deadline(),
                                [pages](Result<Page> page) { take(pages, std::move(page)); });
}

void start(const PagesPtr& pages) {
  ++pages->starts;
  pages->listing = {};
  pages->bytes = 0;
  ask(pages);
}

}  // namespace

void list_all(Core& core, std::string prefix, Answer<Listing> answer) {
  start(PagesPtr(new Pages{core, std::move(prefix), std::move(answer)}));
}

}  // namespace evenkeel::store::etcd::detail

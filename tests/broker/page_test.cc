#include "evenkeel/broker/page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/metrics.h"
#include "evenkeel/broker/scheduler.h"
#include "tests/story/story.h"

namespace evenkeel::broker {
namespace {

using testing::HasSubstr;
using testing::Not;

// One queue beside the default one, a disk, and some life: one task runs over its time, two wait, one was finished, one was of a
// type that nobody knows.
Status lively() {
  Config config{.queues = {{.name = "queue_default", .weight = 30, .limit = {{"cpu", 2}}},
                           {.name = "queue_<b>", .weight = 100, .limit = {{"memory", 1024}}}},
                .types = {{.name = "unknown", .queue = "queue_default", .default_duration = Micros(60'000'000)},
                          {.name = "compaction", .queue = "queue_<b>", .default_duration = Micros(10'000'000)}},
                .limit = {{"cpu", 4}, {"memory", 4096}, {"disk", 7}}};
  auto scheduler = Scheduler::make(config, {}, Micros(0));
  const ClientId one = scheduler->connect();
  const ClientId two = scheduler->connect();
  const std::vector<std::uint64_t> need{1, 1000, 0};
  std::ignore = scheduler->submit(one, {.task = TaskId(1), .name = "first", .type = "compaction", .need = need}, Micros(0));
  std::ignore = scheduler->submit(
      two, {.task = TaskId(2), .name = "<script>alert('x')</script>", .type = "a&b", .need = need, .cookie = "\x01\"\xff</pre>"},
      Micros(500));
  std::ignore = scheduler->finish(one, TaskId(1), Cancelled::no, Micros(1'500'000));
  std::ignore = scheduler->submit(one, {.task = TaskId(3), .name = "big", .type = "compaction", .need = need}, Micros(1'500'000));
  for (std::uint64_t id = 4; id < 7; ++id)
    std::ignore =
        scheduler->submit(one, {.task = TaskId(id), .name = "more", .type = "compaction", .need = need}, Micros(2'000'000));
  return scheduler->observe(Micros(90'123'456), 1, 1);
}

TEST(Metrics, TellTheirStory) {
  story::run_folder("broker/metrics", [] {
    return [](const story::Block& block) { return block.command == "metrics" ? format_metrics(lively()) : "no such command"; };
  });
}

TEST(Page, EscapesEverything) {
  const std::string html = format_page(lively(), {{ClientId(0), "one"}, {ClientId(1), "<b>two</b>"}});
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("<td>&lt;b&gt;two&lt;/b&gt;</td>"));
  EXPECT_THAT(html, HasSubstr("a&amp;b"));
  EXPECT_THAT(html, HasSubstr("\\u0001&quot;\\xff&lt;/pre&gt;"));
  EXPECT_FALSE(find_invalid_utf8(html));
  // The config's own text too.
  EXPECT_THAT(html, HasSubstr("&quot;queue_&lt;b&gt;&quot;"));
}

TEST(Page, ShowsWhatRunsAndWhatWaits) {
  const std::string html = format_page(lively(), {{ClientId(0), "one"}});
  EXPECT_THAT(html, HasSubstr("Up for 1m30s123ms. 2 tasks run, 3 wait, 1 finished."));
  EXPECT_THAT(html, HasSubstr("Tasks of types that the config does not know: 1."));
  EXPECT_THAT(html, HasSubstr("<td>client 1</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"late\">overrun by 30s122ms</td>"));
  EXPECT_THAT(html, HasSubstr("<caption>Waiting in queue_&lt;b&gt;</caption>"));
  EXPECT_THAT(html, HasSubstr("<p>and 2 more</p>"));
  EXPECT_THAT(html, HasSubstr("<p>and 1 more</p>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">1000 of 1024</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">0 of ∞</td>"));
  EXPECT_THAT(html, HasSubstr("<h2>Current config</h2>\n<pre>"));
}

}  // namespace
}  // namespace evenkeel::broker

// Keys and values: what is written is read, by everybody, and what cannot be is refused.

#include <fmt/format.h>

#include "tests/store/backends/conformance.h"

namespace evenkeel::test {
namespace {

using store::key_bytes_max;
using store::value_bytes_max;

void nothing_is_there_at_first(Bed& bed) {
  const auto read = bed.client().get(bed.key("/a"));
  ASSERT_TRUE(good(read));
  EXPECT_EQ(read->entry, std::nullopt);
  const auto listing = bed.client().list(bed.prefix());
  ASSERT_TRUE(good(listing));
  EXPECT_TRUE(listing->entries.empty());
}

void a_put_is_read(Bed& bed) {
  const auto done = bed.client().put(bed.key("/a"), "1");
  ASSERT_TRUE(good(done));
  EXPECT_TRUE(done->succeeded);
  EXPECT_GT(done->revision, Revision());
  const auto read = bed.client().get(bed.key("/a"));
  ASSERT_TRUE(good(read));
  const Entry expected{.key = bed.key("/a"), .value = "1", .created = done->revision, .modified = done->revision};
  EXPECT_EQ(read->entry, expected);
  const auto listing = bed.client().list(bed.prefix());
  ASSERT_TRUE(good(listing));
  EXPECT_EQ(listing->entries, std::vector{expected});
}

void revisions_grow(Bed& bed) {
  const auto other = bed.connect();
  Revision last;
  for (int i = 0; i < 30; ++i) {
    Client& client = i % 2 == 0 ? bed.client() : *other;
    const auto done =
        i % 5 == 4 ? client.erase(bed.key(fmt::format("/{}", (i - 1) % 3))) : client.put(bed.key(fmt::format("/{}", i % 3)), "x");
    ASSERT_TRUE(good(done));
    EXPECT_GT(done->revision, last) << i;
    last = done->revision;
  }
}

void created_stays_and_modified_moves(Bed& bed) {
  const auto first = bed.client().put(bed.key("/a"), "1");
  const auto second = bed.client().put(bed.key("/a"), "1");  // the same value is a write as well
  ASSERT_TRUE(good(first));
  ASSERT_TRUE(good(second));
  EXPECT_GT(second->revision, first->revision);
  const auto entry = bed.client().get(bed.key("/a")).value().entry.value();
  EXPECT_EQ(entry.created, first->revision);
  EXPECT_EQ(entry.modified, second->revision);
}

void a_key_made_anew_is_a_new_one(Bed& bed) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "old")));
    const auto erased = bed.client().erase(bed.key("/a"));
    ASSERT_TRUE(good(erased));
    EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry, std::nullopt);
    EXPECT_TRUE(contents(bed.client(), bed.prefix()).empty());
    const auto again = bed.client().put(bed.key("/a"), "new");
    ASSERT_TRUE(good(again));
    EXPECT_GT(again->revision, erased->revision);
    const auto entry = bed.client().get(bed.key("/a")).value().entry.value();
    EXPECT_EQ(entry.value, "new");
    EXPECT_EQ(entry.created, again->revision);
    EXPECT_EQ(entry.modified, again->revision);
    const auto updated = bed.client().put(bed.key("/a"), "newer");
    ASSERT_TRUE(good(updated));
    EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry->created, again->revision);
    ASSERT_TRUE(good(bed.client().erase(bed.key("/a"))));
  }
}

void erasing_nothing_is_fine(Bed& bed) {
  const auto never = bed.client().erase(bed.key("/a"));
  ASSERT_TRUE(good(never));
  EXPECT_TRUE(never->succeeded);
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/a"))));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/a"))));
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry, std::nullopt);
}

void a_key_and_what_is_below_it(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a/b/c"), "deep")));
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry, std::nullopt);
  EXPECT_EQ(bed.client().get(bed.key("/a/b")).value().entry, std::nullopt);
  EXPECT_EQ(contents(bed.client(), bed.prefix()).size(), 1U);  // what leads to a key is not one
  const auto upper = bed.client().put(bed.key("/a"), "upper");
  ASSERT_TRUE(good(upper));
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry->created, upper->revision);
  ASSERT_TRUE(good(bed.client().erase(bed.key("/a"))));
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry, std::nullopt);
  EXPECT_EQ(bed.client().get(bed.key("/a/b/c")).value().entry->value, "deep");
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "again")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/a/b/c"))));
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry->value, "again");
  EXPECT_EQ(contents(bed.client(), bed.prefix()).size(), 1U);
}

void a_list_is_of_its_prefix_alone(Bed& bed) {
  const std::vector<std::string> keys{bed.key("/p"),   bed.key("/p!"), bed.key("/p/a"), bed.key("/p/a/b"),
                                      bed.key("/p/b"), bed.key("/p0"), bed.key("/pp/a")};
  for (const std::string& key : keys) ASSERT_TRUE(good(bed.client().put(key, key)));
  const auto below = bed.client().list(bed.key("/p/"));
  ASSERT_TRUE(good(below));
  std::vector<std::string> found;
  for (const Entry& entry : below->entries) found.push_back(entry.key);
  EXPECT_EQ(found, (std::vector{bed.key("/p/a"), bed.key("/p/a/b"), bed.key("/p/b")}));
  EXPECT_EQ(contents(bed.client(), bed.prefix()).size(), keys.size());
  const auto all = contents(bed.client(), "/");
  for (const std::string& key : keys) EXPECT_TRUE(all.contains(key)) << key;
  EXPECT_TRUE(contents(bed.client(), bed.key("/p/a/b/c/")).empty());
}

void values_of_any_bytes(Bed& bed) {
  std::string every;
  for (int i = 0; i < 256; ++i) every.push_back(static_cast<char>(i));
  const std::vector<std::string> values{
      "", std::string(1, '\0'), every, std::string("\0evenkeel", 9), std::string("\0evenkeel\0tombstone", 19), "\n", "{}"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string key = bed.key(fmt::format("/{}", i));
    ASSERT_TRUE(good(bed.client().put(key, values[i])));
    EXPECT_EQ(bed.client().get(key).value().entry.value().value, values[i]) << i;
    ASSERT_TRUE(good(bed.client().erase(key)));
    ASSERT_TRUE(good(bed.client().put(key, values[i])));  // born again
    EXPECT_EQ(bed.client().get(key).value().entry.value().value, values[i]) << i;
  }
  const auto all = contents(bed.client(), bed.prefix());
  ASSERT_EQ(all.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(all.at(bed.key(fmt::format("/{}", i))).value, values[i]) << i;
}

void keys_of_any_script(Bed& bed) {
  const std::vector<std::string> parts{"ключ",      "鍵",      "مفتاح",  "😀",     "a b",    "a\"b'c\\d", "%2F%00", "~",
                                       "...",       "a..b",    "\u0085", "\u00a0", "\ue000", "\ufff0",    "\uffff", "\U0010ffff",
                                       "zookeeper", "e\u0301", "é",      "#",      "*?[",    "-",         "=;,:@"};
  std::map<std::string, std::string> expected;
  for (const std::string& part : parts) {
    const std::string key = bed.key("/" + part + "/" + part);
    EXPECT_TRUE(good(bed.client().put(key, part))) << key;
    expected[key] = part;
  }
  expected[bed.key("/" + parts[0])] = "upper";
  EXPECT_TRUE(good(bed.client().put(bed.key("/" + parts[0]), "upper")));
  for (const auto& [key, value] : expected) {
    const auto read = bed.client().get(key);
    ASSERT_TRUE(good(read)) << key;
    ASSERT_TRUE(read->entry) << key;
    EXPECT_EQ(read->entry->value, value);
    EXPECT_EQ(read->entry->key, key);
  }
  std::map<std::string, std::string> found;
  for (const auto& [key, entry] : contents(bed.client(), bed.prefix())) found[key] = entry.value;
  EXPECT_EQ(found, expected);
}

void the_largest_that_is_allowed(Bed& bed) {
  const std::string value(value_bytes_max, 'v');
  const std::string prefix = bed.key("/long/");
  const std::string key = prefix + std::string(key_bytes_max - prefix.size(), 'k');
  ASSERT_TRUE(good(bed.client().put(key, value)));
  EXPECT_EQ(bed.client().get(key).value().entry.value().value, value);
  std::string deep = bed.key("");
  while (deep.size() + 2 <= key_bytes_max) deep += "/d";
  ASSERT_TRUE(good(bed.client().put(deep, "deep")));
  EXPECT_EQ(bed.client().get(deep).value().entry.value().value, "deep");
  // Several such values, to be listed together.
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(good(bed.client().put(bed.key(fmt::format("/many/{:02}", i)), value)));
  const auto all = contents(bed.client(), bed.key("/many/"));
  ASSERT_EQ(all.size(), 12U);
  for (const auto& [name, entry] : all) EXPECT_EQ(entry.value.size(), value.size()) << name;
  Txn both;
  both.put(bed.key("/x"), std::string(499'000, 'x')).put(bed.key("/y"), std::string(499'000, 'y'));
  ASSERT_TRUE(good(bed.client().txn(both)));
  EXPECT_EQ(bed.client().get(bed.key("/y")).value().entry.value().value.size(), 499'000U);
}

void too_large_is_refused(Bed& bed) {
  EXPECT_TRUE(failed(bed.client().put(bed.key("/a"), std::string(value_bytes_max + 1, 'v')), Code::too_large));
  EXPECT_TRUE(failed(bed.client().put("/" + std::string(key_bytes_max, 'k'), "v"), Code::too_large));
  EXPECT_TRUE(failed(bed.client().get("/" + std::string(key_bytes_max, 'k')), Code::too_large));
  Txn bytes;
  for (int i = 0; i < 3; ++i) bytes.put(bed.key(fmt::format("/{}", i)), std::string(400'000, 'v'));
  EXPECT_TRUE(failed(bed.client().txn(bytes), Code::too_large));
  Txn many;
  for (std::size_t i = 0; i <= store::operations_max; ++i) many.put(bed.key(fmt::format("/{}", i)), "v");
  EXPECT_TRUE(failed(bed.client().txn(many), Code::too_large));
  EXPECT_TRUE(contents(bed.client(), bed.prefix()).empty());
}

void wrong_keys_are_refused(Bed& bed) {
  for (const std::string key : {"", "a", "/", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a\nb", "/a\x7f", "/\xff", "/a\xc3",
                                "/\xed\xa0\x80", "/zookeeper", "/zookeeper/quota"}) {
    EXPECT_TRUE(failed(bed.client().get(key), Code::invalid)) << key;
    EXPECT_TRUE(failed(bed.client().put(key, "v"), Code::invalid)) << key;
    Txn compared;
    compared.compare(store::absent(key)).put(bed.key("/a"), "v");
    EXPECT_TRUE(failed(bed.client().txn(compared), Code::invalid)) << key;
  }
  for (const std::string prefix : {"", "a/", "/a", "//", "/a//", "/\xff/"}) {
    EXPECT_TRUE(failed(bed.client().list(prefix), Code::invalid)) << prefix;
    Txn below;
    below.erase_below(prefix);
    EXPECT_TRUE(failed(bed.client().txn(below), Code::invalid)) << prefix;
  }
  EXPECT_TRUE(contents(bed.client(), bed.prefix()).empty());
}

void thousands_of_keys(Bed& bed) {
  constexpr int count = 3000;
  std::map<std::string, std::string> expected;
  Txn batch;
  for (int i = 0; i < count; ++i) {
    const std::string key = bed.key(fmt::format("/{}/{}", i % 7, i));
    expected[key] = fmt::format("value {}", i);
    batch.put(key, expected[key]);
    if (batch.then.size() == store::operations_max || i + 1 == count) {
      ASSERT_TRUE(good(bed.client().txn(std::exchange(batch, {}))));
    }
  }
  std::map<std::string, std::string> found;
  for (const auto& [key, entry] : contents(bed.client(), bed.prefix())) found[key] = entry.value;
  EXPECT_EQ(found, expected);
  Txn all;
  all.erase_below(bed.prefix());
  ASSERT_TRUE(good(bed.client().txn(all)));
  EXPECT_TRUE(contents(bed.client(), bed.prefix()).empty());
}

void others_read_what_one_wrote(Bed& bed) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(bed.connect());
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string value = fmt::format("{}", i);
    const auto done = clients[i % 4]->put(bed.key("/a"), value);
    ASSERT_TRUE(good(done));
    const auto read = clients[(i + 1 + i / 4 % 3) % 4]->get(bed.key("/a"));
    ASSERT_TRUE(good(read));
    ASSERT_TRUE(read->entry);
    EXPECT_EQ(read->entry->value, value);
    EXPECT_EQ(read->entry->modified, done->revision);
  }
}

void clients_see_what_they_did_in_lists(Bed& bed) {
  const auto other = bed.connect();
  for (int i = 0; i < 20; ++i) {
    const std::string key = bed.key(fmt::format("/{}", i));
    ASSERT_TRUE(good(bed.client().put(key, "1")));
    EXPECT_TRUE(contents(bed.client(), bed.prefix()).contains(key));
    ASSERT_TRUE(other->get(key).value().entry);
    EXPECT_TRUE(contents(*other, bed.prefix()).contains(key));
    ASSERT_TRUE(good(bed.client().erase(key)));
    EXPECT_FALSE(contents(bed.client(), bed.prefix()).contains(key));
    ASSERT_FALSE(other->get(key).value().entry);
    EXPECT_FALSE(contents(*other, bed.prefix()).contains(key));
  }
}

void paths_of_urls_keep_apart(Bed& bed) {
  if (!bed.deployment().has_paths()) {  // there is no path then, and keys are as they are
    ASSERT_TRUE(good(bed.connect(unhurried, "/ignored")->put(bed.key("/a"), "1")));
    EXPECT_TRUE(contents(bed.client(), "/").contains(bed.key("/a")));
    return;
  }
  const auto one = bed.connect(unhurried, bed.key("/one"));
  const auto two = bed.connect(unhurried, bed.key("/on"));
  ASSERT_TRUE(good(one->put("/a", "of one")));
  ASSERT_TRUE(good(two->put("/a", "of two")));
  ASSERT_TRUE(good(two->put("/b/c", "of two")));
  EXPECT_EQ(one->get("/a").value().entry.value().value, "of one");
  EXPECT_EQ(one->get("/a").value().entry.value().key, "/a");
  EXPECT_EQ(contents(*one, "/").size(), 1U);
  EXPECT_EQ(contents(*two, "/").size(), 2U);
  EXPECT_EQ(contents(*two, "/b/").begin()->first, "/b/c");
  EXPECT_EQ(bed.client().get(bed.key("/one/a")).value().entry.value().value, "of one");
  Watcher watcher(*two, "/");
  watcher.wait_for("/b/c", "of two");
  Txn all;
  all.erase_below("/");
  ASSERT_TRUE(good(two->txn(all)));
  watcher.wait_for("/b/c", std::nullopt);
  EXPECT_TRUE(contents(*two, "/").empty());
  EXPECT_EQ(contents(*one, "/").size(), 1U);
}

void status_says_what_it_is(Bed& bed) {
  const auto done = bed.client().put(bed.key("/a"), "1");
  ASSERT_TRUE(good(done));
  const auto status = bed.client().call<store::Status>(
      [](store::Store& store, store::Answer<store::Status> answer) { store.status(std::move(answer)); });
  ASSERT_TRUE(good(status));
  EXPECT_EQ(status->backend, bed.backend().kind);
  EXPECT_EQ(status->version.empty(), status->backend == "memory");  // which has no server
  EXPECT_GE(status->revision, done->revision);
}

void what_was_written_outlives_a_restart(Bed& bed) {
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "1")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/b"), "gone")));
  ASSERT_TRUE(good(bed.client().put(bed.key("/a"), "2")));
  ASSERT_TRUE(good(bed.client().erase(bed.key("/b"))));
  const auto before = contents(bed.client(), bed.prefix());
  const Revision last = bed.client().put(bed.key("/c"), "3").value().revision;
  bed.close();
  bed.deployment().restart();
  EXPECT_EQ(bed.client().get(bed.key("/a")).value().entry, before.at(bed.key("/a")));
  EXPECT_EQ(bed.client().get(bed.key("/b")).value().entry, std::nullopt);
  EXPECT_EQ(bed.client().get(bed.key("/c")).value().entry.value().modified, last);
  const auto next = bed.client().put(bed.key("/a"), "4");
  ASSERT_TRUE(good(next));
  EXPECT_GT(next->revision, last);
}

constexpr Case keys_table[] = {
    {"NothingIsThereAtFirst", nothing_is_there_at_first},
    {"APutIsRead", a_put_is_read},
    {"RevisionsGrow", revisions_grow},
    {"CreatedStaysAndModifiedMoves", created_stays_and_modified_moves},
    {"AKeyMadeAnewIsANewOne", a_key_made_anew_is_a_new_one},
    {"ErasingNothingIsFine", erasing_nothing_is_fine},
    {"AKeyAndWhatIsBelowIt", a_key_and_what_is_below_it},
    {"AListIsOfItsPrefixAlone", a_list_is_of_its_prefix_alone},
    {"ValuesOfAnyBytes", values_of_any_bytes},
    {"KeysOfAnyScript", keys_of_any_script},
    {"TheLargestThatIsAllowed", the_largest_that_is_allowed},
    {"TooLargeIsRefused", too_large_is_refused},
    {"WrongKeysAreRefused", wrong_keys_are_refused},
    {"ThousandsOfKeys", thousands_of_keys},
    {"OthersReadWhatOneWrote", others_read_what_one_wrote},
    {"ClientsSeeWhatTheyDidInLists", clients_see_what_they_did_in_lists},
    {"PathsOfUrlsKeepApart", paths_of_urls_keep_apart},
    {"StatusSaysWhatItIs", status_says_what_it_is},
    {"WhatWasWrittenOutlivesARestart", what_was_written_outlives_a_restart},
};

}  // namespace

std::span<const Case> key_cases() { return keys_table; }

}  // namespace evenkeel::test

#include "evenkeel/route/shell/map_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "evenkeel/base/file.h"

namespace evenkeel::route {
namespace {

Table table_of(const std::string& leader) {
  const ShardView shard{.shard = ShardIndex(0), .version = {Epoch(1), Change(0)}, .leader = NodeId(leader)};
  return Table()
      .with(ViewBucket{.workload = WorkloadId("t1"), .bucket = Bucket(0), .shards_in_all = 1, .shards = {shard}})
      .with(LiveDocument{.node = NodeId(leader), .address = "10.0.0.1:9090", .zone = "a"});
}

class MapFileTest : public testing::Test {
 protected:
  MapFileTest() {
    std::string made = (std::filesystem::temp_directory_path() / "evenkeel-map-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    path_ = (folder_ / "shard_map.json").string();
  }
  ~MapFileTest() override { std::filesystem::remove_all(folder_); }

  std::string text() const { return read_file(path_, Bytes(1 << 20)).value_or("none"); }
  // Which file it is: a rename puts another one in its place.
  ino_t file() const {
    struct stat status = {};
    return ::stat(path_.c_str(), &status) == 0 ? status.st_ino : 0;
  }
  std::size_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(MapFileTest, IsWrittenOnlyWhenItChanged) {
  MapFile map(path_, MapFormat::rocksplicator);
  EXPECT_EQ(map.update(table_of("n1")), true);
  EXPECT_EQ(text(), format_map(table_of("n1"), MapFormat::rocksplicator));
  const ino_t first = file();
  EXPECT_EQ(map.update(table_of("n1")), false);
  // Another table, the same map: it names addresses, not nodes.
  EXPECT_EQ(map.update(table_of("n2")), false);
  EXPECT_EQ(file(), first);
  EXPECT_EQ(map.update(Table()), true);
  EXPECT_EQ(text(), "{}\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(MapFileTest, IsLeftAloneIfARunBeforeWroteTheSame) {
  ASSERT_EQ(MapFile(path_, MapFormat::json).update(table_of("n1")), true);
  const ino_t first = file();
  MapFile again(path_, MapFormat::json);
  EXPECT_EQ(again.update(table_of("n1")), false);
  EXPECT_EQ(file(), first);
  EXPECT_EQ(again.update(table_of("n2")), true);
  EXPECT_NE(text(), format_map(table_of("n1"), MapFormat::json));
}

// A reader that opened the file before goes on reading the old one, whole: it was replaced, not written over.
TEST_F(MapFileTest, IsReplacedWhole) {
  MapFile map(path_, MapFormat::json);
  ASSERT_EQ(map.update(table_of("n1")), true);
  std::ifstream reader(path_);
  ASSERT_EQ(map.update(table_of("n2")), true);
  const std::string read((std::istreambuf_iterator<char>(reader)), std::istreambuf_iterator<char>());
  EXPECT_EQ(read, format_map(table_of("n1"), MapFormat::json));
  EXPECT_EQ(text(), format_map(table_of("n2"), MapFormat::json));
}

// Tests may run as root, whom permissions do not stop: a folder that is in the way of the file's own, or gone, stops everybody.
TEST_F(MapFileTest, KeepsTheOldOneIfItCannotBeWritten) {
  const auto inner = folder_ / "inner";
  std::filesystem::create_directory(inner);
  path_ = (inner / "shard_map.json").string();
  MapFile map(path_, MapFormat::json);
  ASSERT_EQ(map.update(table_of("n1")), true);
  std::filesystem::rename(inner, folder_ / "away");
  const auto failed = map.update(table_of("n2"));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::not_found) << failed.error().message;
  std::filesystem::rename(folder_ / "away", inner);
  EXPECT_EQ(text(), format_map(table_of("n1"), MapFormat::json));
  EXPECT_EQ(map.update(table_of("n2")), true);
  EXPECT_EQ(text(), format_map(table_of("n2"), MapFormat::json));
}

TEST_F(MapFileTest, SaysThatAFolderIsInItsPlace) {
  std::filesystem::create_directory(path_);
  const auto failed = MapFile(path_, MapFormat::json).update(table_of("n1"));
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(std::filesystem::is_directory(path_));
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace evenkeel::route

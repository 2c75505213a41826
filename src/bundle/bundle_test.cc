#include "bundle/bundle.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir_for_test.h"
#include "base/timestamp.h"

namespace trivet {
namespace {

Manifest sample_manifest() {
  Manifest manifest;
  manifest.trivet_version = "1.2.3";
  manifest.created = utc_timestamp();
  manifest.name = "net";
  manifest.source_file = "net \"α\".onnx";
  manifest.source_sha256 = std::string(64, 'a');
  manifest.labels_file = "labels.txt";
  manifest.inputs = {{"x", "float32", "batchx3"}};
  manifest.outputs = {{"y", "float32", "batchx2"}};
  manifest.preprocessing = {{"resize", 256}, {"mean", {1.5, 2.5, 3.5}}};
  manifest.provider = "cpu";
  manifest.threads = 2;
  manifest.isa = "avx2";
  manifest.cpu = "A CPU";
  return manifest;
}

Result<void> write_sample(const std::string& path, bool overwrite, std::string_view model) {
  TRIVET_ASSIGN(BundleWriter writer, BundleWriter::create(path, overwrite));
  TRIVET_TRY(writer.add_text("model.onnx", model));
  TRIVET_TRY(writer.add_text("labels.txt", "cat\ndog\n"));
  return writer.commit(sample_manifest());
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(Bundle, RoundTrip) {
  const TempDirForTest dir;
  const std::string path = dir.file("net.trivet");
  ASSERT_TRUE(write_sample(path + "/", false, "weights"));
  const auto bundle = open_bundle(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  const Manifest& manifest = bundle->manifest;
  EXPECT_EQ(manifest.source_file, "net \"α\".onnx");
  EXPECT_EQ(manifest.inputs.at(0).shape, "batchx3");
  EXPECT_EQ(manifest.preprocessing["mean"][1], 2.5);
  EXPECT_EQ(manifest.threads, 2);
  ASSERT_EQ(manifest.files.size(), 2u);
  EXPECT_EQ(manifest.files[1].bytes, 7u);
  EXPECT_EQ(bundle->model_path(), path + "/model.onnx");
  EXPECT_EQ(entries(dir.path()), 1u) << "something was left beside the bundle";
}

TEST(Bundle, ATamperedFileIsFound) {
  const TempDirForTest dir;
  const std::string path = dir.file("net.trivet");
  ASSERT_TRUE(write_sample(path, false, "weights"));
  dir.write("net.trivet/model.onnx", "Weights");
  ASSERT_FALSE(open_bundle(path));
  EXPECT_NE(open_bundle(path).error().message.find("SHA-256"), std::string::npos);
  dir.write("net.trivet/model.onnx", "longer weights");
  EXPECT_NE(open_bundle(path).error().message.find("has 14 bytes"), std::string::npos);
  std::filesystem::remove(path + "/model.onnx");
  EXPECT_FALSE(open_bundle(path));
  EXPECT_TRUE(read_manifest(path));
}

TEST(Bundle, AnExistingOneIsKeptUnlessForced) {
  const TempDirForTest dir;
  const std::string path = dir.file("net.trivet");
  ASSERT_TRUE(write_sample(path, false, "one"));
  EXPECT_FALSE(write_sample(path, false, "two"));
  EXPECT_EQ(open_bundle(path)->manifest.files[1].bytes, 3u);
  ASSERT_TRUE(write_sample(path, true, "three"));
  EXPECT_EQ(open_bundle(path)->manifest.files[1].bytes, 5u);
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(Bundle, ForceNeverReplacesWhatIsNoBundle) {
  const TempDirForTest dir;
  dir.write("photos/a.jpg", "picture");
  EXPECT_FALSE(write_sample(dir.file("photos"), true, "x"));
  dir.write("file", "text");
  EXPECT_FALSE(write_sample(dir.file("file"), true, "x"));
  EXPECT_TRUE(std::filesystem::exists(dir.file("photos/a.jpg")));
}

TEST(Bundle, AnAbandonedOneLeavesNothing) {
  const TempDirForTest dir;
  {
    auto writer = BundleWriter::create(dir.file("net.trivet"), false);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add_text("model.onnx", "x"));
  }
  EXPECT_EQ(entries(dir.path()), 0u);
}

TEST(Bundle, FoldersOnTheWayAreMade) {
  const TempDirForTest dir;
  EXPECT_TRUE(write_sample(dir.file("a/b/net.trivet"), false, "x"));
  EXPECT_TRUE(is_bundle(dir.file("a/b/net.trivet")));
  EXPECT_FALSE(is_bundle(dir.file("a/b")));
}

TEST(Manifest, RefusesDamage) {
  const std::string good = [] {
    Manifest manifest = sample_manifest();
    manifest.files = {{"model.onnx", "00", 1}, {"labels.txt", "00", 1}};
    return manifest_to_text(manifest);
  }();
  ASSERT_TRUE(parse_manifest(good)) << parse_manifest(good).error().message;
  const auto damaged = [&](std::string from, std::string to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_manifest(text);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_NE(damaged("\"format\": 1", "\"format\": 2").find("format 2"), std::string::npos);
  EXPECT_NE(damaged("\"format\": 1", "\"format\": \"1\""), "");
  EXPECT_NE(damaged("\"name\": \"model.onnx\"", "\"name\": \"../model.onnx\""), "");
  EXPECT_NE(damaged("\"model\": \"model.onnx\"", "\"model\": \"other.onnx\""), "");
  EXPECT_NE(damaged("\"bytes\": 1", "\"bytes\": -1"), "");
  EXPECT_NE(damaged("\"threads\"", "\"treads\""), "");
  EXPECT_FALSE(parse_manifest(""));
  EXPECT_FALSE(parse_manifest("[]"));
  EXPECT_FALSE(parse_manifest(good.substr(0, good.size() / 2)));
}

}  // namespace
}  // namespace trivet

// Removes an unfinished folder when the program is told to stop.
#pragma once

#include <string>

namespace trivet::cli {

/// While one lives, SIGINT, SIGTERM and SIGHUP remove `folder` before they end the program as they
/// would without it; those that were ignored stay so. There is at most one at a time.
class StagingGuard {
 public:
  explicit StagingGuard(std::string folder);
  StagingGuard(const StagingGuard&) = delete;
  StagingGuard& operator=(const StagingGuard&) = delete;
  ~StagingGuard();
};

}  // namespace trivet::cli

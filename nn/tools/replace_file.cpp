#include "nn/tools/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// All of the bytes; 0 or the error number. A signal may interrupt a write, and a disk may take a part only.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;  // some systems refuse 2 GB
    const auto written = ::write(file, bytes.data(), std::min(bytes.size(), most_at_once));
    if (written < 0 && errno != EINTR) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<decltype(written)>(written, 0)));
  }
  return 0;
}

}  // namespace

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes, Where where) {
  // The process number keeps two programs that write the same file out of each other's way.
  const std::string part = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  ::unlink(part.c_str());
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : write_all(file, bytes);
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (file >= 0) ::unlink(part.c_str());
  fail<FileError>(where, "cannot write {}: {}", path.string(), std::generic_category().message(error));
}

}  // namespace segue

#include "nn/tools/replace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// All of the bytes; 0 or the error number. A signal may interrupt a write, and a disk may take a
// part only.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;  // some systems refuse 2 GB
    const auto written = ::write(file, bytes.data(), std::min(bytes.size(), most_at_once));
    if (written < 0 && errno != EINTR) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<decltype(written)>(written, 0)));
  }
  return 0;
}

// Opens `part`, empty, for this writer alone, or returns -1 and sets errno. Whoever else wants it
// waits; what a killed program left there is taken over, since its lock has ended with it.
int open_alone(const std::string& part) {
  while (true) {
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0 && errno == ELOOP && ::unlink(part.c_str()) == 0)
      continue;  // a link would lead elsewhere
    if (file < 0) return -1;
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat opened = {}, named = {};
    const bool same = ::fstat(file, &opened) == 0 && ::stat(part.c_str(), &named) == 0 &&
                      opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
    if (same && ::ftruncate(file, 0) == 0) return file;
    const int error = errno;
    ::close(file);
    if (same) return errno = error, -1;
    // What was opened has meanwhile been given its final name by another writer.
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, Where where) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    fail<FileError>(where, "cannot read the file {}", path.string());
  constexpr std::size_t most = std::size_t{1} << 28;  // a device may never end
  std::string bytes;
  std::vector<char> block(std::size_t{1} << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > most)
      fail<FileError>(where, "{} has more than {} bytes", path.string(), most);
  }
  if (file.bad()) fail<FileError>(where, "reading {} failed", path.string());
  return bytes;
}

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  Where where) {
  const std::string part = path.string() + ".tmp";
  const int file = open_alone(part);
  int error = file < 0 ? errno : write_all(file, bytes);
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0 && file >= 0) ::unlink(part.c_str());
  if (file >= 0) ::close(file);  // and with it the lock, now that the name is free
  if (error == 0) return;
  fail<FileError>(where, "cannot write {}: {}", path.string(),
                  std::generic_category().message(error));
}

}  // namespace segue

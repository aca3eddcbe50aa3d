#include "examples/support/resident.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace segue {

Index peak_resident_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<Index>(usage.ru_maxrss);
#else
  return static_cast<Index>(usage.ru_maxrss) * 1024;
#endif
}

Index resident_bytes() {
  std::ifstream file("/proc/self/statm");
  Index total_pages = 0, resident_pages = 0;
  if (file >> total_pages >> resident_pages) return resident_pages * static_cast<Index>(sysconf(_SC_PAGESIZE));
  return peak_resident_bytes();
}

}  // namespace segue

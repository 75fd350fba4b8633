/*
 * Makes fsync and fdatasync fail with EIO while a file is there, as a dying disk does: loaded before
 * the C library (LD_PRELOAD) by tests of what the service does then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(void) {
  const char *flag = getenv("FAIL_FSYNC_WHILE");
  return flag != NULL && access(flag, F_OK) == 0;
}

static int sync_with(const char *name, int file) {
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (!failing()) return sync(file);
  errno = EIO;
  return -1;
}

int fsync(int file) { return sync_with("fsync", file); }
int fdatasync(int file) { return sync_with("fdatasync", file); }

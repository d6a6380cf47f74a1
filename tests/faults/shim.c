/* Let chosen calls of the system fail, or only count them. Loaded before the C library (LD_PRELOAD).
 *
 * The file that the variable LTR_FAULTS names is the plan below, shared by all processes of a run: what is to fail, and
 * what was counted. Another process may change it at any time, also for processes that work already. Only processes
 * whose program is a job, or the server whose forks are jobs, count; and of files only those in the plan's folder that
 * are neither the project's own nor records of Snakemake. Memory counts from the moment that a process has opened such a file, and
 * from a size on, so that imports do not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* As OPERATIONS in __init__.py has them. */
enum operation { WRITE, LOG, READ, OPEN, RENAME, SYNC, TRUNCATE, CLOSE, CLOSE_LOG, UNLINK, CHMOD, FOLDER, FORK, MAP, ALLOCATE, KINDS };

struct plan {
    int64_t operation, first, times, error; /* the error -1 stands for half of what is to be written */
    int64_t everywhere, fired, counts[KINDS];
    char folder[512], hit[512];
};

#define LARGE_MAP (256 << 10)
#define LARGE_BLOCK (64 << 10)
#define REAL(name) ((__typeof__(&name))real(#name))

static struct plan *plan;
static int is_job, has_opened;

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("LTR_FAULTS");
    int handle = file ? REAL(open)(file, O_RDWR | O_CLOEXEC) : -1;
    char words[4096];
    if (handle < 0)
        return;
    void *shared = REAL(mmap)(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    REAL(close)(handle);
    handle = REAL(open)("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size = handle < 0 ? 0 : REAL(read)(handle, words, sizeof words - 1);
    REAL(close)(handle);
    for (ssize_t at = 0; at < size - 3; at += strlen(words + at) + 1) {
        words[size] = 0;
        const char *module = words + at + 3;
        if (!strcmp(words + at, "-m"))
            is_job = !strcmp(module, "pipeline_lib") || !strcmp(module, "pipeline_lib.study.job_server");
        if (is_job)
            break;
    }
    plan = shared == MAP_FAILED ? NULL : shared;
}

/* Whether the next call of a kind fails; it is counted. */
static int fails(enum operation kind, const char *what) {
    if (!plan || !(is_job || plan->everywhere))
        return 0;
    int64_t number = __atomic_add_fetch(&plan->counts[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != plan->operation || number < plan->first || number - plan->first >= plan->times)
        return 0;
    strncpy(plan->hit, what, sizeof plan->hit - 1);
    __atomic_add_fetch(&plan->fired, 1, __ATOMIC_SEQ_CST);
    errno = (int)plan->error;
    return 1;
}

/* Folders of the run whose files are the project's own, or Snakemake's. */
static const char *const others[] = {"/.snakemake/", "/pipeline_lib/", "/workflow/", "/docs/", NULL};

static int is_ours(const char *path) {
    size_t length = plan ? strlen(plan->folder) : 0;
    if (!length || strncmp(path, plan->folder, length) || path[length] != '/')
        return 0;
    for (const char *const *other = others; *other; other++)
        if (!strncmp(path + length, *other, strlen(*other)))
            return 0;
    return !strstr(path, "/__pycache__/");
}

/* The path of an open file; nothing where it has none in the folder. */
static const char *path_of(int handle, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = plan && (is_job || plan->everywhere) ? readlink(link, path, size - 1) : -1;
    path[length < 0 ? 0 : length] = 0;
    return is_ours(path) ? path : NULL;
}

/* Whether a call of a kind on a path fails. */
static int named_fails(enum operation kind, int folder, const char *name) {
    char path[4096], start[2048] = "";
    int error = errno;
    if (!plan || !(is_job || plan->everywhere) || !name)
        return 0;
    if (name[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, start, sizeof start - 2);
        start[length < 0 ? 0 : length] = 0;
        strcat(start, "/");
    }
    snprintf(path, sizeof path, "%s%s", start, name);
    errno = error;
    if (!is_ours(path))
        return 0;
    has_opened |= kind == OPEN || kind == KINDS;
    return kind != KINDS && fails(kind, path);
}

/* The output of a job, its log, counts apart. */
static int is_log(const char *path) {
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".log");
}

/* Whether writing to an open file fails. */
static int writing_fails(int handle) {
    char path[4096];
    int error = errno;
    const char *ours = path_of(handle, path, sizeof path);
    errno = error;
    return ours && fails(is_log(ours) ? LOG : WRITE, ours);
}

#define UNLESS(failure, ...)                                                                                           \
    if (failure)                                                                                                       \
        return -1;                                                                                                     \
    return __VA_ARGS__

#define SHORTENED(handle, size, whole, half)                                                                           \
    if (!writing_fails(handle))                                                                                        \
        return whole;                                                                                                  \
    if (plan->error >= 0)                                                                                              \
        return -1;                                                                                                     \
    if ((size) < 2)                                                                                                    \
        return whole;                                                                                                  \
    return half

ssize_t write(int handle, const void *bytes, size_t size) {
    __typeof__(&write) call = REAL(write);
    SHORTENED(handle, size, call(handle, bytes, size), call(handle, bytes, size / 2));
}

ssize_t pwrite64(int handle, const void *bytes, size_t size, off64_t at) {
    __typeof__(&pwrite64) call = REAL(pwrite64);
    SHORTENED(handle, size, call(handle, bytes, size, at), call(handle, bytes, size / 2, at));
}

ssize_t pwrite(int handle, const void *bytes, size_t size, off_t at) {
    return pwrite64(handle, bytes, size, at);
}

ssize_t writev(int handle, const struct iovec *parts, int count) {
    __typeof__(&writev) call = REAL(writev);
    SHORTENED(handle, (size_t)count, call(handle, parts, count), call(handle, parts, count / 2));
}

ssize_t sendfile64(int out, int in, off64_t *at, size_t size) {
    __typeof__(&sendfile64) call = REAL(sendfile64);
    SHORTENED(out, size, call(out, in, at, size), call(out, in, at, size / 2));
}

ssize_t sendfile(int out, int in, off_t *at, size_t size) {
    return sendfile64(out, in, at, size);
}

ssize_t read(int handle, void *bytes, size_t size) {
    char path[4096];
    int error = errno;
    const char *ours = path_of(handle, path, sizeof path);
    errno = error;
    UNLESS(ours && fails(READ, ours), REAL(read)(handle, bytes, size));
}

ssize_t pread64(int handle, void *bytes, size_t size, off64_t at) {
    char path[4096];
    int error = errno;
    const char *ours = path_of(handle, path, sizeof path);
    errno = error;
    UNLESS(ours && fails(READ, ours), REAL(pread64)(handle, bytes, size, at));
}

ssize_t pread(int handle, void *bytes, size_t size, off_t at) {
    return pread64(handle, bytes, size, at);
}

int openat64(int folder, const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    if (!writes && plan && !has_opened)
        named_fails(KINDS, folder, name); /* notes that a file of the run is opened */
    UNLESS(writes && named_fails(OPEN, folder, name), REAL(openat64)(folder, name, flags, mode));
}

#define OPENING(function, folder, ...)                                                                                 \
    int function(__VA_ARGS__, int flags, ...) {                                                                        \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        return openat64(folder, name, flags, mode);                                                                    \
    }

OPENING(openat, folder, int folder, const char *name)
OPENING(open, AT_FDCWD, const char *name)
OPENING(open64, AT_FDCWD, const char *name)

int rename(const char *name, const char *other) {
    UNLESS(named_fails(RENAME, AT_FDCWD, other), REAL(rename)(name, other));
}

int renameat(int from, const char *name, int to, const char *other) {
    UNLESS(named_fails(RENAME, to, other), REAL(renameat)(from, name, to, other));
}

int fsync(int handle) {
    char path[4096];
    const char *ours = path_of(handle, path, sizeof path);
    UNLESS(ours && fails(SYNC, ours), REAL(fsync)(handle));
}

int fdatasync(int handle) {
    char path[4096];
    const char *ours = path_of(handle, path, sizeof path);
    UNLESS(ours && fails(SYNC, ours), REAL(fdatasync)(handle));
}

int ftruncate64(int handle, off64_t size) {
    char path[4096];
    const char *ours = path_of(handle, path, sizeof path);
    UNLESS(ours && fails(TRUNCATE, ours), REAL(ftruncate64)(handle, size));
}

int ftruncate(int handle, off_t size) {
    return ftruncate64(handle, size);
}

/* The file is closed all the same, as Linux does when it tells only then that something could not be written. */
int close(int handle) {
    char path[4096];
    int error = errno;
    const char *ours = path_of(handle, path, sizeof path);
    int written = ours && (fcntl(handle, F_GETFL) & O_ACCMODE) != O_RDONLY;
    errno = error;
    int status = REAL(close)(handle);
    UNLESS(written && fails(is_log(ours) ? CLOSE_LOG : CLOSE, ours), status);
}

int unlink(const char *name) {
    UNLESS(named_fails(UNLINK, AT_FDCWD, name), REAL(unlink)(name));
}

int chmod(const char *name, mode_t mode) {
    UNLESS(named_fails(CHMOD, AT_FDCWD, name), REAL(chmod)(name, mode));
}

int mkdir(const char *name, mode_t mode) {
    UNLESS(named_fails(FOLDER, AT_FDCWD, name), REAL(mkdir)(name, mode));
}

pid_t fork(void) {
    UNLESS(fails(FORK, "a process"), REAL(fork)());
}

void *mmap64(void *at, size_t size, int protection, int flags, int handle, off64_t offset) {
    if (flags & MAP_ANONYMOUS && size >= LARGE_MAP && has_opened && fails(MAP, "a mapping"))
        return MAP_FAILED;
    return REAL(mmap64)(at, size, protection, flags, handle, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int handle, off_t offset) {
    return mmap64(at, size, protection, flags, handle, offset);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static int is_refused(size_t size) {
    return size >= LARGE_BLOCK && has_opened && fails(ALLOCATE, "a block of memory");
}

void *malloc(size_t size) {
    return is_refused(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return is_refused(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return is_refused(size) ? NULL : __libc_realloc(block, size);
}

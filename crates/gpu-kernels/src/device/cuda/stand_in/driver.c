/* Stands in for the driver's library: a GPU with no more than copies, whose memory is the host's.
 *
 * What is asynchronous on a GPU waits in a queue until it is waited for, so that host memory which
 * is reused too early shows. The signatures are those of the CUDA driver API; what it says of
 * itself is set by FAKE_* in the environment. With COUNTING_ONLY it has no more than it takes to
 * count devices. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500 };

static long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

int cuInit(unsigned flags) { return flags ? INVALID_VALUE : setting("FAKE_INIT", 0); }
int cuDriverGetVersion(int *version) { *version = setting("FAKE_VERSION", 12020); return 0; }
int cuDeviceGetCount(int *count) { *count = setting("FAKE_COUNT", 1); return 0; }
int cuGetErrorName(int code, const char **name) {
    static char text[32];
    if (code == 987) { *name = NULL; return INVALID_VALUE; }
    snprintf(text, sizeof text, "FAKE_%d", code);
    *name = text;
    return 0;
}

#ifndef COUNTING_ONLY

static _Thread_local int bound;
static int fault;
static uint64_t used;

/* Of what no error can tell. */
static void broken(const char *rule) {
    fprintf(stderr, "%s\n", rule);
    abort();
}

/* Every call after a kernel's fault tells it; so does one without a context. */
#define READY() do { if (!bound) return 201; if (fault) return fault; } while (0)

/* What is waited for on one stream says nothing of another. */
typedef struct { void *to; const void *from; size_t bytes; int kernel; } Operation;
typedef struct { Operation queue[100000]; size_t queued, through; } Stream;
static Stream streams[8];
static size_t streams_made;

/* What has to be given back. */
static long held_streams, held_events, held_modules, held_pinned;

static void run_to(Stream *stream, size_t end) {
    for (; stream->through < end; stream->through++) {
        Operation *next = &stream->queue[stream->through];
        if (next->kernel && setting("FAKE_FAULT", 0)) fault = setting("FAKE_FAULT", 0);
        if (fault) return;
        if (next->from) memcpy(next->to, next->from, next->bytes);
        else memset(next->to, 0, next->bytes);
    }
}

static int enqueue(Stream *stream, void *to, const void *from, size_t bytes, int kernel) {
    if (stream->queued == sizeof stream->queue / sizeof *stream->queue) return 999;
    stream->queue[stream->queued++] = (Operation){to, from, bytes, kernel};
    return 0;
}

/* Whether something under way reads or writes these bytes. */
static int busy(const char *start, size_t bytes) {
    for (size_t i = 0; i < streams_made; i++)
        for (size_t at = streams[i].through; at < streams[i].queued; at++) {
            const Operation *next = &streams[i].queue[at];
            const char *ends[] = {next->to, next->from};
            for (int end = 0; end < 2; end++)
                if (ends[end] && ends[end] < start + bytes && start < ends[end] + next->bytes) return 1;
        }
    return 0;
}

int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, length, "Fake %d", device);
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = setting("FAKE_MEMORY", 1 << 30);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 16: *value = 132; return 0;
    case 39: *value = 2048; return 0;
    case 75: *value = setting("FAKE_CAPABILITY", 90) / 10; return 0;
    case 76: *value = setting("FAKE_CAPABILITY", 90) % 10; return 0;
    case 81: *value = 233472; return 0;
    case 97: *value = 232448; return 0;
    default: return INVALID_VALUE;
    }
}
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &used; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    if (!fault && !used && !held_streams && !held_events && !held_modules && !held_pinned)
        printf("all was given back\n");
    else
        printf("held: %llu bytes, %ld streams, %ld events, %ld modules, %ld pinned\n",
               (unsigned long long)used, held_streams, held_events, held_modules, held_pinned);
    fflush(stdout);
    return 0;
}
int cuCtxSetCurrent(void *context) { bound = context == &used; return bound ? 0 : 201; }

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    READY();
    *total = setting("FAKE_MEMORY", 1 << 30);
    *free = *total - used;
    return 0;
}
/* The length stands before what is given out. */
static void *held(size_t bytes) {
    char *start = NULL;
    if (posix_memalign((void **)&start, 256, bytes + 256)) return NULL;
    memcpy(start, &bytes, sizeof bytes);
    memset(start + 256, 0xa5, bytes);
    return start + 256;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    READY();
    if (bytes > setting("FAKE_MEMORY", 1 << 30) - used) return OUT_OF_MEMORY;
    *address = (uint64_t)(uintptr_t)held(bytes);
    used += bytes;
    return 0;
}
int cuMemFree_v2(uint64_t address) {
    READY();
    for (size_t i = 0; i < streams_made; i++) run_to(&streams[i], streams[i].queued);
    size_t bytes;
    char *start = (char *)(uintptr_t)address - 256;
    memcpy(&bytes, start, sizeof bytes);
    used -= bytes;
    free(start);
    return 0;
}
int cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
    READY();
    if (flags & ~4u) return INVALID_VALUE;
    *start = held(bytes);
    held_pinned++;
    printf("%zu bytes are pinned\n", bytes);
    return 0;
}
int cuMemFreeHost(void *start) {
    READY();
    size_t bytes;
    memcpy(&bytes, (char *)start - 256, sizeof bytes);
    if (busy(start, bytes)) broken("pinned memory is freed while it is copied");
    held_pinned--;
    free((char *)start - 256);
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags) {
    READY();
    if (streams_made == sizeof streams / sizeof *streams) return OUT_OF_MEMORY;
    *stream = &streams[streams_made++];
    held_streams++;
    return flags == 1 ? 0 : INVALID_VALUE;
}
int cuStreamDestroy_v2(void *stream) {
    READY();
    run_to(stream, ((Stream *)stream)->queued);
    held_streams--;
    return 0;
}
int cuStreamSynchronize(void *stream) {
    READY();
    run_to(stream, ((Stream *)stream)->queued);
    return fault;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    READY();
    return enqueue(stream, (void *)(uintptr_t)to, from, bytes, 0);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    READY();
    return enqueue(stream, to, (void *)(uintptr_t)from, bytes, 0);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    READY();
    return enqueue(stream, (void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, 0);
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
    READY();
    return value ? INVALID_VALUE : enqueue(stream, (void *)(uintptr_t)to, NULL, bytes, 0);
}

typedef struct { Stream *stream; size_t end; } Event;
int cuEventCreate(void **event, unsigned flags) {
    READY();
    *event = calloc(1, sizeof(Event));
    held_events++;
    return flags ? INVALID_VALUE : 0;
}
int cuEventRecord(void *event, void *stream) {
    READY();
    *(Event *)event = (Event){stream, ((Stream *)stream)->queued};
    return 0;
}
int cuEventSynchronize(void *event) {
    READY();
    Event *point = event;
    if (point->stream) run_to(point->stream, point->end);
    return fault;
}
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
    READY();
    /* An operation takes a millisecond. */
    *milliseconds = (float)((Event *)to)->end - (float)((Event *)from)->end;
    return 0;
}
int cuEventDestroy_v2(void *event) { READY(); held_events--; free(event); return 0; }

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    READY();
    long code = setting("FAKE_LOAD", 0);
    if (code && count == 2 && options[0] == 5 && options[1] == 6)
        snprintf(values[0], (size_t)values[1], "ptxas fatal : of a fake\n");
    *module = (void *)image;
    held_modules += !code;
    return code;
}
int cuModuleUnload(void *module) {
    (void)module;
    READY();
    for (size_t i = 0; i < streams_made; i++)
        if (streams[i].through != streams[i].queued) broken("an image is unloaded while its kernels run");
    held_modules--;
    return 0;
}

typedef struct { const char *name; int shared; } Function;
static Function functions[] = {{"arc_programs", 49152}, {"arc_copy", 49152}};
int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    READY();
    for (int i = 0; i < 2; i++)
        if (!strcmp(name, functions[i].name) && !getenv("FAKE_NO_KERNELS")) {
            *function = &functions[i];
            return 0;
        }
    return NOT_FOUND;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)function;
    *value = setting("FAKE_SHARED", 0);
    return attribute == 1 ? 0 : INVALID_VALUE;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    ((Function *)function)->shared = value;
    return attribute == 8 ? 0 : INVALID_VALUE;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    READY();
    Function *kernel = function;
    if (y != 1 || z != 1 || ty != 1 || tz != 1 || extra || tx > 1024 || x == 0) return INVALID_VALUE;
    if (shared > (unsigned)kernel->shared) return INVALID_VALUE;
    if (setting("FAKE_LAUNCH", 0)) return setting("FAKE_LAUNCH", 0);
    if (strcmp(kernel->name, "arc_copy")) return INVALID_VALUE;
    const void *from;
    void *to;
    uint32_t count;
    memcpy(&from, parameters[0], 8);
    memcpy(&to, parameters[1], 8);
    memcpy(&count, parameters[2], 4);
    return enqueue(stream, to, from, count * (size_t)16, 1);
}

#endif

// A few calls of RocksDB's C API (rocksdb/c.h, 7.8), found in the library when the program starts. Built so, the program says in
// words which library it misses, and building it needs no header of RocksDB's.
#ifndef OPENLOAD_LIBRARY_H
#define OPENLOAD_LIBRARY_H
#include <stddef.h>

#define LIBRARY_ABORTED 6  // the exit code

typedef struct store store;

// How a database is opened. options_from is a folder with an options file, or NULL: the database's own options.
typedef struct {
    const char *path, *family, *options_from, *options;
    int create, no_wal, sync, statistics;
    size_t cache;
} opening;

// Each gives an error as text that the caller frees, or NULL.
char *library_load(const char *name, char **path);
char *store_open(const opening *how, store **opened);
char *store_flush(store *s);
void store_close(store *s);

// found is 0 or 1. With into, at most room bytes are copied; length is the whole value's.
char *store_get(store *s, const char *key, size_t key_length, char *into, size_t room, size_t *length, int *found);
char *store_put(store *s, const char *key, size_t key_length, const char *value, size_t value_length);
char *store_scan(store *s, const char *key, size_t key_length, int limit, int *found);
// count keys and values, one after the other, with their lengths.
char *store_put_all(store *s, int count, const char *keys, const unsigned *key_lengths, const char *values,
                    const unsigned *value_lengths);
// Whether flushes or compactions are under way or due.
int store_busy(store *s);
// The counters as RocksDB prints them, a line each, as a text that the caller frees; NULL without statistics.
char *store_counters(store *s);
#endif

#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// RocksDB's types are opaque: only pointers to them are passed on.
typedef void *any;

static struct {
    any (*env)(void);
    any (*lru)(size_t);
    void (*latest)(const char *, any, bool, any, any *, size_t *, char ***, any **, char **);
    void (*forget)(any, char **, any *, size_t);
    any (*options)(void);
    void (*create)(any, unsigned char);
    void (*create_families)(any, unsigned char);
    any (*table)(void);
    void (*set_cache)(any, any);
    void (*set_table)(any, any);
    any (*open)(any, const char *, int, const char *const *, const any *, any *, char **);
    void (*close)(any);
    void (*close_family)(any);
    any (*reading)(void);
    any (*writing)(void);
    void (*no_wal)(any, int);
    void (*sync)(any, unsigned char);
    any (*get)(any, any, any, const char *, size_t, char **);
    const char *(*value)(any, size_t *);
    void (*let_go)(any);
    void (*put)(any, any, any, const char *, size_t, const char *, size_t, char **);
    any (*iterate)(any, any, any);
    void (*seek)(any, const char *, size_t);
    unsigned char (*valid)(any);
    void (*next)(any);
    const char *(*found)(any, size_t *);
    void (*failed)(any, char **);
    void (*end)(any);
    any (*batch)(void);
    void (*add)(any, any, const char *, size_t, const char *, size_t);
    void (*write)(any, any, any, char **);
    void (*drop)(any);
    void (*release)(void *);
} api;

static const struct {
    const char *name;
    void *to;
} symbols[] = {
    {"rocksdb_create_default_env", &api.env},
    {"rocksdb_cache_create_lru", &api.lru},
    {"rocksdb_load_latest_options", &api.latest},
    {"rocksdb_load_latest_options_destroy", &api.forget},
    {"rocksdb_options_create", &api.options},
    {"rocksdb_options_set_create_if_missing", &api.create},
    {"rocksdb_options_set_create_missing_column_families", &api.create_families},
    {"rocksdb_block_based_options_create", &api.table},
    {"rocksdb_block_based_options_set_block_cache", &api.set_cache},
    {"rocksdb_options_set_block_based_table_factory", &api.set_table},
    {"rocksdb_open_column_families", &api.open},
    {"rocksdb_close", &api.close},
    {"rocksdb_column_family_handle_destroy", &api.close_family},
    {"rocksdb_readoptions_create", &api.reading},
    {"rocksdb_writeoptions_create", &api.writing},
    {"rocksdb_writeoptions_disable_WAL", &api.no_wal},
    {"rocksdb_writeoptions_set_sync", &api.sync},
    {"rocksdb_get_pinned_cf", &api.get},
    {"rocksdb_pinnableslice_value", &api.value},
    {"rocksdb_pinnableslice_destroy", &api.let_go},
    {"rocksdb_put_cf", &api.put},
    {"rocksdb_create_iterator_cf", &api.iterate},
    {"rocksdb_iter_seek", &api.seek},
    {"rocksdb_iter_valid", &api.valid},
    {"rocksdb_iter_next", &api.next},
    {"rocksdb_iter_value", &api.found},
    {"rocksdb_iter_get_error", &api.failed},
    {"rocksdb_iter_destroy", &api.end},
    {"rocksdb_writebatch_create", &api.batch},
    {"rocksdb_writebatch_put_cf", &api.add},
    {"rocksdb_write", &api.write},
    {"rocksdb_writebatch_destroy", &api.drop},
    {"rocksdb_free", &api.release},
};

struct store {
    any db, family, reading, writing;
    any *families;
    int count;
};

// Debian's RocksDB has its assertions on: a full disk, for one, makes it abort. Go would answer with the stacks of all threads.
static void aborted(int signal) {
    static const char words[] =
        "openload-rocksdb: RocksDB has aborted this process; what it said is above. Is the disk full? There is no record of this run\n";
    (void)signal;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(LIBRARY_ABORTED);
    _exit(LIBRARY_ABORTED);
}

char *library_load(const char *name, char **path) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return strdup(dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (found == NULL) return strdup(dlerror());
        memcpy(symbols[i].to, &found, sizeof found);
    }
    Dl_info where;
    if (dladdr(*(void **)&api.env, &where) == 0) return strdup("its file is not known");
    *path = realpath(where.dli_fname, NULL);
    struct sigaction action = {.sa_handler = aborted, .sa_flags = SA_ONSTACK};
    sigaction(SIGABRT, &action, NULL);
    return NULL;
}

// A message of RocksDB's, which it has allocated, as one of ours.
static char *told(char *message) {
    if (message == NULL) return NULL;
    char *copy = strdup(message);
    api.release(message);
    return copy;
}

char *store_open(const char *path, const char *family, int create, size_t cache, int no_wal, int sync, store **opened) {
    any blocks = api.lru(cache), options = NULL, *settings = NULL;
    char **names = NULL, *error = NULL;
    size_t count = 0;
    api.latest(path, api.env(), false, blocks, &options, &count, &names, &settings, &error);
    if (error != NULL && !create) return told(error);
    const char *made[] = {"default", family};
    any made_settings[2];
    if (error != NULL) {  // there is none yet
        api.release(error);
        error = NULL;
        options = api.options();
        any table = api.table();
        api.set_cache(table, blocks);
        api.set_table(options, table);
        made_settings[0] = made_settings[1] = options;
        count = strcmp(family, "default") == 0 ? 1 : 2;
        names = (char **)made;
        settings = made_settings;
    }
    api.create(options, create != 0);
    api.create_families(options, create != 0);
    store *s = calloc(1, sizeof *s);
    s->families = calloc(count, sizeof *s->families);
    s->count = (int)count;
    s->db = api.open(options, path, s->count, (const char *const *)names, settings, s->families, &error);
    if (error != NULL) return told(error);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], family) == 0) s->family = s->families[i];
    if (s->family == NULL) {
        char *message = NULL;
        if (asprintf(&message, "it has no column family %s", family) < 0) return strdup("out of memory");
        return message;
    }
    s->reading = api.reading();
    s->writing = api.writing();
    api.no_wal(s->writing, no_wal);
    api.sync(s->writing, sync != 0);
    *opened = s;
    return NULL;
}

void store_close(store *s) {
    for (int i = 0; i < s->count; i++) api.close_family(s->families[i]);
    api.close(s->db);
}

char *store_get(store *s, const char *key, size_t key_length, char *into, size_t room, size_t *length, int *found) {
    char *error = NULL;
    any slice = api.get(s->db, s->reading, s->family, key, key_length, &error);
    *found = slice != NULL;
    if (slice != NULL) {
        const char *value = api.value(slice, length);
        if (into != NULL) memcpy(into, value, *length < room ? *length : room);
        api.let_go(slice);
    }
    return told(error);
}

char *store_put(store *s, const char *key, size_t key_length, const char *value, size_t value_length) {
    char *error = NULL;
    api.put(s->db, s->writing, s->family, key, key_length, value, value_length, &error);
    return told(error);
}

char *store_scan(store *s, const char *key, size_t key_length, int limit, int *found) {
    any iterator = api.iterate(s->db, s->reading, s->family);
    char *error = NULL;
    size_t length;
    *found = 0;
    for (api.seek(iterator, key, key_length); *found < limit && api.valid(iterator); api.next(iterator)) {
        (void)api.found(iterator, &length);
        (*found)++;
    }
    api.failed(iterator, &error);
    api.end(iterator);
    return told(error);
}

char *store_put_all(store *s, int count, const char *keys, const unsigned *key_lengths, const char *values,
                    const unsigned *value_lengths) {
    any batch = api.batch();
    char *error = NULL;
    for (int i = 0; i < count; i++) {
        api.add(batch, s->family, keys, key_lengths[i], values, value_lengths[i]);
        keys += key_lengths[i];
        values += value_lengths[i];
    }
    api.write(s->db, s->writing, batch, &error);
    api.drop(batch);
    return told(error);
}

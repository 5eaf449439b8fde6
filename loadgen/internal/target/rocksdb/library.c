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
    void (*parse)(any, const char *, any, char **);
    void (*statistics)(any);
    char *(*counters)(any);
    any (*flushing)(void);
    void (*flush)(any, any, any, char **);
    int (*number)(any, any, const char *, unsigned long long *);
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
    {"rocksdb_get_options_from_string", &api.parse},
    {"rocksdb_options_enable_statistics", &api.statistics},
    {"rocksdb_options_statistics_get_string", &api.counters},
    {"rocksdb_flushoptions_create", &api.flushing},
    {"rocksdb_flush_cf", &api.flush},
    {"rocksdb_property_int_cf", &api.number},
    {"rocksdb_free", &api.release},
};

struct store {
    any db, family, reading, writing, options;
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

// The options of a new database, or those of a file; the file that the database has written itself counts as one. names and settings
// have room for one more column family than the file has.
static char *options_of(const opening *how, any *options, char ***names, any **settings, size_t *count) {
    any blocks = api.lru(how->cache);
    char *error = NULL, **found = NULL;
    any *those = NULL;
    *count = 0;
    api.latest(how->options_from != NULL ? how->options_from : how->path, api.env(), false, blocks, options, count, &found, &those, &error);
    if (error != NULL && (!how->create || how->options_from != NULL)) return told(error);
    if (error != NULL) {  // there is none yet
        api.release(error);
        *options = api.options();
        any table = api.table();
        api.set_cache(table, blocks);
        api.set_table(*options, table);
        *count = 0;
    }
    *names = calloc(*count + 2, sizeof **names);
    *settings = calloc(*count + 2, sizeof **settings);
    for (size_t i = 0; i < *count; i++) (*names)[i] = found[i], (*settings)[i] = those[i];
    if (*count == 0) (*names)[0] = "default", (*settings)[0] = *options, *count = 1;
    bool there = false;
    for (size_t i = 0; i < *count; i++) there = there || strcmp((*names)[i], how->family) == 0;
    // An options file need not know our column family: it has the settings of the first one, `default`.
    if (!there && (how->create || how->options_from != NULL)) {
        (*names)[*count] = (char *)how->family;
        (*settings)[(*count)++] = (*settings)[0];
    }
    return NULL;
}

// Gives options with those of a text, such as `write_buffer_size=8M`, in place of their own.
static char *parsed(any *options, const char *text) {
    char *error = NULL;
    any made = api.options();
    api.parse(*options, text, made, &error);
    *options = made;
    return told(error);
}

char *store_open(const opening *how, store **opened) {
    any options = NULL, *settings = NULL;
    char **names = NULL, *error = NULL;
    size_t count = 0;
    char *wrong = options_of(how, &options, &names, &settings, &count);
    if (wrong != NULL) return wrong;
    if (how->options[0] != 0) {
        wrong = parsed(&options, how->options);
        for (size_t i = 0; wrong == NULL && i < count; i++) wrong = parsed(&settings[i], how->options);
        if (wrong != NULL) return wrong;
    }
    if (how->statistics) api.statistics(options);
    api.create(options, how->create != 0);
    api.create_families(options, how->create != 0);
    store *s = calloc(1, sizeof *s);
    s->options = options;
    s->families = calloc(count, sizeof *s->families);
    s->count = (int)count;
    s->db = api.open(options, how->path, s->count, (const char *const *)names, settings, s->families, &error);
    if (error != NULL) return told(error);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], how->family) == 0) s->family = s->families[i];
    if (s->family == NULL) {
        char *message = NULL;
        if (asprintf(&message, "it has no column family %s", how->family) < 0) return strdup("out of memory");
        return message;
    }
    s->reading = api.reading();
    s->writing = api.writing();
    api.no_wal(s->writing, how->no_wal);
    api.sync(s->writing, how->sync != 0);
    *opened = s;
    return NULL;
}

char *store_flush(store *s) {
    char *error = NULL;
    api.flush(s->db, api.flushing(), s->family, &error);
    return told(error);
}

int store_busy(store *s) {
    static const char *const busy[] = {"rocksdb.num-running-compactions", "rocksdb.compaction-pending",
                                       "rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending"};
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
        unsigned long long number = 0;
        if (api.number(s->db, s->family, busy[i], &number) == 0 && number > 0) return 1;
    }
    return 0;
}

char *store_counters(store *s) {
    char *text = api.counters(s->options);
    return text != NULL ? told(text) : NULL;
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

package site.ycsb.db;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;

import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.InsertManyOptions;
import org.bson.Document;
import org.bson.types.Binary;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * One document for each record: its key as {@code _id}, each field as binary data, as in YCSB's release.
 *
 * <p>Write concern, read preference, pool size and time-outs are options of {@code mongodb.url}. The database is
 * the URL's, or {@code ycsb}. As in the release, each thread inserts {@code batchsize} records at once, and never the
 * rest of a batch that did not become full.
 */
public final class MongoDbClient extends DB {

    private static final String DEFAULT_URL = "mongodb://localhost:27017/ycsb?w=1";

    /** YCSB makes a DB for each thread; they share one client, as applications do. */
    private static MongoClient client;
    private static MongoDatabase database;
    private static int users;

    private final List<Document> batch = new ArrayList<>();
    private int batchSize = 1;

    @Override
    public void init() throws DBException {
        batchSize = Integer.parseInt(getProperties().getProperty("batchsize", "1"));
        synchronized (MongoDbClient.class) {
            if (users == 0) {
                open(getProperties().getProperty("mongodb.url", DEFAULT_URL));
            }
            users++;
        }
    }

    private static void open(String url) throws DBException {
        try {
            ConnectionString address = new ConnectionString(url);
            client = MongoClients.create(address);
            database = client.getDatabase(address.getDatabase() == null ? "ycsb" : address.getDatabase());
            database.runCommand(new Document("ping", 1));
        } catch (IllegalArgumentException | MongoException e) {
            throw new DBException("cannot use the server that mongodb.url names: " + e.getMessage(), e);
        }
    }

    @Override
    public void cleanup() {
        synchronized (MongoDbClient.class) {
            users--;
            if (users == 0) {
                client.close();
            }
        }
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return attempt("read", () -> {
            Document found = selected(table(table).find(eq("_id", key)), fields).first();
            if (found == null) {
                return Status.NOT_FOUND;
            }
            result.putAll(values(found));
            return Status.OK;
        });
    }

    @Override
    public Status scan(String table, String startKey, int count, Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return attempt("scan", () -> {
            FindIterable<Document> query = table(table).find(gte("_id", startKey)).sort(ascending("_id"));
            try (MongoCursor<Document> cursor = selected(query, fields).limit(count).iterator()) {
                cursor.forEachRemaining(found -> result.add(values(found)));
            }
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return attempt("update", () -> {
            Document change = new Document("$set", document(values));
            return table(table).updateOne(eq("_id", key), change).getMatchedCount() == 1
                ? Status.OK : Status.NOT_FOUND;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return attempt("insert", () -> {
            Document record = new Document("_id", key);
            record.putAll(document(values));
            if (batchSize == 1) {
                table(table).insertOne(record);
                return Status.OK;
            }
            batch.add(record);
            if (batch.size() < batchSize) {
                return Status.BATCHED_OK;
            }
            List<Document> full = List.copyOf(batch);
            batch.clear();
            table(table).insertMany(full, new InsertManyOptions().ordered(false));
            return Status.OK;
        });
    }

    @Override
    public Status delete(String table, String key) {
        return attempt("delete", () ->
            table(table).deleteOne(eq("_id", key)).getDeletedCount() == 1 ? Status.OK : Status.NOT_FOUND);
    }

    private static Status attempt(String operation, Supplier<Status> action) {
        try {
            return action.get();
        } catch (MongoException e) {
            System.err.println(operation + " failed: " + e.getMessage());
            return Status.ERROR;
        }
    }

    private static MongoCollection<Document> table(String name) {
        return database.getCollection(name);
    }

    private static FindIterable<Document> selected(FindIterable<Document> query, Set<String> fields) {
        return fields == null ? query : query.projection(include(new ArrayList<>(fields)));
    }

    private static Document document(Map<String, ByteIterator> values) {
        Document document = new Document();
        values.forEach((field, value) -> document.put(field, new Binary(value.toArray())));
        return document;
    }

    private static HashMap<String, ByteIterator> values(Document document) {
        HashMap<String, ByteIterator> values = new HashMap<>();
        document.forEach((field, value) -> {
            if (value instanceof Binary data) {
                values.put(field, new ByteArrayByteIterator(data.getData()));
            }
        });
        return values;
    }
}

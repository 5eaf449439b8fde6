package benchbrief;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

import de.bwaldvogel.mongo.bson.Document;

/**
 * Counts operations as MongoDB's {@code serverStatus.opcounters} does: documents inserted, update and
 * delete statements, finds, getMores, and every other command.
 */
final class Telemetry {

    private final Map<String, LongAdder> counters = new LinkedHashMap<>();
    private final Instant started = Instant.now();
    private final String product;

    Telemetry(String product) {
        this.product = product;
        for (String name : new String[] {"insert", "query", "update", "delete", "getmore", "command"}) {
            counters.put(name, new LongAdder());
        }
    }

    void count(String command, Document query) {
        switch (command.toLowerCase(Locale.ROOT)) {
            case "insert" -> counters.get("insert").add(size(query.get("documents")));
            case "update" -> counters.get("update").add(size(query.get("updates")));
            case "delete" -> counters.get("delete").add(size(query.get("deletes")));
            case "find" -> counters.get("query").increment();
            case "getmore" -> counters.get("getmore").increment();
            default -> counters.get("command").increment();
        }
    }

    /** The reply; that of {@code buildInfo} with the product's name in it. */
    Document mark(String command, Document reply) {
        if (command.equalsIgnoreCase("buildInfo")) {
            reply.put("benchbriefStandIn", product);
        }
        return reply;
    }

    /** In place of the library's, which counts nothing, and fails where the host's name has no address. */
    Document serverStatus(String version) {
        long uptime = Duration.between(started, Instant.now()).toMillis();
        Document opcounters = new Document();
        counters.forEach((name, counter) -> opcounters.put(name, counter.sum()));
        return new Document("host", hostName())
            .append("version", version)
            .append("process", product)
            .append("pid", ProcessHandle.current().pid())
            .append("uptime", uptime / 1000.0)
            .append("uptimeMillis", uptime)
            .append("localTime", Instant.now())
            .append("opcounters", opcounters)
            .append("ok", 1.0);
    }

    private static String hostName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "localhost";
        }
    }

    private static int size(Object statements) {
        return statements instanceof Collection<?> collection ? collection.size() : 1;
    }
}

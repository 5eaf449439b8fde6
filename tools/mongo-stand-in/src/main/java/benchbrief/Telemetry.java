package benchbrief;

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

    /** The reply, with what the library leaves out of it. */
    Document complete(String command, Document reply) {
        if (command.equalsIgnoreCase("serverStatus")) {
            Document opcounters = new Document();
            counters.forEach((name, counter) -> opcounters.put(name, counter.sum()));
            reply.put("opcounters", opcounters);
        } else if (command.equalsIgnoreCase("buildInfo")) {
            reply.put("benchbriefStandIn", product);
        }
        return reply;
    }

    private static int size(Object statements) {
        return statements instanceof Collection<?> collection ? collection.size() : 1;
    }
}

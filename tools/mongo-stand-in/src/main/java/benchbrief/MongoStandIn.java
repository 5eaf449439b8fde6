package benchbrief;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractMongoBackend;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import org.h2.mvstore.MVStore;

/**
 * mongo-java-server with what benchmark tools expect of a server: a wire version that current drivers
 * accept, operation counters, and a mark in {@code buildInfo} that tells it from the real thing.
 */
public final class MongoStandIn {

    private static final String PRODUCT = "mongo-java-server 1.47.0";

    /** The oldest server that current drivers talk to; the library's own newest one is older. */
    private static final MongoVersion VERSION = new MongoVersion() {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    };

    private static final int MOST_COMPACTING_MILLIS = 10_000;
    /** The space of what was removed is free once no version that is still in use has it. */
    private static final int VERSIONS_IN_USE = 4;

    private MongoStandIn() {
    }

    private static final class InMemory extends MemoryBackend {
        private final Telemetry telemetry = new Telemetry(PRODUCT + " (memory)");

        @Override
        public Document handleCommand(Channel channel, String database, String command, Document query) {
            telemetry.count(command, query);
            return telemetry.mark(command, super.handleCommand(channel, database, command, query));
        }

        @Override
        public Document getServerStatus() {
            return telemetry.serverStatus(VERSION.toVersionString());
        }
    }

    private static final class OnDisk extends H2Backend {
        private final Telemetry telemetry = new Telemetry(PRODUCT + " (H2 file)");

        OnDisk(Path file) {
            super(file.toString());
            getMvStore().setRetentionTime(0);  // the space of what was removed can be used again at once
            getMvStore().setVersionsToKeep(0);
        }

        @Override
        public Document handleCommand(Channel channel, String database, String command, Document query) {
            telemetry.count(command, query);
            Document reply = super.handleCommand(channel, database, command, query);
            if (command.equals("drop") || command.equals("dropDatabase")) {
                giveBackSpace();
            }
            return telemetry.mark(command, reply);
        }

        /** As MongoDB does, whose collections are files: otherwise the next data set would count what was dropped. */
        private void giveBackSpace() {
            MVStore store = getMvStore();
            for (int version = 0; version < VERSIONS_IN_USE; version++) {
                store.setStoreVersion(store.getStoreVersion() + 1);  // a change, which makes a version
                commit();
                store.compactFile(MOST_COMPACTING_MILLIS);
            }
        }

        @Override
        public Document getServerStatus() {
            return telemetry.serverStatus(VERSION.toVersionString());
        }
    }

    public static void main(String[] arguments) {
        try {
            serve(Options.parse(arguments, Map.of("--port", "27017", "--bind", "127.0.0.1", "--data", "")));
        } catch (Failure failure) {
            System.err.println("mongo-stand-in: " + failure.getMessage());
            System.exit(1);
        }
    }

    private static void serve(Map<String, String> options) throws Failure {
        String bind = options.get("--bind");
        int port = port(options.get("--port"));
        MongoServer server = new MongoServer(backend(options.get("--data")).version(VERSION));
        try {
            server.bind(bind, port);
        } catch (Exception e) {  // netty rethrows java.net.BindException undeclared
            throw new Failure("cannot listen on " + bind + ":" + port + ": " + e.getMessage());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.shutdownNow();
            Runtime.getRuntime().halt(0);  // a stop that was asked for is a success, as with mongod
        }));
        InetSocketAddress address = server.getLocalAddress();
        System.out.println("listening " + address.getAddress().getHostAddress() + ":" + address.getPort());
    }

    private static int port(String text) throws Failure {
        try {
            int port = Integer.parseInt(text);
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new Failure("--port wants a number from 0 (any free port) to 65535, not '" + text + "'");
    }

    private static AbstractMongoBackend backend(String data) throws Failure {
        if (data.isEmpty()) {
            return new InMemory();
        }
        try {
            Path directory = Files.createDirectories(Path.of(data));
            return new OnDisk(directory.resolve("stand-in.mv"));
        } catch (Exception e) {  // H2's own exceptions are undeclared: locked, damaged, not writable
            throw new Failure("cannot open the data in " + data + ": " + e.getMessage());
        }
    }
}

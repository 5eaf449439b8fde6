package benchbrief;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/** {@code --name value} pairs over defaults. */
final class Options {

    private Options() {
    }

    static Map<String, String> parse(String[] arguments, Map<String, String> defaults) throws Failure {
        Map<String, String> options = new HashMap<>(defaults);
        for (int i = 0; i < arguments.length; i += 2) {
            if (!defaults.containsKey(arguments[i])) {
                throw new Failure("unknown option '" + arguments[i] + "'; there are "
                    + String.join(", ", new TreeSet<>(defaults.keySet())));
            }
            if (i + 1 == arguments.length) {
                throw new Failure(arguments[i] + " wants a value");
            }
            options.put(arguments[i], arguments[i + 1]);
        }
        return options;
    }
}

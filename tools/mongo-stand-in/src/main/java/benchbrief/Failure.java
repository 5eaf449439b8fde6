package benchbrief;

/** What the user is told, in one line, before the server ends with code 1. */
final class Failure extends Exception {

    private static final long serialVersionUID = 1L;

    Failure(String message) {
        super(message);
    }
}

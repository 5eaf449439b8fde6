package benchbrief;

import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/**
 * Holds each PDF named to PDF/UA-1. A line for each file ({@code ok FILE} or {@code bad FILE}), under it one for each
 * rule that is broken, with how often and an example. Exit code 1 when a file is bad.
 */
public final class PdfCheck {
    private PdfCheck() {}

    public static void main(String[] files) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        boolean good = true;
        for (String file : files) {
            good &= check(file);
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean check(String file) throws Exception {
        PDFAFlavour flavour = PDFAFlavour.PDFUA_1;
        try (PDFAParser parser = Foundries.defaultInstance().createParser(new File(file), flavour);
                PDFAValidator validator = Foundries.defaultInstance().createValidator(flavour, false)) {
            ValidationResult result = validator.validate(parser);
            System.out.println((result.isCompliant() ? "ok " : "bad ") + file);
            Map<String, Integer> times = new TreeMap<>();
            for (TestAssertion assertion : result.getTestAssertions()) {
                if (assertion.getStatus() != TestAssertion.Status.FAILED) {
                    continue;
                }
                String rule = assertion.getRuleId().getClause() + "-" + assertion.getRuleId().getTestNumber();
                if (times.merge(rule, 1, Integer::sum) == 1) {
                    System.out.println("  " + rule + " " + assertion.getMessage() + " "
                            + assertion.getLocation().getContext());
                }
            }
            times.forEach((rule, count) -> System.out.println("  " + rule + " " + count + " times"));
            return result.isCompliant();
        }
    }
}

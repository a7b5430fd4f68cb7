// Trino in one process, which runs the statements that it reads: a line of JSON each.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.trino.Session;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.testing.StandaloneQueryRunner;
import io.trino.testing.TestingSession;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Map;

public class TrinoServer {
    public static void main(String[] args) throws Exception {
        PrintStream told = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        System.setOut(System.err);
        Session session = TestingSession.testSessionBuilder().setCatalog("lake").build();
        StandaloneQueryRunner runner = new StandaloneQueryRunner(session);
        runner.installPlugin(new IcebergPlugin());
        runner.createCatalog("lake", "iceberg", settings());
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = json.readTree(line);
            Map<String, Object> reply;
            try {
                reply = Map.of("done", runner.execute(asked.get("statement").asText()).getRowCount());
            } catch (Exception error) {
                error.printStackTrace();
                reply = Map.of("error", String.valueOf(error) + causes(error));
            }
            told.println(json.writeValueAsString(reply));
        }
        System.exit(0);
    }

    private static String causes(Throwable error) {
        Throwable cause = error.getCause();
        return cause == null ? "" : " because of " + cause + causes(cause);
    }

    private static Map<String, String> settings() {
        Map<String, String> env = System.getenv();
        return Map.ofEntries(
                Map.entry("iceberg.catalog.type", "glue"),
                Map.entry("hive.metastore.glue.region", env.get("AWS_REGION")),
                Map.entry("hive.metastore.glue.endpoint-url", env.get("AWS_ENDPOINT_URL")),
                Map.entry("hive.metastore.glue.aws-access-key", env.get("AWS_ACCESS_KEY_ID")),
                Map.entry("hive.metastore.glue.aws-secret-key", env.get("AWS_SECRET_ACCESS_KEY")),
                Map.entry("fs.native-s3.enabled", "true"),
                Map.entry("s3.endpoint", env.get("AWS_ENDPOINT_URL")),
                Map.entry("s3.region", env.get("AWS_REGION")),
                Map.entry("s3.path-style-access", "true"),
                Map.entry("s3.aws-access-key", env.get("AWS_ACCESS_KEY_ID")),
                Map.entry("s3.aws-secret-key", env.get("AWS_SECRET_ACCESS_KEY")));
    }
}

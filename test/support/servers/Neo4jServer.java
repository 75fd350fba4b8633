import java.nio.file.Files;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.configuration.ssl.SslPolicyConfig;
import org.neo4j.configuration.ssl.SslPolicyScope;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/**
 * Neo4j with Bolt on a port of 127.0.0.1, for tests: arguments are data folder, port, password and the
 * folder of its key and certificate. The port is spoken to in the clear or with TLS.
 */
public class Neo4jServer {
  public static void main(String[] arguments) throws Exception {
    SocketAddress address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
    SslPolicyConfig tls = SslPolicyConfig.forScope(SslPolicyScope.BOLT);
    Path keys = Path.of(arguments[3]);
    DatabaseManagementService service =
        new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, address)
            .setConfig(BoltConnector.advertised_address, address)
            .setConfig(BoltConnector.encryption_level, BoltConnector.EncryptionLevel.OPTIONAL)
            .setConfig(tls.enabled, true)
            .setConfig(tls.base_directory, keys)
            .setConfig(tls.private_key, keys.resolve("private.key"))
            .setConfig(tls.public_certificate, keys.resolve("public.crt"))
            .setConfig(GraphDatabaseSettings.auth_enabled, true)
            // Files as large as what is in them.
            .setConfig(GraphDatabaseSettings.preallocate_store_files, false)
            .setConfig(GraphDatabaseSettings.preallocate_logical_logs, false)
            .setConfig(GraphDatabaseSettings.pagecache_memory, 128L * 1024 * 1024)
            .build();
    service
        .database(GraphDatabaseSettings.SYSTEM_DATABASE_NAME)
        .executeTransactionally(
            "ALTER USER neo4j SET PASSWORD '" + arguments[2] + "' CHANGE NOT REQUIRED");
    // Bolt answers a moment before the password is the one to use.
    Files.writeString(Path.of(arguments[0], "password-is-set"), "");
    Thread.currentThread().join();
  }
}

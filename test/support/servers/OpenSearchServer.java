import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node of OpenSearch on 127.0.0.1, for tests: arguments are folder, port, port for nodes. */
public class OpenSearchServer {
  public static void main(String[] arguments) throws Exception {
    OpenSearchRunner runner = new OpenSearchRunner();
    runner.onBuild(
        (index, settings) -> {
          settings.put("network.host", "127.0.0.1");
          settings.put("http.port", arguments[1]);
          settings.put("transport.port", arguments[2]);
          settings.put("discovery.type", "single-node");
          settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        });
    runner.build(
        OpenSearchRunner.newConfigs()
            .basePath(arguments[0])
            .clusterName("annals-test-" + arguments[1])
            .numOfNode(1));
    Thread.currentThread().join();
  }
}

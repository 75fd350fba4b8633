// Sends the life of a run, and a dataset and a job without one, with the client of OpenLineage.

import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.OpenLineageClient;
import io.openlineage.client.transports.HttpConfig;
import io.openlineage.client.transports.HttpTransport;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

public class Producer {
  public static void main(String[] args) throws Exception {
    URI producer = URI.create("https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/java");
    OpenLineage ol = new OpenLineage(producer);
    HttpConfig config = new HttpConfig();
    config.setUrl(URI.create(args[0]));
    OpenLineageClient client = new OpenLineageClient(new HttpTransport(config));
    String namespace = "postgres://db:5432";

    OpenLineage.Run run = ol.newRunBuilder().runId(UUID.fromString(args[1])).build();
    OpenLineage.Job job =
        ol.newJobBuilder()
            .namespace("shop")
            .name("java.load")
            .facets(
                ol.newJobFacetsBuilder()
                    .documentation(ol.newDocumentationJobFacetBuilder().description("Loads").build())
                    .build())
            .build();
    OpenLineage.InputDataset orders =
        ol.newInputDatasetBuilder().namespace(namespace).name("shop.public.orders").build();
    OpenLineage.OutputDataset revenue =
        ol.newOutputDatasetBuilder()
            .namespace(namespace)
            .name("shop.mart.of_java")
            .facets(
                ol.newDatasetFacetsBuilder()
                    .schema(
                        ol.newSchemaDatasetFacetBuilder()
                            .fields(
                                List.of(
                                    ol.newSchemaDatasetFacetFieldsBuilder()
                                        .name("amount")
                                        .type("int")
                                        .build()))
                            .build())
                    .build())
            .build();
    ZonedDateTime time = ZonedDateTime.parse("2026-03-02T06:00:00Z");
    client.emit(
        ol.newRunEventBuilder()
            .eventType(EventType.START)
            .eventTime(time)
            .run(run)
            .job(job)
            .inputs(List.of(orders))
            .build());
    client.emit(
        ol.newRunEventBuilder()
            .eventType(EventType.COMPLETE)
            .eventTime(time.plusMinutes(15))
            .run(run)
            .job(job)
            .outputs(List.of(revenue))
            .build());
    client.emit(
        ol.newDatasetEventBuilder()
            .eventTime(time)
            .dataset(
                ol.newStaticDatasetBuilder().namespace(namespace).name("shop.mart.static").build())
            .build());
    client.emit(ol.newJobEventBuilder().eventTime(time).job(job).build());
    client.close();
  }
}

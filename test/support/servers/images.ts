/** The images of the servers, for both tests in containers and docker/cluster.yaml. */
import type { StoreName } from "../stores.ts";

export const images: Readonly<Record<StoreName, string>> = {
  postgres: "postgres:17.11",
  kafka: "apache/kafka:4.2.1",
  neo4j: "neo4j:5.26.25-community",
  elasticsearch: "docker.elastic.co/elasticsearch/elasticsearch:8.19.0",
  opensearch: "opensearchproject/opensearch:2.19.1",
  eventstoredb: "eventstore/eventstore:24.10.5",
};

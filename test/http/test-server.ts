/** A server on a recording catalog, with the defaults of most tests. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import type { ServerMetrics } from "../../src/http/hooks/metrics.ts";
import { createHttpServer, type HttpServerConfig } from "../../src/http/http-server.ts";
import type { StreamLimits } from "../../src/http/response/streams.ts";
import type { WebApp } from "../../src/http/web/web-routes.ts";
import { createRecordingCatalog, type RecordingCatalog } from "./recording-catalog.ts";
import { createRecordingOperations } from "./recording-operations.ts";

export interface TestServer {
  readonly app: FastifyInstance;
  readonly catalog: RecordingCatalog;
  readonly operations: ReturnType<typeof createRecordingOperations>;
  /** The requests that were counted. */
  readonly observed: Parameters<ServerMetrics["observe"]>[0][];
  /** The lines of the log: fields and message. */
  readonly log: (readonly [fields: Record<string, unknown>, message: string])[];
}

export const testConfig: HttpServerConfig = {
  bodyBytesMax: 4096,
  actorHeaderTrusted: true,
  writeAuthorization: false,
  urnNamespace: "li",
  recordPrefix: "com.linkedin",
  version: "0.1.0",
  modelFingerprint: "model-1",
  entities: [
    {
      name: "dataset",
      key: ["platform", "name", "origin"],
      aspects: [
        { name: "datasetKey", timeseries: false },
        { name: "ownership", timeseries: false },
        { name: "datasetProfile", timeseries: true },
      ],
    },
    {
      name: "tag",
      key: ["name"],
      aspects: [
        { name: "tagKey", timeseries: false },
        { name: "tagProperties", timeseries: false, schema: () => ({ type: "object" }) },
      ],
    },
  ],
};

/** Headers with the admin token. */
export const asOperator = { authorization: "Bearer for-tests" };

export function openTestServer(
  config: Partial<HttpServerConfig> = {},
  now: () => number = () => 1_772_409_600_000,
  streamLimits?: StreamLimits,
  web?: WebApp,
): TestServer {
  const catalog = createRecordingCatalog();
  const operations = createRecordingOperations();
  const log: TestServer["log"] = [];
  const observed: TestServer["observed"] = [];
  const app = createHttpServer({
    catalog,
    operations,
    metrics: { text: async () => "annals_log_position 7\n", observe: (one) => observed.push(one) },
    admitsOperator: (authorization) => authorization === asOperator.authorization,
    config: { ...testConfig, ...config },
    logger: { error: (fields, message) => log.push([fields as Record<string, unknown>, message]) },
    streamLimits,
    web,
    now,
  });
  return { app, catalog, operations, log, observed };
}

/** Sends a request unchanged, and reads until the service closes the connection. */
export async function exchangeWith({ app }: TestServer, request: string) {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  let text = "";
  socket.on("data", (more) => {
    text += more;
  });
  socket.write(request);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

/** An error body with the expected message. */
export const rejection = (status: number, code: string, message: unknown): object => ({
  status,
  message,
  exceptionClass: "com.linkedin.restli.server.RestLiServiceException",
  code,
});

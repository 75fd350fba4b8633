/** A collector that receives traces over OTLP/HTTP, as JSON, and stores them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 means an error. */
  readonly status: number;
  readonly service: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  readonly paths: ReadonlySet<string>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const attributesOf = (attributes: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const paths = new Set<string>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    paths.add(`${request.method} ${request.url} ${request.headers["content-type"]}`);
    const body = JSON.parse(Buffer.concat(parts).toString());
    for (const { resource, scopeSpans } of body.resourceSpans) {
      for (const scope of scopeSpans) {
        for (const span of scope.spans) {
          spans.push({
            ...span,
            attributes: attributesOf(span.attributes),
            status: span.status?.code ?? 0,
            service: attributesOf(resource.attributes),
          });
        }
      }
    }
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

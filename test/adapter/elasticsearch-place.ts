/**
 * The location of a view in Elasticsearch or OpenSearch for a test: under a name of its own, in a
 * server that all tests share.
 */
import { randomUUID } from "node:crypto";
import { Client, SniffingTransport } from "@elastic/elasticsearch";
import type { ServerAddress } from "../../src/storage/view-origin.ts";

interface Closable {
  close(outcome?: "keep" | "discard"): Promise<void>;
}

type Address = Pick<ServerAddress, "url">;

/** The URL in the form of the settings: OpenSearch has its own scheme. */
export const addressOf = (store: "elasticsearch" | "opensearch", url: string): string =>
  store === "opensearch" ? url.replace(/^http/, "opensearch+http") : url;

/** The client, for changes of a test without the adapter. */
export function rawClient({ url }: Address): Client {
  const node = url.replace(/^opensearch\+/, "");
  return new Client({ node, ...(node !== url && { Transport: PlainTransport }) });
}

class PlainTransport extends SniffingTransport {
  constructor(options: ConstructorParameters<typeof SniffingTransport>[0]) {
    const { productCheck: _, ...others } = options;
    const jsonContentType = "application/json";
    const ndjsonContentType = "application/x-ndjson";
    super({
      ...others,
      vendoredHeaders: { jsonContentType, ndjsonContentType, accept: jsonContentType },
    });
  }
}

/** `change`: runs statements of the harness without the view. */
export const createElasticsearchPlace =
  <S extends Closable, R extends Closable>(
    url: string,
    open: {
      openSink(place: ServerAddress): Promise<S>;
      openReader(place: ServerAddress): Promise<R>;
      change(statements: string, client: Client, name: string): Promise<void>;
    },
  ) =>
  async () => {
    const place: ServerAddress = { url, name: `t${randomUUID().replaceAll("-", "").slice(0, 12)}` };
    const client = rawClient(place);
    let abandoned: S[] = [];
    let sink: S | undefined;

    return {
      place,
      client,
      async openSink() {
        sink = await open.openSink(place);
        return sink;
      },
      openReader: () => open.openReader(place),
      change: (statements: string) => open.change(statements, client, place.name),
      /** A killed process leaves the server unchanged. */
      async crash() {
        if (sink !== undefined) abandoned.push(sink);
      },
      async remove() {
        for (const lost of abandoned) await lost.close();
        abandoned = [];
        const indices = Object.keys(await client.indices.getAlias({ index: `${place.name}.*` }));
        for (let from = 0; from < indices.length; from += 20) {
          await client.indices.delete({ index: indices.slice(from, from + 20) });
        }
        await client.close();
      },
    };
  };

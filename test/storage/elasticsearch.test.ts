import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bulk } from "../../src/storage/elasticsearch/bulk.ts";
import { connect } from "../../src/storage/elasticsearch/client.ts";
import { namesOf, partitionOf } from "../../src/storage/elasticsearch/names.ts";

describe("index names", () => {
  const parts = fc.array(fc.string({ unit: "binary", maxLength: 120 }), {
    minLength: 2,
    maxLength: 2,
  });

  test("index names of different partitions differ, and are valid for a server", () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const [left, right] = [partitionOf(...one), partitionOf(...other)];
        expect(left === right).toBe(one.join("\0") === other.join("\0"));
        expect(left).toMatch(/^[a-z0-9._-]+$/);
        const names = namesOf("annals", "timeseries");
        expect(names.index(1, left).length).toBeLessThan(255);
        expect(names.parse(names.index(12, left))).toEqual({ generation: 12, partition: left });
      }),
    );
  });

  test.each([
    [["dataset", "datasetProfile"], "dataset.dataset_profile"],
    [["dataset", "dataset_profile"], "dataset.dataset-5fprofile"],
    [["a.b", "Ä", ""], "a-2eb.-c3-84.-"],
  ])("the index name of %j contains %s", (given, place) => {
    expect(partitionOf(...given)).toBe(place);
  });

  test("names of other views and catalogs are not parsed", () => {
    const names = namesOf("annals", "search");
    for (const index of [
      "annals.searches.g1.a",
      "annals_b.search.g1.a",
      "annals.search.g1w.a",
      "annals.search.live.a",
      "annals.views.1",
    ]) {
      expect(names.parse(index)).toBeUndefined();
    }
  });
});

describe("a client of an Elasticsearch server", () => {
  type Reply = readonly [status: number, body: object];
  let server: Server;
  let replies: Reply[];
  let asked: string[];
  let url: string;
  const asker = { view: "search", setting: "ANNALS_SEARCH" };

  beforeEach(async () => {
    replies = [];
    asked = [];
    server = createServer(async (request, response) => {
      asked.push(await text(request));
      const [status, body] = replies.shift() ?? [200, {}];
      response.writeHead(status, {
        ...{ "content-type": "application/json", "x-elastic-product": "Elasticsearch" },
      });
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function asking<T>(work: (reached: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
    const reached = connect({ url }, asker);
    try {
      return await work(reached);
    } finally {
      await reached.close();
    }
  }

  const count = () => asking(({ send: ask }) => ask("read", (client) => client.count()));
  const busy: Reply = [503, { error: { type: "x", reason: "starting" } }];

  test("a busy server is asked three times in all", async () => {
    replies = [busy, [429, {}], [200, { count: 7 }]];
    expect(await count()).toMatchObject({ count: 7 });
    replies = [busy, busy, busy, [200, {}]];
    asked = [];
    await expect(count()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /"search" could not be read: elasticsearch at 127.* 503: starting/,
      ),
    });
    expect(asked).toHaveLength(3);
  });

  test.each([
    [401, "no", /right user and password in ANNALS_SEARCH/],
    [403, "action is unauthorized", /lacks a permission/],
    [429, "index [x] blocked by: disk usage exceeded flood-stage watermark", /disk is full/],
    [403, "index [x] blocked by: [FORBIDDEN/8/index write (api)]", /read-only/],
    [400, "this cluster currently has [9]/[9] maximum normal shards open", /no more shards/],
  ])(
    "a response %i, %s: the hint says what to do, and no message has a password",
    async (...row) => {
      const [status, reason, hint] = row;
      const type = reason.includes("blocked") ? "cluster_block_exception" : "x";
      replies = [[status, { error: { type, reason } }]];
      const error = await count().catch((failure) => failure);
      expect(error).toMatchObject({ code: "unavailable", hint: expect.stringMatching(hint) });
      expect(error.text).not.toContain("secret");
      expect(asked).toHaveLength(1);
    },
  );

  test("an unreachable server is named without its password", async () => {
    await new Promise((resolve) => server.close(resolve));
    const error = await count().catch((failure) => failure);
    expect(error).toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("ANNALS_SEARCH"),
    });
    expect(error.message).toContain("elasticsearch at 127.0.0.1:");
    expect(error.text).not.toContain("secret");
    server.listen(0);
  });

  test("a server of another product is reported as such", async () => {
    server.removeAllListeners("request");
    server.on("request", (_, response) => response.end("{}"));
    await expect(count()).rejects.toMatchObject({ hint: expect.stringContaining("opensearch+") });
  });

  test.each(["", "127.0.0.1:9200", "ftp://a", "http:/a", "opensearch://a"])(
    "the address %j is rejected",
    (address) => {
      expect(() => connect({ url: address }, asker)).toThrow("no valid address");
    },
  );

  test("only documents that the server was too busy for are sent again", async () => {
    const item = (status: number, type?: string) => ({
      index: { status, ...(type && { error: { type, reason: `${type} it is` } }) },
    });
    replies = [
      [
        200,
        {
          errors: true,
          items: [
            item(201),
            item(429, "es_rejected_execution_exception"),
            item(409, "version_conflict_engine_exception"),
            item(400, "document_parsing_exception"),
          ],
        },
      ],
      [200, { errors: false, items: [item(200)] }],
    ];
    const writes = ["a", "b", "c", "d"].map((id, n) => ({
      ...{ alias: "x", id, version: n, document: '{"n":1}' },
    }));
    const { skipped, failures } = await asking((reached) => bulk(reached, writes));
    expect(skipped.map(({ id }) => id)).toEqual(["c"]);
    expect(failures).toMatchObject([{ write: { id: "d" }, status: 400 }]);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toBe(
      '{"index":{"_index":"x","_id":"b","version":1,"version_type":"external_gte"}}\n{"n":1}\n',
    );
  });

  test("many documents are sent in bounded requests, each once", async () => {
    const large = JSON.stringify("x".repeat(1_500_000));
    const writes = Array.from({ length: 4_500 }, (_, n) => ({
      ...{ alias: "x", id: String(n), version: 1, document: n < 5 ? large : "{}" },
    }));
    await asking((reached) => bulk(reached, writes));
    const ids = asked.flatMap((body) => [...body.matchAll(/"_id":"(\d+)"/g)].map(([, id]) => id));
    expect(ids.sort()).toEqual(writes.map(({ id }) => id).sort());
    for (const body of asked) expect(body.length).toBeLessThan(6_000_000);
    expect(asked.length).toBeGreaterThan(3);
  });
});

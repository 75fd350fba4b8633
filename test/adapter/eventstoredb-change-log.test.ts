/** The change log over the protocol of EventStoreDB: the contract, in this process and on a server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { appendBytesMaxByDefault } from "../../src/log/eventstoredb/connection-string.ts";
import { openEventStoreChangeLog } from "../../src/log/eventstoredb/eventstore-change-log.ts";
import { type ChangeLogHarness, changeLogContract } from "../contract/change-log.contract.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { reachStore, storeTitle } from "../support/stores.ts";

/** A call for several streams is one append for each: the server is atomic for one stream only. */
const supports = {
  atomicAcrossStreams: false,
  gaplessPositions: false,
  idsUnderAnyExpectation: true,
  orderAcrossStreams: false,
};

/**
 * A record of a stream such as "a" is an event of the type CatalogRecord, whose size counts too.
 */
const TYPE_BYTES = 2 * "CatalogRecord".length;

const harness = (address: () => string, appendBytesMax: number): ChangeLogHarness => ({
  async createPlace() {
    const prefix = `${randomUUID()}-`;
    return {
      open: () => openEventStoreChangeLog({ connection: address(), prefix }),
      remove: async () => undefined,
    };
  },
  recordBytesMax: appendBytesMax - TYPE_BYTES,
  appendBytesMax,
  supports,
});

describe("eventstoredb protocol (in process)", () => {
  const max = 8 * 1024 * 1024;
  let server: EventStoreServer;
  beforeAll(async () => {
    server = await startEventStoreServer({ appendBytesMax: max });
  });
  afterAll(() => server.stop());

  changeLogContract(
    "eventstoredb protocol (in process)",
    harness(() => `${server.address}&maxAppendSize=${max}`, max),
  );
});

const store = await reachStore("eventstoredb");
const url = "skipped" in store ? "" : store.url;
const given = /[?&]maxAppendSize=(\d+)/i.exec(url)?.[1];

// The title says why the suite is skipped without a server.
describe.skipIf("skipped" in store)(storeTitle("eventstoredb", store), () => {
  changeLogContract(
    storeTitle("eventstoredb", store),
    harness(() => url, Number(given ?? appendBytesMaxByDefault)),
  );
});

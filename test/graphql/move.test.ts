/** Nothing comes to lie below itself, however many move at once, on one node or on two of one log. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask } from "./graphql-client.ts";

const ROUNDS = 8;
const SETTLED_MS_MAX = 30_000;

interface Kind {
  readonly type: string;
  readonly create: string;
  readonly move: string;
  readonly aspect: string;
  readonly field: string;
}
const domains: Kind = {
  ...{ type: "domain", create: "createDomain(input: {id: $id, name: $id})" },
  move: "moveDomain(input: {resourceUrn: $urn, parentDomain: $parent})",
  ...{ aspect: "domainProperties", field: "parentDomain" },
};
const nodes: Kind = {
  ...{ type: "glossaryNode", create: "createGlossaryNode(input: {id: $id, name: $id})" },
  move: "updateParentNode(input: {resourceUrn: $urn, parentNode: $parent})",
  ...{ aspect: "glossaryNodeInfo", field: "parentNode" },
};

let log: EventStoreServer;
let one: RunningService;
let other: RunningService;
beforeAll(async () => {
  log = await startEventStoreServer();
  [one, other] = [
    await runningService({ log: log.address }),
    await runningService({ log: log.address }),
  ];
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await log?.stop();
});

let made = 0;
async function make({ type, create }: Kind, count: number): Promise<string[]> {
  const urns: string[] = [];
  for (let i = 0; i < count; i++) {
    const id = `n${made++}`;
    const { body } = await ask(one.client, `mutation($id: String!) { ${create} }`, { id });
    expect(body.errors).toBeUndefined();
    urns.push(`urn:li:${type}:${id}`);
  }
  return urns;
}

/** Each under the next, the last under the first; how each went. */
async function ring(kind: Kind, urns: readonly string[], services: readonly RunningService[]) {
  const query = `mutation($urn: String!, $parent: String) { ${kind.move} }`;
  const answers = await Promise.all(
    urns.map((urn, i) => {
      const parent = urns[(i + 1) % urns.length];
      const { client } = services[i % services.length] as RunningService;
      return ask(client, query, { urn, parent });
    }),
  );
  return answers.map(({ body }) => body.errors?.[0]?.extensions.code ?? "moved");
}

async function parentOf(kind: Kind, urn: string, { client }: RunningService) {
  const { body } = await client.call("GET", `/entitiesV2/${encoded(urn)}`);
  return body.aspects[kind.aspect].value[kind.field] as string | undefined;
}

async function goesRound(kind: Kind, urns: readonly string[], service: RunningService) {
  for (const start of urns) {
    let at: string | undefined = start;
    for (let step = 0; at !== undefined; step++) {
      if (step > urns.length) return true;
      at = await parentOf(kind, at, service);
    }
  }
  return false;
}

describe.each([
  ["domains", domains],
  ["glossary nodes", nodes],
])("%s that are moved at once", (_, kind) => {
  test.each([2, 3, 5])("in rings of %i make none on a node", async (count) => {
    for (let round = 0; round < ROUNDS; round++) {
      const urns = await make(kind, count);
      const went = await ring(kind, urns, [one]);
      // All but the last, whichever that was.
      expect(went.filter((how) => how === "moved")).toHaveLength(count - 1);
      expect(await goesRound(kind, urns, one)).toBe(false);
    }
  });

  test("in rings of two make none on two nodes of a log", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const urns = await make(kind, 2);
      const there = async () => (await parentOf(kind, urns[1] ?? "", other)) === undefined;
      await expect.poll(there, { timeout: SETTLED_MS_MAX }).toBe(true);
      const went = await ring(kind, urns, [one, other]);
      expect(went).not.toEqual(["moved", "moved"]);
      for (const service of [one, other]) {
        const moved = async () => {
          const parents = await Promise.all(urns.map((urn) => parentOf(kind, urn, service)));
          return parents.map((parent) => parent !== undefined);
        };
        await expect
          .poll(moved, { timeout: SETTLED_MS_MAX })
          .toEqual(went.map((how) => how === "moved"));
      }
    }
  });
});

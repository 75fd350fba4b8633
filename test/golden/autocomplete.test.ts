/**
 * Autocompletion through the API: where many entities match alike, each distinct value is suggested
 * once, at any limit, and pages continue without gaps.
 */
import { afterEach, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (id: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${id},PROD)`;
const user = (id: string): string => `urn:li:corpuser:${id}`;
const stamp = { time: 1_772_409_600_000, actor: user("ann") };

interface Written {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly owner?: string;
}

let service: RunningService | undefined;
afterEach(async () => {
  await service?.[Symbol.asyncDispose]();
  service = undefined;
});

type Completed = readonly [suggestions: readonly string[], entities: readonly string[]];

/** Writes these datasets and returns a function that autocompletes among them. */
async function completingAmong(all: readonly Written[]) {
  const running = await runningService();
  service = running;
  const proposals = all.flatMap(({ id, name = id, description, owner }) => {
    const properties = { name, description, customProperties: {}, tags: [] };
    const owners = owner === undefined ? [] : [{ owner: user(owner), type: "DATAOWNER" }];
    return [
      proposal(dataset(id), "datasetProperties", properties),
      proposal(dataset(id), "ownership", { owners, lastModified: stamp }),
    ];
  });
  const { position } = await running.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  return async (query: string, more: object = {}): Promise<Completed> => {
    const { status, body } = await running.client.call(
      "POST",
      "/entities?action=autocomplete",
      { entity: "dataset", query, ...more },
      { "X-Annals-Min-Position": String(position) },
    );
    expect(status).toBe(200);
    const { suggestions, entities } = body.value;
    return [suggestions, entities.map(({ urn }: { readonly urn: string }) => urn)];
  };
}

const times = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const limits = [1, 2, 5, 10, 1_000];

describe("autocompletion of one field", () => {
  const orders = times(120, (i) => ({
    ...{ id: `order_${i}`, description: "abc", owner: "martina" },
  }));

  test("a rare value is suggested although many entities match in other fields or inside words", async () => {
    const x = { id: "x", description: "ordinal numbers", owner: "ina" };
    const complete = await completingAmong([...orders, x]);
    for (const limit of limits) {
      const described = await complete("ord", { field: "description", limit });
      expect(described).toEqual([["ordinal numbers"], [dataset("x")]]);
      const owned = await complete("ina", { field: "owners", limit });
      expect(owned).toEqual([[user("ina")], [dataset("x")]]);
    }
  });

  test.each([
    ["ord", "Numbers (ordinal)"],
    ["ord", "first; ordinal"],
    ["ord", "inOrder"],
    ["numb ord", "Ordinal numbers"],
    ["creme", "Crème Brûlée"],
    ["créme", "Crème Brûlée"],
  ])(
    "the query %s suggests %s among many entities that match in other ways",
    async (query, description) => {
      const others = times(120, (i) => {
        return { id: `creme_order_number_${i}`, description: "accords are no cucumbers" };
      });
      const complete = await completingAmong([...others, { id: "x", description }]);
      for (const limit of [1, 5]) {
        const answer = await complete(query, { field: "description", limit });
        expect(answer).toEqual([[description], [dataset("x")]]);
      }
    },
  );

  test("start counts the entities that have a suggestion", async () => {
    const complete = await completingAmong([
      ...times(5, (i) => ({ id: `a${i}`, owner: "martina" })),
      ...times(4, (i) => ({ id: `x${i}`, owner: `ina${i}` })),
    ]);
    const pages = [];
    for (const start of [0, 2, 3, 5]) {
      pages.push(await complete("ina", { field: "owners", start, limit: 2 }));
    }
    const of = (...numbers: readonly number[]) => [
      numbers.map((i) => user(`ina${i}`)),
      numbers.map((i) => dataset(`x${i}`)),
    ];
    expect(pages).toEqual([of(0, 1), of(2, 3), of(3), of()]);
  });
});

describe("autocompletion of names", () => {
  const sales = times(30, (i) => ({ id: `s${String(i).padStart(2, "0")}`, name: "sales" }));
  const daily = { id: "t", name: "sales_daily" };
  const urns = sales.map(({ id }) => dataset(id));

  test("the name after many equal names is suggested, with an entity of each name", async () => {
    const complete = await completingAmong([...sales, daily]);
    for (const limit of [2, 5, 10]) {
      expect(await complete("sal", { limit })).toEqual([
        ["sales", "sales_daily"],
        [...urns.slice(0, limit - 1), dataset("t")],
      ]);
    }
    expect(await complete("sal", { limit: 1 })).toEqual([["sales"], urns.slice(0, 1)]);
    expect(await complete("sal", { limit: 0 })).toEqual([[], []]);
  });

  test("a name in another letter case is a suggestion of its own", async () => {
    const complete = await completingAmong([...sales, { id: "t", name: "Sales" }]);
    expect((await complete("sal", { limit: 5 }))[0]).toEqual(["sales", "Sales"]);
  });

  test("start counts the entities before the page", async () => {
    const complete = await completingAmong([...sales, daily]);
    const at = (start: number) => complete("sal", { start, limit: 3 });
    const both = ["sales", "sales_daily"];
    expect(await at(3)).toEqual([both, [...urns.slice(3, 5), dataset("t")]]);
    expect(await at(29)).toEqual([both, [urns[29], dataset("t")]]);
    expect(await at(30)).toEqual([["sales_daily"], [dataset("t")]]);
    expect(await at(31)).toEqual([[], []]);
    expect(await at(10_000)).toEqual([[], []]);
  });
});

test("a urn prefix suggests urns, also for entities with other names", async () => {
  const complete = await completingAmong([
    { id: "shop.orders", name: "Orders" },
    { id: "shop.order_lines", name: "Lines" },
    { id: "mail.urn_li", name: "urn li dataset" },
  ]);
  const [orders, lines] = [dataset("shop.orders"), dataset("shop.order_lines")];
  for (const typed of [orders, ` ${orders}`, orders.slice(0, -3), orders.slice(0, -6)]) {
    expect(await complete(typed, { limit: 5 })).toEqual([[orders], [orders]]);
  }
  const begun = await complete("urn:li:dataset:(urn:li:dataPlatform:hive,shop.ord", { limit: 5 });
  expect(begun).toEqual([
    [lines, orders],
    [lines, orders],
  ]);
  expect((await complete("urn", { limit: 5 }))[0]).toEqual(["urn li dataset"]);
});

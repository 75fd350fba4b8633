/** Answers of GraphQL that are larger than memory or a text may be. */
import { expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { createEntityLoader } from "../../src/graphql/entity-loader.ts";
import { runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";

const MiB = 1024 * 1024;
const urn = (n: number) => `urn:li:tag:t${n}`;
const many = (count: number) => Array.from({ length: count }, (_, n) => urn(n));

/** Of entities with one aspect, of a value of so many bytes. */
function loading(bytes: number, error?: CatalogError) {
  const asked: number[] = [];
  let acquired = 0;
  const acquireSlot = async () => {
    acquired++;
  };
  const aspect = { name: "tagProperties", value: " ".repeat(bytes) };
  const catalog = {
    findEntities: async (urns: readonly string[]) => {
      asked.push(urns.length);
      if (error !== undefined) throw error;
      return urns.map((one) => ({ urn: one, exists: true, aspects: [aspect] }));
    },
    findAspect: async () => {
      asked.push(1);
      return aspect;
    },
  } as unknown as Parameters<typeof createEntityLoader>[0];
  const loader = createEntityLoader(catalog, acquireSlot);
  return { loader, asked, acquired: () => acquired };
}

test("lookups of one level of a query share one read, and each entity is read once", async () => {
  const { loader, asked } = loading(1);
  await Promise.all([...many(1_000), ...many(10)].map((one) => loader.load(one)));
  await Promise.all(many(1_005).map((one) => loader.load(one)));
  expect(asked).toEqual([1_000, 5]);
});

test("entities are loaded until they exceed the memory limit of a request", async () => {
  const { loader, asked } = loading(MiB);
  const loads = await Promise.allSettled(many(2_500).map((one) => loader.load(one)));
  expect(asked).toEqual([1_000]);
  expect(loads.filter(({ status }) => status === "fulfilled")).toHaveLength(1_000);
  expect(loads.at(-1)).toMatchObject({ status: "rejected", reason: { code: "too_large" } });
  await expect(loader.load("urn:li:tag:later")).rejects.toMatchObject({ code: "too_large" });
});

test("values of earlier versions count towards the memory limit", async () => {
  const { loader, asked } = loading(40 * MiB);
  const value = (version: number) => loader.version(urn(1), "tagProperties", version);
  for (const version of [1, 2, 3]) expect((await value(version))?.value).toHaveLength(40 * MiB);
  await loader.load(urn(1));
  const tooLarge = { code: "too_large" };
  await expect(value(4)).rejects.toMatchObject(tooLarge);
  await expect(loader.load(urn(2))).rejects.toMatchObject(tooLarge);
  expect(asked).toHaveLength(4);
});

test("a request waits for a slot before it parses more than a megabyte", async () => {
  const { loader, acquired } = loading(600 * 1024);
  await loader.load(urn(1));
  expect(acquired()).toBe(0);
  await loader.load(urn(2));
  expect(acquired()).toBe(1);
  await loader.version(urn(1), "tagProperties", 1);
  expect(acquired()).toBe(2);
});

test("large requests at the same time are all answered, also after rejected ones", async () => {
  await using service = await runningService();
  const description = "x".repeat(2 * MiB);
  await service.client.upsert(urn(1), "tagProperties", { name: "large", description });
  const query = (field: string) => `{ tag(urn: "${urn(1)}") { properties { ${field} } } }`;
  const wrong = `${query("description")} mutation m { deleteTag(urn: "${urn(2)}") }`;
  const replies = await Promise.all(
    [query("description"), wrong, query("name description"), query("unknown")].map((one) =>
      ask(service.client, one),
    ),
  );
  expect(replies[0]?.body.data.tag.properties.description).toHaveLength(2 * MiB);
  expect(faultOf(replies[1] as (typeof replies)[number])).toBeDefined();
  expect(replies[2]?.body.data.tag.properties.description).toHaveLength(2 * MiB);
  expect(faultOf(replies[3] as (typeof replies)[number])).toBeDefined();
  const last = await ask(service.client, query("name"));
  expect(last.body.data.tag.properties.name).toBe("large");
});

test("entities that are too large together are not loaded one by one", async () => {
  const { loader, asked } = loading(1, new CatalogError("too_large", "too much"));
  const loads = await Promise.allSettled(many(50).map((one) => loader.load(one)));
  expect(asked).toEqual([50]);
  expect(loads.every(({ status }) => status === "rejected")).toBe(true);
});

test("a response with many copies of large texts is a client error", async () => {
  await using service = await runningService();
  const description = "x".repeat(6 * MiB);
  await service.client.upsert(urn(1), "tagProperties", { name: "large", description });
  const told = (times: number) =>
    ask(
      service.client,
      `{ tag(urn: "${urn(1)}") { ${Array.from({ length: times }, (_, n) => `p${n}: properties { description }`).join(" ")} } }`,
    );
  const well = await told(2);
  expect(well.body.data.tag.p1.description).toHaveLength(6 * MiB);
  const reply = await told(12);
  expect(reply.status).toBe(200);
  expect(faultOf(reply)).toMatchObject({
    message: expect.stringContaining("more than 67108864 characters"),
    extensions: { code: 400 },
  });
});

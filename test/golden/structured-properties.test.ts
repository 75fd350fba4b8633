/**
 * Structured properties over HTTP: values that do not fit their definitions, and definitions
 * that would make values wrong, are refused, and nothing is written.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let count = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service[Symbol.asyncDispose]());

const table = () => `urn:li:dataset:(urn:li:dataPlatform:hive,props.t${++count},PROD)`;
const property = () => `urn:li:structuredProperty:io.p${++count}`;
const definition = (urn: string, more: object = {}) =>
  proposal(urn, "propertyDefinition", {
    qualifiedName: urn.split(":")[3],
    valueType: "urn:li:dataType:datahub.string",
    entityTypes: ["urn:li:entityType:datahub.dataset"],
    ...more,
  });
const NUMBER = { valueType: "urn:li:dataType:datahub.number" };
const removed = (urn: string, is = true) => proposal(urn, "status", { removed: is });
const entry = (propertyUrn: string, ...values: readonly object[]) => ({ propertyUrn, values });
const string = (text: string) => ({ string: text });
const told = (urn: string, ...properties: readonly object[]) =>
  proposal(urn, "structuredProperties", { properties });
const patch = (urn: string, aspect: string, operations: unknown) =>
  proposal(urn, aspect, operations, { changeType: "PATCH" });
const added = (urn: string, assignment: { propertyUrn: string }) =>
  patch(urn, "structuredProperties", [
    { op: "add", path: `/properties/${assignment.propertyUrn}`, value: assignment },
  ]);

const ingest = (...proposals: readonly object[]) =>
  service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
async function aspectOf(urn: string, aspect: string) {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}?aspects=List(${aspect})`);
  return body.aspects?.[aspect]?.value;
}
async function taken(...proposals: readonly object[]) {
  const reply = await ingest(...proposals);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}
/** Nothing comes into the log, whichever way one looks at its end. */
async function refused(message: string, ...proposals: readonly object[]) {
  const mark = async () => (await ingest(removed("urn:li:tag:mark", false))).position ?? NaN;
  const before = await mark();
  const reply = await ingest(...proposals);
  expect(reply).toMatchObject({ status: 422, body: { code: "invalid" } });
  expect(reply.body.message).toContain(message);
  expect(await mark()).toBe(before + 1);
}

describe("values", () => {
  test("that do not fit their definition are refused", async () => {
    const [single, number, gone] = [property(), property(), property()];
    await taken(
      definition(single, { allowedValues: [{ value: string("gold") }, { value: string("tin") }] }),
      definition(number, { ...NUMBER, cardinality: "MULTIPLE" }),
      definition(gone),
      removed(gone),
    );
    const urn = table();
    await taken(told(urn, entry(single, string("gold")), entry(number, { double: 1 })));
    const wrong: [string, ReturnType<typeof entry>][] = [
      ["has cardinality 1, but multiple", entry(single, string("gold"), string("tin"))],
      ['should be one of "gold", "tin"', entry(single, string("iron"))],
      ["should be a number", entry(number, string("many"))],
      ["Cannot apply a soft deleted", entry(gone, string("x"))],
    ];
    for (const [message, assignment] of wrong) {
      await refused(message, told(urn, assignment));
      await refused(message, told(table(), assignment));
      await refused(message, added(urn, assignment));
      await refused(`proposals[1]: `, removed(urn, false), added(table(), assignment));
    }
    const twice = [entry(single, string("gold")), entry(single, string("tin"))];
    await refused("has multiple entries", told(urn, ...twice));
  });

  test("are held against what the request tells of their definition", async () => {
    const [first, later] = [property(), property()];
    const wrong = (urn: string) => told(table(), entry(urn, string("many")));
    const right = (urn: string) => told(table(), entry(urn, { double: 1 }));
    await refused("proposals[1]: property", definition(first, NUMBER), wrong(first));
    await refused("should be a number", wrong(first), definition(first, NUMBER));
    await taken(right(first), definition(first, NUMBER));
    await refused("soft deleted", removed(first), right(first));
    await taken(right(first), removed(first));
    await taken(removed(first, false), right(first));

    await taken(definition(later));
    const several = patch(later, "propertyDefinition", [
      { op: "add", path: "/cardinality", value: "MULTIPLE" },
    ]);
    const both = told(table(), entry(later, string("a"), string("b")));
    await refused("has cardinality 1", both, several);
    await taken(several, both);
  });

  test("that are there already may be told again after the definition has gone", async () => {
    const [kept, other] = [property(), property()];
    const urn = table();
    await taken(definition(kept), definition(other), told(urn, entry(kept, string("x"))));
    await taken(removed(kept));
    await taken(told(urn, entry(kept, string("x"))));
    await taken(added(urn, entry(other, string("y"))));
    await refused("soft deleted", added(urn, entry(kept, string("z"))));
    expect((await aspectOf(urn, "structuredProperties")).properties).toMatchObject([
      entry(kept, string("x")),
      entry(other, string("y")),
    ]);
    await taken(
      patch(urn, "structuredProperties", [{ op: "remove", path: `/properties/${kept}` }]),
    );
  });

  test("without a definition are dropped, and refused where none is left", async () => {
    const [defined, missing] = [property(), property()];
    const urn = table();
    await taken(definition(defined));
    await taken(told(urn, entry(defined, string("x")), entry(missing, { double: 1 })));
    expect((await aspectOf(urn, "structuredProperties")).properties).toHaveLength(1);
    await refused("no structured property", told(urn, entry(missing, string("x"))));
  });
});

describe("definitions", () => {
  test("keep the values right that were told of them", async () => {
    const urn = property();
    const before = { cardinality: "MULTIPLE", allowedValues: [{ value: string("a") }] };
    await taken(definition(urn, before), definition(urn, before));
    await refused("Value type cannot be changed", definition(urn, { ...before, ...NUMBER }));
    await refused("from MULTI to SINGLE", definition(urn, { ...before, cardinality: "SINGLE" }));
    await refused("fully qualified name", definition(urn, { ...before, qualifiedName: "other" }));
    await refused("Cannot restrict values", definition(urn, { ...before, allowedValues: [] }));
    const op = { op: "replace", path: "/valueType", value: NUMBER.valueType };
    await refused("Value type cannot be changed", patch(urn, "propertyDefinition", [op]));
    await refused(
      "proposals[1]: Value type",
      definition(urn, before),
      definition(urn, { ...before, ...NUMBER }),
    );
    await taken(definition(urn, { ...before, ...NUMBER, version: "20260731120000" }));
  });

  test("of removed properties stay as they are", async () => {
    const urn = property();
    await taken(definition(urn), removed(urn), definition(urn));
    await refused("Cannot mutate a soft deleted", definition(urn, { displayName: "Tier" }));
    await taken(removed(urn, false), definition(urn, { displayName: "Tier" }));
    expect(await aspectOf(urn, "propertyDefinition")).toMatchObject({ displayName: "Tier" });
  });
});

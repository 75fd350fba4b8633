/**
 * Structured properties over HTTP: values that do not match their definitions, and definitions that
 * would invalidate values, are rejected, and nothing is written.
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
const assigned = (urn: string, ...properties: readonly object[]) =>
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
async function accepted(...proposals: readonly object[]) {
  const reply = await ingest(...proposals);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}
/** Expects that the proposals are rejected and the log stays unchanged. */
async function rejected(message: string, ...proposals: readonly object[]) {
  const mark = async () => (await ingest(removed("urn:li:tag:mark", false))).position ?? NaN;
  const before = await mark();
  const reply = await ingest(...proposals);
  expect(reply).toMatchObject({ status: 422, body: { code: "invalid" } });
  expect(reply.body.message).toContain(message);
  expect(await mark()).toBe(before + 1);
}

describe("values of structured properties", () => {
  test("that do not match their definition are rejected", async () => {
    const [single, number, gone] = [property(), property(), property()];
    await accepted(
      definition(single, { allowedValues: [{ value: string("gold") }, { value: string("tin") }] }),
      definition(number, { ...NUMBER, cardinality: "MULTIPLE" }),
      definition(gone),
      removed(gone),
    );
    const urn = table();
    await accepted(assigned(urn, entry(single, string("gold")), entry(number, { double: 1 })));
    const wrong: [string, ReturnType<typeof entry>][] = [
      ["has cardinality 1, but multiple", entry(single, string("gold"), string("tin"))],
      ['should be one of "gold", "tin"', entry(single, string("iron"))],
      ["should be a number", entry(number, string("many"))],
      ["Cannot apply a soft deleted", entry(gone, string("x"))],
    ];
    for (const [message, assignment] of wrong) {
      await rejected(message, assigned(urn, assignment));
      await rejected(message, assigned(table(), assignment));
      await rejected(message, added(urn, assignment));
      await rejected(`proposals[1]: `, removed(urn, false), added(table(), assignment));
    }
    const twice = [entry(single, string("gold")), entry(single, string("tin"))];
    await rejected("has multiple entries", assigned(urn, ...twice));
  });

  test("are validated with the definitions of the same request", async () => {
    const [first, later] = [property(), property()];
    const wrong = (urn: string) => assigned(table(), entry(urn, string("many")));
    const right = (urn: string) => assigned(table(), entry(urn, { double: 1 }));
    await rejected("proposals[1]: property", definition(first, NUMBER), wrong(first));
    await rejected("should be a number", wrong(first), definition(first, NUMBER));
    await accepted(right(first), definition(first, NUMBER));
    await rejected("soft deleted", removed(first), right(first));
    await accepted(right(first), removed(first));
    await accepted(removed(first, false), right(first));

    await accepted(definition(later));
    const several = patch(later, "propertyDefinition", [
      { op: "add", path: "/cardinality", value: "MULTIPLE" },
    ]);
    const both = assigned(table(), entry(later, string("a"), string("b")));
    await rejected("has cardinality 1", both, several);
    await accepted(several, both);
  });

  test("that exist already may be written again after their definition was removed", async () => {
    const [kept, other] = [property(), property()];
    const urn = table();
    await accepted(definition(kept), definition(other), assigned(urn, entry(kept, string("x"))));
    await accepted(removed(kept));
    await accepted(assigned(urn, entry(kept, string("x"))));
    await accepted(added(urn, entry(other, string("y"))));
    await rejected("soft deleted", added(urn, entry(kept, string("z"))));
    expect((await aspectOf(urn, "structuredProperties")).properties).toMatchObject([
      entry(kept, string("x")),
      entry(other, string("y")),
    ]);
    await accepted(
      patch(urn, "structuredProperties", [{ op: "remove", path: `/properties/${kept}` }]),
    );
  });

  test("without a definition are dropped, and rejected when none is left", async () => {
    const [defined, missing] = [property(), property()];
    const urn = table();
    await accepted(definition(defined));
    await accepted(assigned(urn, entry(defined, string("x")), entry(missing, { double: 1 })));
    expect((await aspectOf(urn, "structuredProperties")).properties).toHaveLength(1);
    await rejected("no structured property", assigned(urn, entry(missing, string("x"))));
  });
});

describe("definitions of structured properties", () => {
  test("cannot change in a way that invalidates values", async () => {
    const urn = property();
    const before = { cardinality: "MULTIPLE", allowedValues: [{ value: string("a") }] };
    await accepted(definition(urn, before), definition(urn, before));
    await rejected("Value type cannot be changed", definition(urn, { ...before, ...NUMBER }));
    await rejected("from MULTI to SINGLE", definition(urn, { ...before, cardinality: "SINGLE" }));
    await rejected("fully qualified name", definition(urn, { ...before, qualifiedName: "other" }));
    await rejected("Cannot restrict values", definition(urn, { ...before, allowedValues: [] }));
    const op = { op: "replace", path: "/valueType", value: NUMBER.valueType };
    await rejected("Value type cannot be changed", patch(urn, "propertyDefinition", [op]));
    await rejected(
      "proposals[1]: Value type",
      definition(urn, before),
      definition(urn, { ...before, ...NUMBER }),
    );
    await accepted(definition(urn, { ...before, ...NUMBER, version: "20260731120000" }));
  });

  test("cannot change while they are soft-deleted", async () => {
    const urn = property();
    await accepted(definition(urn), removed(urn), definition(urn));
    await rejected("Cannot mutate a soft deleted", definition(urn, { displayName: "Tier" }));
    await accepted(removed(urn, false), definition(urn, { displayName: "Tier" }));
    expect(await aspectOf(urn, "propertyDefinition")).toMatchObject({ displayName: "Tier" });
  });
});

/**
 * `<field>:<value>` is an exact match (interface §4.6, rule 2) for any value, with or without
 * quotes, and filters that ignore letter case respect blanks at the ends of values.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const names = [
  "un)bal",
  "(all)",
  "((deep))",
  'say "hi"',
  '"all quoted"',
  "C:\\dir",
  "a AND b",
  "x OR y",
  "x && y",
  "[1 TO 5]",
  ">5",
  "<b>",
  "-minus",
  "two  blanks",
  "star*",
  "trailing ",
  "  lead",
  "\u00a0nbsp",
  "owner: me",
  "東京 (都)",
];
const tagOf = (n: number): string => `urn:li:tag:odd_${n}`;
const ODD_TAG = 'urn:li:tag:half open ( x"y';
const TAGGED = "urn:li:chart:(looker,odd)";

let service: RunningService;
let written = 0;

beforeAll(async () => {
  service = await runningService();
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals: [
      ...names.map((name, n) => proposal(tagOf(n), "tagProperties", { name })),
      proposal(TAGGED, "globalTags", { tags: [{ tag: ODD_TAG }] }),
    ],
  });
  expect(reply).toMatchObject({ status: 200 });
  written = reply.position ?? 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function found(entity: string, asked: object): Promise<readonly string[]> {
  const body = { entity, input: "*", start: 0, count: 100, ...asked };
  const position = { "X-Annals-Min-Position": String(written) };
  const reply = await service.client.call("POST", "/entities?action=search", body, position);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body.value.entities;
}

test.each(names.map((name, n) => [name, tagOf(n)]))(
  "name:%s matches the tag with this name",
  async (name, tag) => {
    expect(await found("tag", { input: `name:${name}` })).toContain(tag);
    expect(await found("tag", { input: `name:${name.toUpperCase()}` })).toContain(tag);
  },
);

test("a urn with blanks and an unbalanced bracket matches", async () => {
  expect(await found("chart", { input: `tags:${ODD_TAG}` })).toEqual([TAGGED]);
});

test("a value that no entity has matches nothing", async () => {
  for (const input of ["name:un(bal", "name:(al)", "name:trailing  x", `tags:${ODD_TAG}z`]) {
    expect(await found("tag", { input })).toEqual([]);
  }
});

test.each(["trailing ", "  lead", "\u00a0nbsp"])(
  "IEQUAL %j matches the value with its blanks",
  async (name) => {
    const filter = (value: string) => ({
      filter: { or: [{ and: [{ field: "name", condition: "IEQUAL", value }] }] },
    });
    const tag = tagOf(names.indexOf(name));
    expect(await found("tag", filter(name))).toEqual([tag]);
    expect(await found("tag", filter(name.toUpperCase()))).toEqual([tag]);
  },
);

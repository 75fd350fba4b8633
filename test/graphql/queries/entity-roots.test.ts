/** Queries of entities by urn and of what surrounds them return golden answers; no root lacks one. */
import { parse, visit } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rules } from "../../../src/graphql/schema/root-fields.ts";
import { type RunningService, runningService } from "../../support/running-service.ts";
import { asActor, ask, faultOf, makeToken, ROOT } from "../graphql-client.ts";
import { createdTokens, queries, rejected, tokenQueries, writeEntities } from "./entity-roots.ts";
import { queries as others } from "./root-queries.ts";

let service: RunningService;
let position = 0;
beforeAll(async () => {
  service = await runningService();
  position = await writeEntities(service.client);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string, variables = {}) {
  const headers = { ...asActor(ROOT), "X-Annals-Min-Position": String(position) };
  const { body } = await ask(service.client, query, variables, headers);
  expect(body.errors, query).toBeUndefined();
  return body.data;
}

test.each(Object.keys(queries))("roots of %s have their golden answers", async (name) => {
  expect(await data(queries[name] ?? "")).toMatchSnapshot();
});

test("roots of tokens have their golden answers", async () => {
  const { token } = await makeToken(service.client);
  const read = await data(tokenQueries, { token });
  expect({ ...read, ...(await data(createdTokens)) }).toMatchSnapshot();
});

test("roots without data return errors", async () => {
  for (const query of rejected) {
    expect(faultOf(await ask(service.client, query))?.message, query).toBeTypeOf("string");
  }
});

test("every root has a golden answer", () => {
  const asked = new Set<string>();
  const all = [
    ...Object.values(queries),
    ...Object.values(others),
    tokenQueries,
    createdTokens,
    ...rejected,
  ];
  for (const query of all) {
    visit(parse(query), {
      OperationDefinition: ({ selectionSet }) => {
        for (const one of selectionSet.selections) if ("name" in one) asked.add(one.name.value);
      },
    });
  }
  expect(Object.keys(rules.Query).filter((root) => !asked.has(root))).toEqual([]);
});

/**
 * Recorded GraphQL requests of DataHub, replayed in order with the tokens and ids of this service.
 * Responses contain everything recorded, except for the listed differences.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { recordings as all } from "./recordings.ts";
import { missingFrom } from "./superset.ts";

const recordings = all.filter(({ request }) => request.path === "/api/graphql");

const listedAtOnce = "a token is listed as soon as it is made; the reference's index lagged behind";
const ownLocations = "validation names the location of the value, DataHub that of the argument";

/**
 * Differences by the recording's name: the cause, and the place (all of the response without `at`).
 */
const differences: Readonly<Record<string, { readonly why: string; readonly at?: RegExp }>> = {
  "graphql list by ownerUrn": { why: listedAtOnce, at: /total|tokens/ },
  "graphql list by actorUrn": { why: listedAtOnce, at: /total|tokens/ },
  "graphql list all": { why: listedAtOnce, at: /total|tokens/ },
  "graphql list after create": { why: listedAtOnce, at: /total|tokens/ },
  "graphql list value": { why: "`value` counts beside `values`" },
  "graphql create bad duration": { why: ownLocations, at: /locations/ },
  "graphql not json": { why: "the body says what is wrong" },
  "graphql no query": { why: "the body says what is wrong" },
};

/** Ids of the recorded server, which the test replaces by its own. */
const recordedIds = [
  "JJiAqUsZYCdXDfKP+XkOMDciK8Itu32o7ON7O4d6GGA=",
  "yz7dpVNdylUYvjT5/ip5U3UBlf+XfeHK8EPYDAirduw=",
];
const ofTheRun = /createdAt|expiresAt|accessToken:/;

let service: RunningService;
const ids = new Map<string, string>();
let token = "";
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

function translated<T>(value: T): T {
  let text = JSON.stringify(value).replaceAll("<jwt>", token);
  for (const [recorded, own] of ids) text = text.replaceAll(recorded, own);
  return JSON.parse(text);
}

describe("GraphQL responses contain everything recorded from DataHub:", () => {
  test("there are recordings of every operation", () => {
    expect(recordings.length).toBeGreaterThan(15);
    const names = new Set(recordings.map(({ name }) => name));
    expect(Object.keys(differences).filter((name) => !names.has(name))).toEqual([]);
  });

  for (const { name, request, response } of recordings) {
    test(name, async () => {
      const { method, path, headers, body } = request;
      const sent = typeof body === "string" ? body : translated(body);
      const reply = await service.client.call(method, path, sent, { ...headers });
      expect(reply.status).toBe(response.status);
      const made = reply.body.data?.createAccessToken;
      if (made) {
        const id = recordedIds[ids.size];
        if (id !== undefined) ids.set(id, made.metadata.id);
        if (ids.size === 1) token = made.accessToken;
      }
      const difference = differences[name];
      if (difference !== undefined && difference.at === undefined) return;
      const missing = missingFrom(translated(response.body), reply.body).filter(
        (finding) => !ofTheRun.test(finding) && difference?.at?.test(finding) !== true,
      );
      expect(missing).toEqual([]);
      if (difference?.at !== undefined) {
        expect(missingFrom(translated(response.body), reply.body)).not.toEqual([]);
      }
    });
  }
});

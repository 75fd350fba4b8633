/** The fuzzer reaches every endpoint that writes. */
import { expect, test } from "vitest";
import { createRouteTable, isPathOf } from "../../src/http/route-table.ts";
import type { Endpoint } from "../../src/http/schemas/endpoint.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { outlineOf } from "../../src/model/outline.ts";
import { createChance } from "./chance.ts";
import { createWriteRequests, type WriteRequest } from "./write-requests.ts";

/** Operations of an administrator that take no name, type or aspect of a client. */
const operationsOnly = [
  "cancelJob",
  "dropParked",
  "openapiRestoreIndices",
  "rebuildViews",
  "scavengeLog",
  "verify",
];

test("the fuzzer sends requests to every endpoint that writes", () => {
  const model = loadModel();
  const { endpoints } = createRouteTable({
    version: "",
    modelFingerprint: model.fingerprint,
    openApi: () => ({}),
    docs: () => ({}),
    entities: outlineOf(model),
    urnNamespace: "li",
  });
  const next = createWriteRequests(createChance(7), model);
  const requests = Array.from({ length: 3_000 }, next);
  const isSent = (endpoint: Endpoint) => requests.some((request) => reaches(request, endpoint));
  const missed = endpoints.filter(({ writes }) => writes === true).filter((one) => !isSent(one));
  expect(missed.map(({ name }) => name).sort()).toEqual(operationsOnly);
});

function reaches({ method, path }: WriteRequest, endpoint: Endpoint): boolean {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  if (method !== endpoint.method) return false;
  if (endpoint.kind === "page") return isPathOf(endpoint, pathname.replace(/\/$/, ""));
  const action = searchParams.get("action");
  const isAction = endpoint.kind === "action";
  return pathname === endpoint.path && (isAction ? action === endpoint.name : action === null);
}

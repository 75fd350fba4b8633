/** Events of OpenLineage require the privileges of the aspects that they write. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuardedService, guardedService } from "../auth/guarded-service.ts";
import { asBearer, makeToken } from "../graphql/graphql-client.ts";
import { runEvent } from "./facet-events.ts";

const PATH = "/openapi/openlineage/api/v1/lineage";
const OUTPUT = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.mart.revenue,PROD)";
let service: GuardedService;
let nobody: Record<string, string>;
beforeAll(async () => {
  service = await guardedService({ readAuthorization: "on", writeAuthorization: "on" });
  const { token } = await makeToken(
    service.client,
    { actorUrn: "urn:li:corpuser:nobody" },
    service.operator,
  );
  nobody = asBearer(token);
});
afterAll(() => service[Symbol.asyncDispose]());

const post = (body: object, headers?: Record<string, string>, path = PATH) =>
  service.client.call("POST", path, body, headers);
const exists = async () =>
  (await service.client.call("POST", "/entities?action=exists", { urn: OUTPUT }, service.operator))
    .body;

test("an event without a token is rejected", async () => {
  expect(await post(runEvent())).toMatchObject({ status: 401 });
});

test("an event of a user without privileges writes nothing", async () => {
  expect(await post(runEvent(), nobody)).toMatchObject({ status: 403 });
  const batch = await post([runEvent()], nobody, `${PATH}/batch`);
  expect(batch.body).toMatchObject({ summary: { failed: 1, non_retriable: 1 } });
  expect(await exists()).toEqual({ value: false });
});

test("an event of a user who may write is written", async () => {
  expect(await post(runEvent(), service.operator)).toMatchObject({ status: 200 });
  expect(await exists()).toEqual({ value: true });
  // The user does not see the entities, and may not write them either.
  const more = runEvent({}, { eventTime: "2026-03-02T09:00:00Z" });
  expect(await post(more, nobody)).toMatchObject({ status: 403 });
});

/** A node without the role `api` answers its state and operations, and rejects catalog requests. */
import { describe, expect, test } from "vitest";
import { asOperator, openTestServer, rejection } from "./test-server.ts";

describe("a node without the role api", () => {
  const { app, catalog } = openTestServer({ servesApi: false });

  test.each([
    ["GET", "/health"],
    ["GET", "/health/live"],
    ["GET", "/config"],
    ["GET", "/metrics"],
    ["GET", "/status"],
    ["GET", "/restli/docs"],
    ["GET", "/gms/health"],
  ] as const)("answers %s %s", async (method, url) => {
    expect((await app.inject({ method, url })).statusCode).toBe(200);
  });

  test("answers operations", async () => {
    const url = "/operations?action=listJobs";
    const reply = await app.inject({ method: "POST", url, headers: asOperator, payload: {} });
    expect(reply.statusCode).toBe(200);
  });

  test.each([
    ["GET", "/aspects/urn%3Ali%3Atag%3Aa?aspect=tagProperties"],
    ["GET", "/entitiesV2/urn%3Ali%3Atag%3Aa"],
    ["GET", "/changes"],
    ["GET", "/openapi/relationships/v1?urn=a&direction=INCOMING"],
    ["GET", "/relationships?urn=a&direction=INCOMING&types=List(OwnedBy)"],
    ["POST", "/aspects?action=ingestProposal"],
    ["POST", "/gms/entities?action=search"],
  ] as const)("rejects %s %s and names the nodes to ask", async (method, url) => {
    const before = catalog.calls.length;
    const reply = await app.inject({ method, url, ...(method === "POST" && { payload: {} }) });
    expect(reply.json()).toMatchObject(
      rejection(503, "unavailable", expect.stringMatching(/has not the role api\. Ask a node/)),
    );
    expect(catalog.calls).toHaveLength(before);
  });
});

import { describe, expect, test } from "vitest";
import { takesJson } from "../../src/http/request/accept.ts";
import { openTestServer } from "./test-server.ts";

describe("an Accept header", () => {
  test.each([
    undefined,
    "",
    "*/*",
    "application/json",
    "Application/JSON; charset=utf-8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "application/*",
    "text/json",
    "application/vnd.api+json",
    "text/html, application/json;q=0.1",
    "text/html, *; q=.2, */*; q=.2",
    "nonsense",
  ])("%j accepts JSON", (accept) => {
    expect(takesJson(accept)).toBe(true);
  });

  test.each([
    "text/html",
    "application/xml, text/*",
    "application/json;q=0",
    "*/*, application/json;q=0.0",
    "*/*;q=0",
    "application/x-protobuf",
  ])("%j does not accept JSON", (accept) => {
    expect(takesJson(accept)).toBe(false);
  });
});

test("a request that accepts no offered type is answered with 406 and does nothing", async () => {
  const { app, catalog } = openTestServer();
  const url = "/aspects?action=getCount";
  const headers = { accept: "text/html" };
  const reply = await app.inject({ method: "POST", url, headers, payload: { aspect: "status" } });
  expect(reply.statusCode).toBe(406);
  expect(reply.json()).toMatchObject({ status: 406, code: "malformed" });
  expect(reply.json().message).toContain("text/html");
  expect(catalog.calls).toEqual([]);
  expect((await app.inject({ url: "/config", headers })).statusCode).toBe(200);
});

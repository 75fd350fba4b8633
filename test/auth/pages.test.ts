/** Every HTML page: its content security policy allows nothing else, and it cannot be framed. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { readEndpointDocs } from "../../src/http/docs/endpoint-docs.ts";
import { createRouteTable } from "../../src/http/route-table.ts";
import { tokenOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";

test("every HTML page has a strict content security policy and security headers", async () => {
  await using service = await runningService({ graphqlExplorer: "on" });
  const table = createRouteTable({
    version: "0",
    modelFingerprint: "0",
    openApi: () => ({}),
    docs: () => ({}),
    urnNamespace: "li",
    graphql: { server: {} as never, explorer: {} },
    schemaRegistry: { registry: {} as never },
    events: { texts: {} as never },
  });
  const pages = table.endpoints.filter(({ responseType }) => responseType === "text/html");
  expect(pages.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["/restli/docs", "/api/graphql"]),
  );
  const docsOf = readEndpointDocs();
  for (const page of pages) {
    const { path } = page;
    const reply = await service.client.call(
      "GET",
      docsOf(page).example.path,
      undefined,
      tokenOf(service.directory),
    );
    expect(reply.status, path).toBe(200);
    const header = (name: string) => reply.headers.get(name) ?? "";
    expect(header("content-type"), path).toBe("text/html; charset=utf-8");
    const policy = header("content-security-policy");
    expect(policy, path).toMatch(/^default-src 'none'/);
    expect(policy, path).not.toMatch(/unsafe|https?:|\*|data:/);
    expect(policy, path).toContain("frame-ancestors 'none'");
    expect(policy, path).toContain("base-uri 'none'");
    expect(header("x-frame-options"), path).toBe("DENY");
    expect(header("x-content-type-options"), path).toBe("nosniff");
    expect(header("referrer-policy"), path).toBe("no-referrer");
    expect(header("access-control-allow-origin"), path).toBe("");
    // The policy names the hashes of the inline scripts and styles.
    const inline = [
      ...reply.body.matchAll(/<(?:script|style)[^>]*>([\s\S]*?)<\/(?:script|style)>/g),
    ];
    for (const [, text = ""] of inline) {
      expect(policy, path).toContain(createHash("sha256").update(text).digest("base64"));
    }
    expect(reply.body, path).not.toMatch(
      /<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?\/\//,
    );
    expect(reply.body, path).not.toMatch(/\son\w+=/);
  }
});

/** Sign-in in the browser application, where the service requires tokens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardedService, guardedService } from "../auth/guarded-service.ts";
import { ask, makeToken } from "../graphql/graphql-client.ts";
import {
  browserPath,
  inBrowser,
  type OpenBrowser,
  openBrowser,
  writeSample,
} from "../support/browser.ts";

const FORECAST = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("signing in"), () => {
  let service: GuardedService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([guardedService(), openBrowser()]);
    await writeSample(service);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  /** Requests without a session are refused on purpose. */
  const mayFail = /status of 401/;

  test.each([1280, 390])("a token opens the page that was asked for, at %i", async (width) => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ width, mayFail });
    const { page, context } = shown;
    await page.goto(`${service.address}/ui/search?q=forecast`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await shown.check();
    await page.getByRole("button", { name: "Use an access token" }).click();
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await shown.check();
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/ui\/search/);
    await page.getByRole("link", { name: "forecast", exact: true }).first().waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    shown.expectNoErrors();
  });

  test("a user name and a password open the page, too", async () => {
    const invite = "mutation { createInviteToken(input: {}) { inviteToken } }";
    const { body } = await ask(service.client, invite, {}, service.operator);
    const { inviteToken } = body.data.createInviteToken;
    const user = { userUrn: "urn:li:corpuser:mina", fullName: "Mina", email: "mina@example.org" };
    const credentials = readFileSync(join(service.directory, "system.client"), "utf8").trim();
    const system = { Authorization: `Basic ${credentials}` };
    const signUp = { ...user, password: "correct horse", inviteToken };
    expect((await service.client.call("POST", "/auth/signUp", signUp, system)).status).toBe(200);
    await using shown = await browser.page({ mayFail });
    const { page } = shown;
    await page.goto(`${service.address}/ui/signin`);
    await page.getByLabel("User name").fill("mina");
    await page.getByLabel("Password").fill("wrong password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await shown.check();
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    shown.expectNoErrors();
  });

  test("without a session no page sends a request that needs one", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 401) refused.push(response.url());
    });
    await page.goto(service.address);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(refused).toEqual([]);
    shown.expectNoErrors();
  });

  test("a query of the session is sent with its CSRF token, and signing out ends it", async () => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ mayFail });
    const { page, context } = shown;
    await page.goto(`${service.address}/ui/signin`);
    await page.getByRole("button", { name: "Use an access token" }).click();
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.goto(`${service.address}/api/graphiql`);
    await page
      .getByRole("textbox", { name: "Query", exact: true })
      .fill("{ me { corpUser { urn } } }");
    await page.getByRole("button", { name: "Run query" }).click();
    const result = page.getByRole("textbox", { name: "Result" });
    await result.getByText("urn:li:corpuser:datahub").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    shown.expectNoErrors();
  });

  test("the session ends with the revocation of its token", async () => {
    const { token, id } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ mayFail });
    const { page } = shown;
    await page.goto(`${service.address}/ui/signin`);
    await page.getByRole("button", { name: "Use an access token" }).click();
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    const revoke = `mutation { revokeAccessToken(tokenId: "${id}") }`;
    await ask(service.client, revoke, {}, service.operator);
    await page.goto(`${service.address}/ui/entity/${encodeURIComponent(FORECAST)}`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    shown.expectNoErrors();
  });
});

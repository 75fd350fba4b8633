/** Sign-in in the browser application, where the service requires tokens. */
import type { Page } from "playwright-core";
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
import { encoded } from "../support/client.ts";

const FORECAST = "urn:li:dataset:(urn:li:dataPlatform:snowflake,vault.viability.forecast,PROD)";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("signing in"), () => {
  let service: GuardedService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([
      guardedService({ writeAuthorization: "on" }),
      openBrowser(),
    ]);
    await writeSample(service);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  /** Requests without a session are rejected on purpose. */
  const mayFail = /status of 401/;
  /** As long as the browser waits for an element. */
  const atMost = { timeout: 60_000 };

  test.each([1280, 390])("a token opens the page that was asked for, at %i", async (width) => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ alone: true, width, mayFail });
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
    await page.waitForURL(/\/ui\/search\?q=forecast$/);
    await page.getByRole("link", { name: "forecast", exact: true }).first().waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    shown.expectNoErrors();
  });

  const signInWithToken = async (page: Page, token: string): Promise<void> => {
    await page.goto(`${service.address}/ui/signin`);
    await page.getByRole("button", { name: "Use an access token" }).click();
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
  };

  test("an invite link signs a user up, and a reset link sets another password", async () => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using admin = await browser.page({ alone: true });
    await signInWithToken(admin.page, token);
    await admin.page.goto(`${service.address}/ui/browse?section=users`);
    await admin.page.getByRole("button", { name: "Invite a user" }).click();
    await admin.check();
    await admin.page.getByRole("button", { name: "Create the link" }).click();
    const invite = await admin.page.getByRole("textbox", { name: "Link" }).inputValue();

    await using shown = await browser.page({ alone: true, mayFail: /status of (401|422)/ });
    const { page } = shown;
    await page.goto(invite);
    await page.getByRole("heading", { level: 1, name: "Create your account" }).waitFor();
    await shown.check();
    await page.getByLabel("User name").fill("mina");
    await page.getByLabel("Full name").fill("Mina Okafor");
    await page.getByLabel("E-mail address").fill("mina@example.org");
    await page.getByLabel("New password").fill("correct horse");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.goto(invite);
    await page.getByLabel("User name").fill("another");
    await page.getByLabel("Full name").fill("Another");
    await page.getByLabel("E-mail address").fill("another@example.org");
    await page.getByLabel("New password").fill("correct horse");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("alert").getByText("the invite token is not valid").waitFor();

    await admin.page.goto(`${service.address}/ui/entity/${encoded("urn:li:corpuser:mina")}`);
    await admin.page.getByRole("heading", { level: 1, name: "Mina Okafor" }).waitFor();
    await admin.page.getByLabel("Actions").selectOption("Reset the password");
    const reset = await admin.page.getByRole("textbox", { name: "Link" }).inputValue();
    await page.goto(reset);
    expect(await page.getByLabel("User name").inputValue()).toBe("mina");
    await shown.check();
    await page.getByLabel("New password").fill("battery staple");
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("User name").fill("mina");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await shown.check();
    await page.getByLabel("Password").fill("battery staple");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
    shown.expectNoErrors();
    admin.expectNoErrors();
  });

  const signUp = async (page: Page, name: string, at = service): Promise<void> => {
    const invite = "mutation { createInviteToken(input: {}) { inviteToken } }";
    const { body } = await ask(at.client, invite, {}, at.operator);
    const { inviteToken } = body.data.createInviteToken;
    await page.goto(`${at.address}/ui/signup#${inviteToken}`);
    await page.getByLabel("User name").fill(name);
    await page.getByLabel("Full name").fill(name);
    await page.getByLabel("E-mail address").fill(`${name}@example.org`);
    await page.getByLabel("New password").fill("correct horse");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("heading", { level: 1, name: "Catalog" }).waitFor();
  };

  test("a user without privileges is offered no action of any page", async () => {
    await using shown = await browser.page({ alone: true, mayFail: /status of 403/ });
    const { page } = shown;
    await signUp(page, "visitor");
    const { body } = await service.client.call("POST", "/runs?action=list", {}, service.operator);
    const run = encodeURIComponent(body.value[0].runId);
    const forecast = `/ui/entity/${encoded(FORECAST)}`;
    const pages: readonly (readonly [path: string, shows: string])[] = [
      [`${forecast}/columns`, "Tags and terms"],
      [`${forecast}/history`, "Owners"],
      [`${forecast}/quality`, "Assertions"],
      [`${forecast}/aspects`, "ownership"],
      ["/ui/browse?section=glossary", "Seed physiology"],
      ["/ui/browse?section=tags", "PersonalData"],
      ["/ui/browse?section=users", "Imke Sørland"],
      [`/ui/runs?run=${run}`, "All runs"],
      ["/ui/views", "Accepts writes"],
      ["/ui/access", "Parts of access"],
    ];
    const actions =
      /^(Add|Remove|Edit|Create|Invite|Restore|Raise|Resolve|Delete|Roll back|Verify|Rebuild|Truncate|Scavenge|Retry|Drop|Cancel|Revoke)/;
    for (const [path, shows] of pages) {
      await page.goto(`${service.address}${path}`);
      await page.getByText(shows).or(page.getByLabel(shows)).first().waitFor();
      await page.waitForLoadState("networkidle");
      const main = page.getByRole("main");
      const offered = await main
        .getByRole("button", { name: actions })
        .or(main.getByRole("combobox", { name: actions }))
        .allInnerTexts();
      expect({ path, offered }).toEqual({ path, offered: [] });
    }
    expect(await page.getByLabel("Parts of access").innerText()).toBe("My tokens\nRoles");
    await page.getByText("Generate Personal Access Tokens").waitFor();
    await page.goto(`${service.address}/ui/views`);
    await page.getByRole("alert").getByText("Manage System Operations").waitFor();
    shown.expectNoErrors();
  });

  test("another user of the same tab sees nothing that was read for the one before", async () => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using other = await browser.page({ alone: true });
    await signUp(other.page, "successor");
    await using shown = await browser.page({ alone: true, mayFail: /status of (401|403)/ });
    const { page } = shown;
    await signInWithToken(page, token);
    await page.getByRole("link", { name: "Access", exact: true }).click();
    await page.getByRole("link", { name: "All tokens" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await page.getByLabel("User name").fill("successor");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Access", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Access" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.getByRole("link", { name: "All tokens" }).count()).toBe(0);
    shown.expectNoErrors();
  });

  test("an open page returns to the sign-in when its token is revoked", async () => {
    const { token, id } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ alone: true, mayFail });
    const { page } = shown;
    await signInWithToken(page, token);
    await page.getByText("Live", { exact: true }).waitFor();
    const revoke = `mutation { revokeAccessToken(tokenId: "${id}") }`;
    await ask(service.client, revoke, {}, service.operator);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    shown.expectNoErrors();
  });

  test("a user without privileges is offered no edits, and a denied edit names the privilege", async () => {
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    await signUp(page, "reader");
    await page.goto(`${service.address}/ui/entity/${encoded(FORECAST)}`);
    await page.getByRole("heading", { level: 1, name: "forecast" }).waitFor();
    await page.getByText("Description", { exact: true }).waitFor();
    const edits = page.getByRole("main").getByRole("button", { name: /^(Add|Remove|Edit)/ });
    expect(await edits.count()).toBe(0);
    expect(await page.getByLabel("Actions").count()).toBe(0);
    const group = encoded("urn:li:corpGroup:seed-keepers");
    await page.goto(`${service.address}/ui/entity/${group}`);
    await page.getByRole("heading", { level: 2, name: "Members" }).waitFor();
    await page.getByText("No members").waitFor();
    expect(await edits.count()).toBe(0);
    await page.goto(`${service.address}/ui/access?section=roles`);
    await page.getByRole("button", { name: "The role Admin as JSON" }).waitFor();
    expect(await page.getByRole("button", { name: /^Assign/ }).count()).toBe(0);
    await page.goto(`${service.address}/ui/access?section=policies`);
    await page.getByRole("alert").getByText("Manage Policies").waitFor();
    shown.expectNoErrors();
  });

  test("without write authorization, each user is offered the edits that the service accepts", async () => {
    await using open = await guardedService();
    await writeSample(open);
    await using shown = await browser.page({ alone: true, mayFail: /status of 403/ });
    const { page } = shown;
    await signUp(page, "editor", open);
    await page.goto(`${open.address}/ui/entity/${encoded(FORECAST)}`);
    await page.getByRole("button", { name: "Add a tag" }).click();
    await page.getByRole("combobox", { name: "Find a tag" }).fill("Personal");
    await page.getByRole("option", { name: /PersonalData/ }).click();
    await page.getByText("Tag added").waitFor();
    await page.goto(`${open.address}/ui/entity/${encoded(FORECAST)}/columns`);
    await page.getByRole("button", { name: "Add a term" }).first().waitFor();
    await page.goto(`${open.address}/ui/browse?section=tags`);
    await page.getByRole("button", { name: "Create a tag" }).waitFor();
    // Groups, and the state of users, decide about access.
    await page.goto(`${open.address}/ui/browse?section=groups`);
    await page.getByRole("link", { name: "Seed keepers" }).click();
    await page.getByText("No members").waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.getByRole("button", { name: /^Add (an owner|a member)/ }).count()).toBe(0);
    expect(await page.getByLabel("Actions").innerText()).not.toContain("Delete");
    expect(await page.getByRole("button", { name: "Create a group" }).count()).toBe(0);
    shown.expectNoErrors();
  });

  test("without a session no page sends a request that needs one", async () => {
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    const unauthenticated: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 401) unauthenticated.push(response.url());
    });
    await page.goto(service.address);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(unauthenticated).toEqual([]);
    shown.expectNoErrors();
  });

  test("a query of the session is sent with its CSRF token, and signing out ends it", async () => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ alone: true, mayFail });
    const { page, context } = shown;
    await signInWithToken(page, token);
    await page.goto(`${service.address}/api/graphiql`);
    await page.getByRole("button", { name: "Query", exact: true }).waitFor();
    await page
      .getByRole("textbox", { name: "Query", exact: true })
      .fill("{ me { corpUser { urn } } }");
    await page.getByRole("button", { name: "Run query" }).click();
    const result = page.getByRole("textbox", { name: "Result" });
    await expect.poll(() => result.innerText(), atMost).toContain("urn:li:corpuser:datahub");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    shown.expectNoErrors();
  });

  test("a session follows the log, and the page shows its views and jobs", async () => {
    const { token } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ alone: true });
    const { page } = shown;
    await signInWithToken(page, token);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await shown.check();
    await page.getByRole("link", { name: "Views and jobs" }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    await shown.check();
    await page.goto(`${service.address}/ui/access?section=audit`);
    await page
      .getByRole("row", { name: /allowed/ })
      .first()
      .waitFor();
    await shown.check();
  });

  test("the session ends with the revocation of its token", async () => {
    const { token, id } = await makeToken(service.client, {}, service.operator);
    await using shown = await browser.page({ alone: true, mayFail });
    const { page } = shown;
    await signInWithToken(page, token);
    const revoke = `mutation { revokeAccessToken(tokenId: "${id}") }`;
    await ask(service.client, revoke, {}, service.operator);
    await page.goto(`${service.address}/ui/entity/${encodeURIComponent(FORECAST)}`);
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    shown.expectNoErrors();
  });
});

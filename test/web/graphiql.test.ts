/** The page for GraphQL queries: completion, results and their history, the schema. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, inBrowser, type OpenBrowser, openBrowser } from "../support/browser.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

// A machine without Chromium cannot run them; `inBrowser` says so.
describe.skipIf(browserPath === undefined)(inBrowser("the page for GraphQL queries"), () => {
  let service: RunningService;
  let browser: OpenBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([runningService(), openBrowser()]);
    await service.client.upsert("urn:li:tag:Queried", "tagProperties", { name: "Queried" });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test.each([1280, 390])("runs a query and keeps its result, at a width of %i", async (width) => {
    await using shown = await browser.page({ width });
    const { page } = shown;
    await page.goto(`${service.address}/api/graphiql`);
    await page.getByRole("button", { name: "Query", exact: true }).waitFor();
    const query = page.getByRole("textbox", { name: "Query", exact: true });
    await query.fill("query Tag($urn: String!) { tag(urn: $urn) { properties { name } } }");
    await page.getByRole("textbox", { name: "Variables" }).fill('{"urn":"urn:li:tag:Queried"}');
    await page.getByRole("button", { name: "Run query" }).click();
    await page.getByRole("textbox", { name: "Result" }).getByText('"Queried"').waitFor();
    await shown.check();

    await page.reload();
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: /^query Tag/ }).click();
    await page.getByRole("textbox", { name: "Result" }).getByText('"Queried"').waitFor();
    shown.expectNoErrors();
  });

  test("completes fields, marks unknown ones, and describes types", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/api/graphiql`);
    const query = page.getByRole("textbox", { name: "Query", exact: true });
    await page.getByRole("button", { name: "Query", exact: true }).waitFor();
    await query.fill("{ me { corpUser { ur } } nothing }");
    await page.locator(".cm-lintRange-error").first().waitFor();
    await query.press("Home");
    for (let n = 0; n < "{ me { corpUser { ur".length; n++) await query.press("ArrowRight");
    await query.press("Control+Space");
    await page.getByRole("option", { name: /^urn/ }).waitFor();
    await query.press("Escape");

    await page.getByRole("searchbox", { name: "Search types" }).fill("CorpUserProperties");
    await page.getByRole("button", { name: "CorpUserProperties", exact: true }).click();
    await page.getByRole("heading", { name: "CorpUserProperties" }).waitFor();
    expect(await page.getByText("displayName", { exact: true }).count()).toBe(1);
    shown.expectNoErrors();
  });

  test("runs the text that the editor shows, however soon after its last change", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    await page.goto(`${service.address}/api/graphiql`);
    await page.getByRole("button", { name: "Query", exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Query", exact: true }).focus();
    // The click follows in the same task of the page, so nothing can be drawn between.
    await page.evaluate(`(async () => {
      document.execCommand("selectAll");
      document.execCommand("insertText", false, "{ __typename }");
      await Promise.resolve();
      document.querySelector(".graphiql-head button").click();
    })()`);
    await page.getByRole("textbox", { name: "Result" }).getByText('"__typename"').waitFor();
    shown.expectNoErrors();
  });

  test("keeps and runs what is typed before the schema arrives", async () => {
    await using shown = await browser.page();
    const { page } = shown;
    const typed = Promise.withResolvers<void>();
    await page.route("**/api/graphql", async (route) => {
      if (route.request().postData()?.includes("__schema") === true) await typed.promise;
      await route.continue();
    });
    await page.goto(`${service.address}/api/graphiql`);
    await page.getByRole("textbox", { name: "Query", exact: true }).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("{ __type");
    typed.resolve();
    await page.keyboard.type("name ");
    await page.getByRole("button", { name: "Query", exact: true }).waitFor();
    await page.keyboard.type("}");
    await page.getByRole("button", { name: "Run query" }).click();
    await page.getByRole("textbox", { name: "Result" }).getByText('"__typename"').waitFor();
    shown.expectNoErrors();
  });

  test("shows errors of variables and of the service as results", async () => {
    await using shown = await browser.page({ mayFail: /status of 400/ });
    const { page } = shown;
    await page.goto(`${service.address}/api/graphiql`);
    await page.getByRole("textbox", { name: "Variables" }).fill("{");
    await page.getByRole("button", { name: "Run query" }).click();
    const result = page.getByRole("textbox", { name: "Result" });
    await result.getByText(/The variables are not JSON/).waitFor();
    await page.getByRole("textbox", { name: "Variables" }).fill("");
    await page.getByRole("textbox", { name: "Query", exact: true }).fill("{ nothing }");
    await page.getByRole("button", { name: "Run query" }).click();
    await result
      .getByText(/nothing/)
      .first()
      .waitFor();
    await page.getByText(/^Failed in/).waitFor();
    shown.expectNoErrors();
  });
});

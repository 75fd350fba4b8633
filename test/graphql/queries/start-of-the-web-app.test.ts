/** The queries that DataHub's web application sends at its start, on a fresh catalog. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../../support/running-service.ts";
import { asActor, ask, ROOT } from "../graphql-client.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function data(query: string) {
  const { body } = await ask(service.client, query, {}, asActor(ROOT));
  expect(body.errors, query).toBeUndefined();
  return body.data;
}

test("a fresh catalog has the settings of the first page", async () => {
  const found = await data(`{
    me { corpUser { urn username settings { appearance { showThemeV2 } views { defaultView { urn } } } } }
    globalViewsSettings { defaultView }
    docPropagationSettings { docColumnPropagation }
    globalHomePageSettings { defaultTemplate { urn properties {
      surface { surfaceType } visibility { scope }
      rows { modules { urn exists properties { name type visibility { scope } } } } } } }
  }`);
  expect(found).toMatchSnapshot();
});

test("lists of a fresh catalog are empty, except roles and ownership types", async () => {
  const found = await data(`{
    listPosts(input: {}) { total posts { urn } }
    listRoles(input: {}) { total roles { name } }
    listOwnershipTypes(input: {}) { total }
    listIngestionSources(input: {}) { total ingestionSources { urn } }
    batchGetStepStates(input: {ids: ["a"]}) { results { id } }
    getQuickFilters(input: {}) { quickFilters { field } }
    listRecommendations(input: {userUrn: "${ROOT}", limit: 10, requestContext: {scenario: HOME}}) {
      modules { moduleId } }
    getEntityCounts(input: {types: [DATASET]}) { counts { count } }
    getHighlights { title }
    getAnalyticsCharts { title }
  }`);
  expect(found).toMatchSnapshot();
});

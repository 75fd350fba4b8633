/**
 * GraphQL: the largest profile of an entity against an echo that parses the same body and returns the same
 * text, a search with facets against the same search over REST, 1,000 entities in one query, and the first
 * request after a start.
 */
import { createClient } from "../support/client.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { processTime } from "./cpu.ts";
import { startEcho } from "./echo.ts";
import { load, type Measured, median } from "./load.ts";
import { profiled, writeProfiles } from "./profile.ts";
import { profileQuery } from "./profile-query.ts";
import { rate, report } from "./report.ts";
import { batch, urnOf } from "./sample.ts";

const connections = 16;
const seconds = 4;
const rounds = 3;
const entities = 5_000;
const urnsOfOne = 1_000;
const starts = 5;
const path = "/api/graphql";
const headers = { "X-Service-Actor": "urn:li:corpuser:datahub" };

export async function benchGraphql(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  await using service = await startService(directory.path, { asInstalled: true });
  const client = createClient(service.address);
  for (let first = 0; first < entities; first += 250) {
    await client.call("POST", "/aspects?action=ingestProposalBatch", batch(first, 500, 0));
  }
  await writeProfiles(client);
  await benchProfile(service);
  await benchSearchWithFacets(service);
  await benchManyEntities(service);
  await service.stop();
  const took: number[] = [];
  for (let start = 0; start < starts; start++) {
    await using again = await startService(directory.path, { asInstalled: true });
    const { ms } = await timed(again, { query: "{ me { corpUser { urn } } }" });
    took.push(ms);
    await again.stop();
  }
  report("first request after a start", `${median(took).toFixed(0)} ms (target 500)`);
}

const bodyOf = (query: string, variables: object = {}) => JSON.stringify({ query, variables });

async function benchProfile(service: ServiceProcess): Promise<void> {
  const body = bodyOf(profileQuery(), { urn: profiled });
  const { text } = await timed(service, JSON.parse(body));
  if (text.includes('"errors"')) throw new Error(text.slice(0, 2_000));
  using echo = await startEcho(text);
  const common = { method: "POST", connections, seconds, headers } as const;
  const [ours, echoed]: [Measured[], Measured[]] = [[], []];
  let cpuUs = 0;
  for (let round = 0; round < rounds; round++) {
    echoed.push(await load({ ...common, url: echo.url, requests: [{ path: "/text", body }] }));
    const before = processTime(service.pid);
    const one = await load({ ...common, url: service.address, requests: [{ path, body }] });
    cpuUs = (processTime(service.pid) - before) / (one.perSecond * seconds);
    ours.push(one);
  }
  const base = median(echoed.map(({ perSecond }) => perSecond));
  const perSecond = median(ours.map((one) => one.perSecond));
  const kilobytes = (size: number) => `${Math.round(size / 1_000)} kB`;
  report(`echo of ${kilobytes(body.length)} with ${kilobytes(text.length)}`, rate(base));
  report("largest profile of an entity", `${rate(perSecond)}, ${cpuUs.toFixed(0)} us`, {
    ratio: perSecond / base,
    target: 0.03,
  });
}

const facetSearch = `query($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) {
  start count total
  searchResults { entity { urn type } score matchedFields { name value } }
  facets { field displayName aggregations { value count entity { urn type } } } } }`;

async function benchSearchWithFacets(service: ServiceProcess): Promise<void> {
  const words = Array.from({ length: entities }, (_, n) => `table_${n} events`);
  const overGraphql = words.map((query) => ({
    path,
    body: bodyOf(facetSearch, { input: { types: ["DATASET"], query, start: 0, count: 10 } }),
  }));
  const overRest = words.map((input) => ({
    path: "/entities?action=searchAcrossEntities",
    body: JSON.stringify({ entities: ["dataset"], input, start: 0, count: 10 }),
  }));
  const common = { url: service.address, method: "POST", connections, seconds, headers } as const;
  const [graphql, rest]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    rest.push(await load({ ...common, requests: overRest }));
    graphql.push(await load({ ...common, requests: overGraphql }));
  }
  const base = median(rest.map(({ perSecond }) => perSecond));
  const perSecond = median(graphql.map((one) => one.perSecond));
  report("search with facets over REST", rate(base));
  const against = { ratio: perSecond / base, target: 0.6, of: "that over REST" };
  report("search with facets over GraphQL", rate(perSecond), against);
}

const entitiesByUrn = `query($urns: [String!]!) { entities(urns: $urns) { urn type ... on Dataset {
  name properties { name description customProperties { key value } }
  ownership { owners { type owner { ... on CorpUser { urn username } } } } } } }`;

async function benchManyEntities(service: ServiceProcess): Promise<void> {
  const took: number[] = [];
  for (let first = 0; first < entities; first += urnsOfOne) {
    const urns = Array.from({ length: urnsOfOne }, (_, n) => urnOf(first + n));
    const { ms } = await timed(service, { query: entitiesByUrn, variables: { urns } });
    took.push(ms);
  }
  const [first = Number.NaN] = took;
  const figure = `${median(took).toFixed(0)} ms, the first ${first.toFixed(0)} ms (target 200)`;
  report(`${urnsOfOne.toLocaleString("en")} entities by urn in one query`, figure);
}

async function timed({ address }: ServiceProcess, request: object) {
  const begun = performance.now();
  const answer = await fetch(`${address}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(request),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text.slice(0, 2_000));
  return { ms: performance.now() - begun, text };
}

/** Links of entities and pictures of people: the schemes and targets that every interface accepts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, faultOf } from "../graphql/graphql-client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  await service.client.upsert(urn, "status", { removed: false });
});
afterAll(() => service[Symbol.asyncDispose]());

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,links.t,PROD)";
const stamp = { time: 1, actor: "urn:li:corpuser:mira" };
const memory = (url: string) => ({ elements: [{ url, description: "d", createStamp: stamp }] });
const ADD = "mutation($input: AddLinkInput!) { addLink(input: $input) }";
const addLink = (linkUrl: string) =>
  ask(service.client, ADD, { input: { linkUrl, label: "l", resourceUrn: urn } });

test("a link of another scheme, or to a private address, is rejected on every interface", async () => {
  for (const [url, says] of [
    ["javascript:alert(1)", "URL scheme 'javascript' is not allowed"],
    ["http://169.254.169.254/latest", "loopback, link-local or private address"],
  ] as const) {
    const proposed = await service.client.upsert(urn, "institutionalMemory", memory(url));
    expect(proposed).toMatchObject({ status: 422, body: { code: "invalid" } });
    expect(proposed.body.message).toContain(says);
    const patch = [{ op: "add", path: "/elements", value: memory(url).elements }];
    const patched = await service.client.upsert(urn, "institutionalMemory", patch, {
      changeType: "PATCH",
    });
    expect(patched.status).toBe(422);
    const added = faultOf(await addLink(url));
    expect(added).toMatchObject({ extensions: { code: 400 } });
    expect(added.message).toContain(says);
    for (const [of, aspect] of [
      ["urn:li:corpuser:mira", "corpUserEditableInfo"],
      ["urn:li:corpGroup:bakers", "corpGroupEditableInfo"],
    ] as const) {
      const picture = await service.client.upsert(of, aspect, { pictureLink: url });
      expect(picture.status).toBe(422);
      expect(picture.body.message).toContain("/pictureLink");
    }
  }
});

test("a public link and a picture from the assets are accepted", async () => {
  expect((await addLink("https://wiki.example.com/orders")).body).toMatchObject({
    data: { addLink: true },
  });
  const mail = await service.client.upsert(urn, "institutionalMemory", memory("mailto:a@b.c"));
  expect(mail.status).toBe(200);
  for (const value of [{}, { pictureLink: "assets/platforms/default_avatar.png" }]) {
    const reply = await service.client.upsert(
      "urn:li:corpuser:mira",
      "corpUserEditableInfo",
      value,
    );
    expect(reply.status).toBe(200);
  }
});

test("a link that pages show runs no script", async () => {
  const time = { time: 1, actor: "urn:li:corpuser:mira" };
  const chart = "urn:li:chart:(looker,links)";
  const dataHubPageModule = "urn:li:dataHubPageModule:links";
  const aspects = (url: string): readonly [string, string, object][] => [
    [urn, "embed", { renderUrl: url }],
    [urn, "datasetProperties", { externalUrl: url }],
    ["urn:li:dataPlatform:links", "dataPlatformInfo", { ...platform, logoUrl: url }],
    [chart, "chartInfo", { title: "c", description: "", chartUrl: url, lastModified: {} }],
    ["urn:li:post:links", "postInfo", post({ link: url }, time)],
    ["urn:li:post:links", "postInfo", post({ media: { type: "IMAGE", location: url } }, time)],
    [dataHubPageModule, "dataHubPageModuleProperties", pageModule({ linkUrl: url }, time)],
    ["urn:li:assertion:links", "assertionRunEvent", runEvent(url)],
  ];
  const platform = { name: "links", type: "OTHERS", datasetNameDelimiter: "." };
  for (const [of, aspect, value] of aspects("https://example.com/a")) {
    const reply = await service.client.upsert(of, aspect, value);
    expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  }
  for (const url of ["javascript:alert(1)", "data:text/html,x"]) {
    for (const [of, aspect, value] of aspects(url)) {
      const reply = await service.client.upsert(of, aspect, value);
      expect(reply, `${aspect} ${JSON.stringify(value)}`).toMatchObject({ status: 422 });
      expect(reply.body.message).toContain("is not allowed");
    }
    const update = "mutation($input: UpdateEmbedInput!) { updateEmbed(input: $input) }";
    const embedded = await ask(service.client, update, { input: { urn, renderUrl: url } });
    expect(faultOf(embedded)).toMatchObject({ extensions: { code: 400 } });
  }
});

const post = (content: object, lastModified: { time: number; actor: string }) => ({
  type: "HOME_PAGE_ANNOUNCEMENT",
  content: { title: "t", type: "LINK", ...content },
  created: lastModified.time,
  lastModified: lastModified.time,
});

const pageModule = (link: object, stamp: object) => ({
  ...{ name: "m", type: "LINK", visibility: { scope: "GLOBAL" } },
  params: { linkParams: link },
  ...{ created: stamp, lastModified: stamp },
});

const runEvent = (externalUrl: string) => ({
  ...{ timestampMillis: 1, runId: "r", asserteeUrn: urn, status: "COMPLETE" },
  assertionUrn: "urn:li:assertion:links",
  result: { type: "SUCCESS", externalUrl },
});

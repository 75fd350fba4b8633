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

/** Reads of values that were deleted. */
import { expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { runningService } from "../support/running-service.ts";

test("version 0 of a deleted aspect is answered as deleted, with the versions that can be read", async () => {
  await using service = await runningService();
  const urn = "urn:li:tag:gone";
  const read = async (aspect: string, version: number) =>
    await service.client.get(`/aspects/${encoded(urn)}?aspect=${aspect}&version=${version}`);
  for (const name of ["one", "two"]) await service.client.upsert(urn, "tagProperties", { name });
  await service.client.upsert(urn, "status", { removed: false });
  const more = { changeType: "DELETE", aspect: undefined };
  await service.client.upsert(urn, "tagProperties", {}, more);
  await service.client.upsert(urn, "status", {}, more);

  for (let n = 0; n < 2; n++) {
    const message = (text: string) => ({ status: 404, body: { code: "not_found", message: text } });
    const deleted = `"tagProperties" of "${urn}" was deleted. Earlier values can be read by version: versions 1 to 2`;
    expect(await read("tagProperties", 0)).toMatchObject(message(deleted));
    expect(await read("tagProperties", -1)).toMatchObject(message(deleted));
    expect(await read("tagProperties", 3)).toMatchObject(
      message(`"tagProperties" of "${urn}" has no version 3. It has versions 1 to 2`),
    );
    expect((await read("tagProperties", 2)).status).toBe(200);
    expect((await read("status", 0)).body.message).toMatch(/was deleted.*by version: version 1$/);
    expect(await read("ownership", 0)).toMatchObject(
      message(`"ownership" of "${urn}" has no version 0`),
    );
    await service.restart();
  }
});

test("events are gone once the response to the delete of the key aspect arrives", async () => {
  await using service = await runningService();
  const { client } = service;
  // The view applies the delete asynchronously: one round would not always show a race.
  for (let round = 0; round < 40; round++) {
    const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,emptied.${round},PROD)`;
    const events = async () => {
      const asked = { urn, entity: "dataset", aspect: "datasetProfile" };
      const path = "/aspects?action=getTimeseriesAspectValues";
      const { body } = await client.call("POST", path, asked);
      return body.value.values.length;
    };
    await client.upsert(urn, "datasetProfile", { timestampMillis: 1, rowCount: round });
    expect(await events()).toBe(1);
    await client.upsert(urn, "datasetKey", {}, { changeType: "DELETE", aspect: undefined });
    expect(await events(), `round ${round}`).toBe(0);
  }
});

/** The count of rows that a hard delete returns. */
import { expect, test } from "vitest";
import { runningService } from "../../support/running-service.ts";

const urn = "urn:li:tag:fern";

test("a hard delete counts the values since the previous hard delete", async () => {
  await using service = await runningService();
  const remove = async (): Promise<number> =>
    (await service.client.call("POST", "/entities?action=delete", { urn })).body.value.rows;
  const write = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await service.client.upsert(urn, "tagProperties", { name });
  };

  await write("one", "two", "two");
  // Two names and the key.
  expect(await remove()).toBe(3);
  await write("three", "four", "five");
  await service.client.upsert(urn, "status", { removed: false });
  expect(await remove()).toBe(5);
  expect(await remove()).toBe(0);
  await write("six");
  await service.restart();
  expect(await remove()).toBe(2);
});

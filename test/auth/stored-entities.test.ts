/** Access checks read all entities of a type, in pages. */
import { expect, test } from "vitest";
import { createStoredEntities } from "../../src/auth/stored-entities.ts";

test("a list of entities lacks none that stays while another is deleted between two pages", async () => {
  const urns = Array.from({ length: 2_500 }, (_, n) => `urn:li:dataHubPolicy:${10_000 + n}`);
  const left = new Set(urns);
  const [deleted = ""] = urns;
  const entities = createStoredEntities({
    getEntity: async () => ({ json: "{}" }),
    async urnsAfter(_, after, count) {
      const page = [...left].filter((urn) => urn > after).slice(0, count);
      left.delete(deleted);
      return page;
    },
    async getEntities(asked) {
      const entity = { aspects: { dataHubPolicyInfo: { value: {}, systemMetadata: {} } } };
      return {
        json: JSON.stringify({ results: Object.fromEntries(asked.map((urn) => [urn, entity])) }),
      };
    },
  });
  expect([...(await entities.list("dataHubPolicy")).keys()]).toEqual(urns);
});

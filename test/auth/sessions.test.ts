/** Sessions that concurrent requests end. */
import { expect, test } from "vitest";
import { createSessions } from "../../src/auth/sign-in/sessions.ts";
import type { AccessTokens, TokenRecord } from "../../src/auth/tokens/access-tokens.ts";
import { CatalogError } from "../../src/core/errors.ts";

const ADA = "urn:li:corpuser:ada";
const SYSTEM = "urn:li:corpuser:__datahub_system";

test("all sessions of a user end, although another request ended one of them meanwhile", async () => {
  const revoked: string[] = [];
  const record = (id: string): TokenRecord => ({
    ...{ urn: id, id, name: "session", createdAt: 0 },
    ...{ actorUrn: ADA, ownerUrn: SYSTEM },
  });
  const tokens: Partial<AccessTokens> = {
    list: async () => ["a", "gone", "b"].map(record),
    read: async () => record("gone"),
    revoke: async (id) => {
      if (id === "gone") throw new CatalogError("not_found", "Access token no longer exists");
      revoked.push(id);
      return 1 as never;
    },
  };
  const sessions = createSessions({
    tokens: tokens as AccessTokens,
    entities: { find: async () => undefined, list: async () => new Map() },
    ...{ systemActor: SYSTEM, durationMax: "ONE_DAY", now: () => 0, logger: { warn: () => {} } },
  });
  await sessions.endAll(ADA);
  expect(revoked).toEqual(["a", "b"]);
  await sessions.end("token");
});

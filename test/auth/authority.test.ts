/** What always holds is judged without looking at policies that are stored. */
import { expect, test } from "vitest";
import { createAuthority } from "../../src/auth/authority.ts";
import { CatalogError } from "../../src/core/errors.ts";

const away = () => Promise.reject(new CatalogError("unavailable", "the aspect view stands still"));
const authority = createAuthority({ find: async () => undefined, list: away }, { namespace: "li" });
const anyOf = [["RESTORE_INDICES_PRIVILEGE"]] as const;

test("the root user may operate while the aspect view stands still", async () => {
  expect(await authority.allows("urn:li:corpuser:datahub", anyOf)).toBe(true);
});

test("others are not let in by a view that cannot be asked", async () => {
  await expect(authority.allows("urn:li:corpuser:ada", anyOf)).rejects.toThrow("stands still");
});

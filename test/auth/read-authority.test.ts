/** What each user sees, while it cannot be found out. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createReadAuthority } from "../../src/auth/access/read-authority.ts";
import { restrictedNames } from "../../src/auth/access/restricted-entities.ts";
import type { AccessContext } from "../../src/catalog/access/access-filter.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { proposal } from "../support/client.ts";

const nothing = restrictedNames({ entities: new Map() });
const TAG = "urn:li:tag:a";

test("policies that cannot be read fail who waits for them, and nobody else", async () => {
  const unavailable = new CatalogError("unavailable", "the view is behind");
  const eyes: AccessContext[] = [];
  const catalog = {
    ingest: async () => ({ position: 1 }),
    filterExisting: async () => [TAG],
  } as unknown as Catalog;
  const { catalogFor } = createReadAuthority({
    ...{ guard: (one) => one, fields: { ofCriteria: {}, memberTypes: [] } },
    ...{ namespace: "li", systemActor: "urn:li:corpuser:system", now: Date.now },
    ...{ restricted: nothing, sealed: nothing },
    ...{ urnOf: ({ entityUrn }) => entityUrn, proposalsOf: () => [] },
    authority: {
      allows: async () => true,
      authContext: () => Promise.reject(unavailable),
    },
    catalog: {
      ...{ ...catalog, peek: () => undefined },
      authorizedFor(own) {
        eyes.push(own);
        return { ...catalog, filterExisting: async () => own.look?.() } as unknown as Catalog;
      },
    },
  });
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  try {
    const one = proposal(TAG, "tagProperties", { name: "a" });
    await expect(catalogFor("urn:li:corpuser:mina").ingest([one] as never, {})).rejects.toBe(
      unavailable,
    );
    // As a port does that only wants to know whether the sight is known.
    expect(eyes.at(-1)?.look?.()).toBeInstanceOf(Promise);
    for (let i = 0; i < 5; i++) await turn();
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

/** Read authorization while the policies cannot be read. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { createReadAuthority } from "../../src/auth/access/read-authority.ts";
import { restrictedNames } from "../../src/auth/access/restricted-entities.ts";
import type { AccessContext } from "../../src/catalog/access/access-filter.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { proposal } from "../support/client.ts";

const nothing = restrictedNames({ entities: new Map() });
const TAG = "urn:li:tag:a";

test("an unavailable policy view fails only the requests that need it", async () => {
  const unavailable = new CatalogError("unavailable", "the view is behind");
  const contexts: AccessContext[] = [];
  const catalog = {
    ingest: async () => ({ position: 1 }),
    filterExisting: async () => [TAG],
  } as unknown as Catalog;
  const { catalogFor } = createReadAuthority({
    ...{ guard: (one) => one, fields: { ofCriteria: {}, memberTypes: [] } },
    ...{ namespace: "li", systemActor: "urn:li:corpuser:system", now: Date.now },
    ...{ restricted: nothing, sealed: nothing },
    urnOf: ({ entityUrn }) => entityUrn,
    authority: {
      allows: async () => true,
      authContext: () => Promise.reject(unavailable),
    },
    catalog: {
      ...{ ...catalog, peek: () => undefined },
      authorizedFor(own) {
        contexts.push(own);
        return {
          ...catalog,
          filterExisting: async () => own.resolveFilter?.(),
        } as unknown as Catalog;
      },
    },
  });
  const unhandled: unknown[] = [];
  const record = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  try {
    const one = proposal(TAG, "tagProperties", { name: "a" });
    await expect(catalogFor("urn:li:corpuser:mina").ingest([one] as never, {})).rejects.toBe(
      unavailable,
    );
    // A port that only checks whether the access filter is loaded ignores the promise.
    expect(contexts.at(-1)?.resolveFilter?.()).toBeInstanceOf(Promise);
    for (let i = 0; i < 5; i++) await yieldToEventLoop();
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", record);
  }
});

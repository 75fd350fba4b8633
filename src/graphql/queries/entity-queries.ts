/** The queries that return entities by their urns. */
import type { Viewer } from "../context.ts";
import { rejectMore } from "../limits.ts";
import type { Maybe } from "../maybe.ts";
import { entityTypeRows } from "../schema/entity-types.ts";
import { type EntitySource, entityOf, namedAs } from "./entity-source.ts";

const urnsMax = 1_000;

const there = async (urn: string, viewer: Viewer): Promise<EntitySource | null> => {
  const loaded = await viewer.loader.load(urn);
  return loaded.exists ? entityOf(loaded.urn) : null;
};

/** An entity of one type; null when it does not exist. */
const existing =
  (typename: string) =>
  async ({ urn }: { urn: string }, viewer: Viewer) => {
    const found = await there(urn, viewer);
    return found?.__typename === typename ? found : null;
  };

/** A missing entity of a type with the field `exists`: clients show "not found" when it is false. */
const withExists =
  (typename: string) =>
  async ({ urn }: { urn: string }, viewer: Viewer) =>
    namedAs(typename, (await viewer.loader.load(urn)).urn);

const fieldsOfTypes = Object.values(entityTypeRows).flatMap(
  ({ query, typename = "", returnsMissing }) =>
    query === undefined
      ? []
      : [[query, (returnsMissing ? withExists : existing)(typename)] as const],
);

interface Urns {
  readonly urns: readonly string[];
  readonly checkForExistence?: Maybe<boolean>;
}

async function entities({ urns, checkForExistence }: Urns, viewer: Viewer) {
  const hint = "Ask for them in several fields or requests";
  rejectMore(urns.length, urnsMax, "urns has", "members", hint);
  const found = urns.map((urn) => there(urn, viewer));
  return checkForExistence ? (await Promise.all(found)).filter((one) => one !== null) : found;
}

export const entityQueries = {
  entity: ({ urn }: { urn: string }, viewer: Viewer) => there(urn, viewer),
  entities,
  entityExists: async ({ urn }: { urn: string }, { catalog }: Viewer) =>
    catalog.exists(urn, { includeSoftDelete: true }),
  ...Object.fromEntries(fieldsOfTypes),
};

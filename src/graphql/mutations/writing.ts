/** Writes of mutations: proposals of the caller, atomic for each field. */
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import type { Viewer } from "../context.ts";

/** Maximum number of entities, and of labels, of one field. */
const membersMax = 1_000;

export interface PatchOperation {
  readonly op: "add" | "remove";
  /** Unescaped segments. */
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** A segment of a JSON pointer. */
const segment = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");

export function patchOf(
  urn: string,
  aspectName: string,
  operations: readonly PatchOperation[],
): Proposal {
  const patch = operations.map(({ op, path, value }) => ({
    op,
    path: path.map((part) => `/${segment(part)}`).join(""),
    ...(op === "add" && { value }),
  }));
  return {
    entityType: entityTypeOf(urn),
    entityUrn: urn,
    changeType: "PATCH",
    aspectName,
    aspect: { value: patch, contentType: "application/json-patch+json" },
  };
}

export const proposalOf = (
  urn: string,
  aspectName: string,
  value: object,
  changeType: "UPSERT" | "CREATE_ENTITY" = "UPSERT",
): Proposal => ({
  entityType: entityTypeOf(urn),
  entityUrn: urn,
  changeType,
  aspectName,
  aspect: { value, contentType: "application/json" },
});

export async function write(proposals: readonly Proposal[], viewer: Viewer): Promise<true> {
  if (proposals.length > 0) await placeOf(proposals, viewer);
  return true;
}

/** Writes the proposals. Returns their position; undefined when they change nothing. */
export async function placeOf(
  proposals: readonly Proposal[],
  { catalog, actor, wrote, loader }: Viewer,
): Promise<Position | undefined> {
  const { position } = await catalog.ingest(proposals, { actor });
  wrote(position);
  loader.forget();
  return position;
}

/** A urn of one of the types, in the service's namespace. Throws `malformed`. */
export function urnOf(text: string, entityTypes: readonly string[], { namespace }: Viewer): string {
  const urn = withNamespace(text, namespace);
  if (entityTypes.includes(entityTypeOf(urn))) return urn;
  throw new CatalogError("malformed", `"${text.slice(0, 120)}" is no ${entityTypes.join(" or ")}`, {
    hint: `Send urn:${namespace}:${entityTypes[0]}:…`,
  });
}

/** Throws `not_found` with the first missing urn, `malformed` for too many. */
export async function refuseMissing(urns: readonly string[], viewer: Viewer): Promise<void> {
  if (urns.length > membersMax) {
    throw new CatalogError("malformed", `${urns.length} urns are given, of at most ${membersMax}`, {
      hint: "Send them in several requests",
    });
  }
  const there = new Set(await viewer.catalog.filterExisting(urns, { includeSoftDelete: true }));
  const missing = urns.find((urn) => !there.has(urn));
  if (missing === undefined) return;
  throw new CatalogError("not_found", `"${missing.slice(0, 600)}" does not exist`);
}

export async function remove(urn: string, viewer: Viewer): Promise<true> {
  const { catalog, actor, wrote, loader } = viewer;
  await refuseMissing([urn], viewer);
  // Deletes the references to it first, like DataHub.
  const { position: unlinked } = await catalog.deleteReferences({ urn }, { actor });
  const { position } = await catalog.delete({ urn }, { actor });
  wrote(position ?? unlinked);
  loader.forget();
  return true;
}

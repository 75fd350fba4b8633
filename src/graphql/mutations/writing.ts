/** Writes of mutations: proposals of the caller, atomic for each field. */

import type { Privilege } from "../../auth/policies/privileges.ts";
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { REQUIRED, type RequiredPrivileges } from "../../core/write/required-privileges.ts";
import { isOvertaken } from "../../core/write/upsert.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Viewer } from "../context.ts";
import { rejectMore } from "../limits.ts";
import type { Maybe } from "../maybe.ts";

/** Maximum number of entities, and of labels, of one field. */
const membersMax = 1_000;

export interface PatchOperation {
  readonly op: "add" | "remove";
  /** Unescaped segments. */
  readonly path: readonly string[];
  readonly value?: unknown;
}

/**
 * Requirements in place of the privileges for the written aspects (core/write/required-privileges.ts). `none`: no
 * privilege is required.
 */
export type Required = readonly RequiredPrivileges[] | "none";

/** Requires any of the privileges, on each of the entities; without entities, on the platform. */
export const anyOf = (
  privileges: readonly Privilege[],
  urns: readonly string[] = [],
): RequiredPrivileges => ({ privileges: privileges.map((one) => [one]), urns });

/** A segment of a JSON pointer. */
const segment = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");

/** `keys`: the fields that address the members of arrays, where they differ from patch-keys.json. */
export function patchOf(
  urn: string,
  aspectName: string,
  operations: readonly PatchOperation[],
  keys?: Readonly<Record<string, readonly string[]>>,
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
    aspect: {
      value: keys ? { patch, arrayPrimaryKeys: keys } : patch,
      contentType: "application/json-patch+json",
    },
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

export async function write(
  proposals: readonly Proposal[],
  viewer: Viewer,
  required?: Required,
): Promise<true> {
  if (proposals.length > 0) await writeProposals(proposals, viewer, required);
  return true;
}

/** Writes the proposals. Returns their position; undefined when they change nothing. */
export async function writeProposals(
  proposals: readonly Proposal[],
  { catalog, actor, wrote, loader }: Viewer,
  required?: Required,
): Promise<Position | undefined> {
  const { position } = await catalog.ingest(proposals, { actor, [REQUIRED]: required });
  wrote(position);
  loader.clear();
  return position;
}

/** A urn of one of the types, in the service's namespace. Throws `malformed`, also for an absent one. */
export function urnOf(
  sent: Maybe<string>,
  entityTypes: readonly string[],
  { namespace }: Viewer,
): string {
  const text = sent ?? "";
  const urn = withNamespace(text, namespace);
  if (entityTypes.includes(entityTypeOf(urn))) return urn;
  throw new CatalogError(
    "malformed",
    `"${text.slice(0, 120)}" is not a urn of type ${entityTypes.join(" or ")}`,
    {
      hint: `Send urn:${namespace}:${entityTypes[0]}:…`,
    },
  );
}

/** Throws `not_found` with the first missing urn, `malformed` for too many. */
export async function rejectMissing(urns: readonly string[], viewer: Viewer): Promise<void> {
  rejectMore(urns.length, membersMax, "the request has", "urns", "Send them in several requests");
  const there = new Set(await viewer.catalog.filterExisting(urns, { includeSoftDelete: true }));
  const missing = urns.find((urn) => !there.has(urn));
  if (missing === undefined) return;
  throw new CatalogError("not_found", `"${missing.slice(0, 600)}" does not exist`);
}

export async function remove(
  urn: string,
  viewer: Viewer,
  required?: Required,
  keepReferences = false,
): Promise<true> {
  const { catalog, wrote, loader } = viewer;
  const caller = { actor: viewer.actor, [REQUIRED]: required };
  await rejectMissing([urn], viewer);
  // An entity that cannot be deleted keeps its references.
  await catalog.delete({ urn, dryRun: true }, caller);
  // Deletes the references to it first, like DataHub.
  const unlinked = keepReferences ? undefined : await catalog.deleteReferences({ urn }, caller);
  const { position } = await catalog.delete({ urn }, caller);
  wrote(position ?? unlinked?.position);
  loader.clear();
  return true;
}

/** Maximum attempts to change an aspect that other requests write, too. */
const attemptsMax = 10;

/**
 * Writes proposals that depend on the stored value of an aspect, on condition that the aspect stays
 * unchanged, and computes them again when it does not. The proposal for the aspect itself is
 * `changed`; undefined writes nothing.
 */
export async function rewrite(
  urn: string,
  aspectName: string,
  compute: (
    stored: JsonObject | undefined,
  ) => Promise<{ readonly changed: object; readonly others?: readonly Proposal[] } | undefined>,
  viewer: Viewer,
  required?: Required,
): Promise<true> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const found = await viewer.catalog.findAspect(urn, aspectName, 0);
    const computed = await compute(found && (JSON.parse(found.value) as JsonObject));
    if (computed === undefined) return true;
    const headers = { "If-Version-Match": String(found?.version ?? -1) };
    const { changed, others = [] } = computed;
    const proposals = [{ ...proposalOf(urn, aspectName, changed), headers }, ...others];
    try {
      return await write(proposals, viewer, required);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      viewer.loader.clear();
    }
  }
  const message = `other writes changed "${aspectName}" of "${urn}" during ${attemptsMax} attempts`;
  throw new CatalogError("conflict", message, { hint: "Send the request again" });
}

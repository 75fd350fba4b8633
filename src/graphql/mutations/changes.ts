/** Functions of several families of mutations: new entities, changes of a whole aspect, privileges. */
import { randomUUID } from "node:crypto";
import { alternativesText, type PrivilegeAlternatives } from "../../auth/policies/privileges.ts";
import { CatalogError } from "../../core/errors.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { proposalOf, type Required, rewrite, write } from "./writing.ts";

/** The urn of the caller; as for every write, the system actor for an anonymous one. */
export const actorOf = ({ actor, namespace }: Viewer): string =>
  actor ?? `urn:${namespace}:corpuser:__datahub_system`;

/** An audit stamp: the current time in milliseconds, and the caller. */
export const stampOf = (viewer: Viewer) => ({ time: viewer.now(), actor: actorOf(viewer) });

/** Creates an entity with its aspects in one write, and returns its urn. Fails when the entity exists. */
export async function createEntity(
  entityType: string,
  { id, aspects, required }: NewEntity,
  viewer: Viewer,
): Promise<string> {
  const urn = `urn:${viewer.namespace}:${entityType}:${id?.trim() || randomUUID()}`;
  const values = Object.entries(aspects).filter(([, value]) => value !== undefined);
  const proposals = values.map(([name, value = {}], index) =>
    proposalOf(urn, name, value, index === 0 ? "CREATE_ENTITY" : "UPSERT"),
  );
  await write(proposals, viewer, typeof required === "function" ? required(urn) : required);
  return urn;
}

interface NewEntity {
  /** The id of the urn; random when absent or blank. */
  readonly id?: Maybe<string>;
  /** Values by name, the first of which creates the entity; undefined ones are left out. */
  readonly aspects: Readonly<Record<string, object | undefined>>;
  readonly required?: Required | ((urn: string) => Required | undefined);
}

/** Changes an aspect from its stored value ({} when absent), and again when another write came first. */
export const changeAspect = (
  urn: string,
  aspectName: string,
  change: (stored: JsonObject) => object,
  viewer: Viewer,
  required?: Required,
): Promise<true> =>
  rewrite(urn, aspectName, async (stored) => ({ changed: change(stored ?? {}) }), viewer, required);

/** Sets members of an aspect; the others keep their stored values. */
export const setMembers = (
  urn: string,
  aspectName: string,
  members: object,
  viewer: Viewer,
  required?: Required,
): Promise<true> =>
  changeAspect(urn, aspectName, (stored) => ({ ...stored, ...members }), viewer, required);

/** The members of an input that have a value, without null and undefined. */
export function given<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(members).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Throws `forbidden` for a caller without any of the privileges. */
export async function requirePrivilege(
  alternatives: PrivilegeAlternatives,
  viewer: Viewer,
): Promise<void> {
  if (await viewer.authority.allows(viewer.actor, alternatives)) return;
  throw new CatalogError("forbidden", "Unauthorized to perform this action", {
    hint: `It needs the privilege ${alternativesText(alternatives)}`,
  });
}

/** The stored value of an aspect. Throws `not_found` where the entity or the aspect is missing. */
export async function storedAspect(
  urn: string,
  aspectName: string,
  viewer: Viewer,
): Promise<JsonObject> {
  const value = (await viewer.loader.load(urn)).aspect(aspectName);
  if (value !== undefined) return value;
  throw new CatalogError("not_found", `"${urn.slice(0, 600)}" does not exist`);
}

/** Removes null and undefined members at any depth: they count as absent. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!jsonObject(value)) return value;
  const present = Object.entries(value).filter(([, one]) => (one ?? null) !== null);
  return Object.fromEntries(present.map(([name, one]) => [name, withoutNulls(one)]));
}

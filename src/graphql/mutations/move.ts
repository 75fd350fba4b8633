/**
 * Moves domains below domains, and glossary terms and nodes below nodes. No entity may become its own
 * ancestor. One write cannot check this, because two valid moves together can close a cycle. The moves of
 * one node run in sequence; another node may write between the check and the write:
 *
 *   node 1 moves A below B: check, write      node 2 moves B below A: check, write
 *
 * so each node checks again after its write and reverts a move that closed a cycle. The last writer
 * always finds the cycle; both moves may be reverted, and none remains.
 */
import { CatalogError } from "../../core/errors.ts";
import { START } from "../../core/position.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { Viewer } from "../context.ts";
import { memberAt } from "../mapping/mapping.ts";
import type { Maybe } from "../maybe.ts";
import { propertiesAspectOf } from "../schema/entity-types.ts";
import { domainNames, rejectTakenName } from "./unique-names.ts";
import { patchOf, rejectMissing, urnOf, write, writeProposals } from "./writing.ts";

interface NewParent {
  /** Path of the parent's urn in the aspect: `member` or `member/member`. */
  readonly field: string;
  readonly parent: Maybe<string>;
  /** Entity type of parents. */
  readonly type: string;
}

/** Maximum length of a chain of parents. */
const stepsMax = 1_000;
/** Maximum attempts to revert a move while others write the same aspect. */
const attemptsMax = 5;

const aspectOf = (urn: string): string => propertiesAspectOf(entityTypeOf(urn));

/** The current parent. It ignores the viewer's read permissions, which do not affect cycles. */
async function parentOf(urn: string, field: string, { entities }: Viewer): Promise<unknown> {
  const stored = (await entities.find(urn))?.[aspectOf(urn)];
  return memberAt(stored, field.split("/"));
}

/** True when `urn` is `other` or one of its ancestors. Throws `invalid` for too many ancestors. */
async function liesAbove(
  urn: string,
  other: string,
  field: string,
  viewer: Viewer,
): Promise<boolean> {
  const seen = new Set<string>();
  let at: unknown = other;
  while (typeof at === "string" && !seen.has(at)) {
    if (at === urn) return true;
    seen.add(at);
    if (seen.size > stepsMax) {
      throw new CatalogError("invalid", `"${other}" has more than ${stepsMax} parents above it`, {
        hint: "Name a parent that is nearer to the top",
      });
    }
    at = await parentOf(at, field, viewer);
  }
  return false;
}

const placed = (urn: string, field: string, parent: string | undefined) =>
  patchOf(urn, aspectOf(urn), [
    parent === undefined
      ? { op: "remove", path: field.split("/").slice(0, 1) }
      : { op: "add", path: field.split("/"), value: parent },
  ]);

/** Reverts a move unless the entity was moved again. Throws `conflict` when all attempts fail. */
async function takeBack(
  urn: string,
  { field, from, to }: { readonly field: string; readonly from: unknown; readonly to: string },
  viewer: Viewer,
): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const [found] = await viewer.catalog.findEntities([urn], [aspectOf(urn)]);
    const [latest] = found?.aspects ?? [];
    if (latest === undefined || JSON.parse(latest.value)[field] !== to) return;
    const back = placed(urn, field, typeof from === "string" ? from : undefined);
    const headers = { "If-Version-Match": String(latest.version) };
    try {
      await write([{ ...back, headers }], viewer);
      return;
    } catch (error) {
      // The aspect changed between the read and the write: try again.
      if (!(error instanceof CatalogError && error.code === "invalid")) throw error;
    }
  }
  throw new CatalogError("conflict", `"${urn}" lies below itself, by way of "${to}"`, {
    hint: "Other writers changed it during each attempt to revert the move: move it again",
  });
}

/** Throws `conflict` for a domain if another domain below the parent has its name. */
async function rejectTakenNameAt(
  urn: string,
  parent: string | undefined,
  viewer: Viewer,
): Promise<void> {
  if (entityTypeOf(urn) !== "domain") return;
  const name = (await viewer.loader.load(urn)).aspect(aspectOf(urn))?.name;
  if (typeof name === "string") await rejectTakenName(domainNames, { name, parent, urn }, viewer);
}

/**
 * Moves an entity below another parent, or to the top. Throws `invalid` when the parent is the entity or
 * lies below it, and `conflict` after reverting a move that closed a cycle.
 */
export async function move(urn: string, newParent: NewParent, viewer: Viewer): Promise<true> {
  const { field, parent, type } = newParent;
  const to = parent ? urnOf(parent, [type], viewer) : undefined;
  await rejectMissing(to === undefined ? [urn] : [urn, to], viewer);
  if (to === urn) {
    throw new CatalogError("invalid", `"${urn}" cannot be its own parent`, {
      hint: "Name another parent, or no parent to move it to the top level",
    });
  }
  return viewer.moving(async () => {
    await rejectTakenNameAt(urn, to, viewer);
    if (to === undefined) return write([placed(urn, field, undefined)], viewer);
    if (await liesAbove(urn, to, field, viewer)) {
      throw new CatalogError("invalid", `"${urn}" cannot lie below "${to}", which lies below it`, {
        hint: "Move the new parent first, or name another parent",
      });
    }
    const from = await parentOf(urn, field, viewer);
    const position = await writeProposals([placed(urn, field, to)], viewer);
    // Includes all earlier writes of others.
    await viewer.catalog.reach("entities", position ?? START);
    if (!(await liesAbove(urn, to, field, viewer))) return true;
    await takeBack(urn, { field, from, to }, viewer);
    throw new CatalogError("conflict", `"${to}" was moved below "${urn}" meanwhile`, {
      hint: "Read the parents of both, and move one of them again",
    });
  });
}

/**
 * Moving what has a parent: a domain under another, glossary terms and nodes under nodes. Nothing may
 * come to lie below itself, which no one write can tell: two moves, each fine alone, may make a ring
 * together. Here they are done one after the other. Another node may write between a look and a write:
 *
 *   A under B here: look, write      B under A there: look, write      each looks before both write
 *
 * so that each looks again once it has written, and takes back what it wrote where that closed a ring.
 * Whoever writes last sees the ring; both may take back, and nobody leaves one.
 */
import { CatalogError } from "../core/errors.ts";
import { ownValue } from "../core/own-value.ts";
import { START } from "../core/position.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { Maybe } from "./maybe.ts";
import { propertiesAspects } from "./telling-aspects.ts";
import { domainNames, refuseTakenName } from "./unique-names.ts";
import type { Viewer } from "./viewer.ts";
import { patchOf, placeOf, refuseMissing, urnOf, write } from "./writing.ts";

export interface Place {
  /** Where it tells its parent. */
  readonly field: string;
  readonly parent: Maybe<string>;
  /** Entity type of parents. */
  readonly type: string;
}

/** Longer chains of parents are not followed. */
const stepsMax = 1_000;
/** How often a move is taken back that others write over meanwhile. */
const attemptsMax = 5;

const aspectOf = (urn: string): string => ownValue(propertiesAspects, entityTypeOf(urn)) ?? "";

/** The parent as it is told now, of whatever the viewer may see: a ring has nothing to do with that. */
async function parentOf(urn: string, field: string, { entities }: Viewer): Promise<unknown> {
  const told = (await entities.find(urn))?.[aspectOf(urn)];
  return (told as Readonly<Record<string, unknown>> | undefined)?.[field];
}

/** Whether the urn is the other or one of the parents above it. Throws `invalid` for too many. */
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
      throw new CatalogError("invalid", `"${other}" lies below more than ${stepsMax} others`, {
        hint: "Name a parent that lies higher",
      });
    }
    at = await parentOf(at, field, viewer);
  }
  return false;
}

const placed = (urn: string, field: string, parent: string | undefined) =>
  patchOf(urn, aspectOf(urn), [
    parent === undefined
      ? { op: "remove", path: [field] }
      : { op: "add", path: [field], value: parent },
  ]);

/** Puts the urn back, unless somebody has moved it since. Throws `conflict` where others never let it. */
async function takeBack(
  urn: string,
  { field, from, to }: { readonly field: string; readonly from: unknown; readonly to: string },
  viewer: Viewer,
): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const [found] = await viewer.catalog.findEntities([urn], [aspectOf(urn)]);
    const [told] = found?.aspects ?? [];
    if (told === undefined || JSON.parse(told.value)[field] !== to) return;
    const back = placed(urn, field, typeof from === "string" ? from : undefined);
    const headers = { "If-Version-Match": String(told.version) };
    try {
      await write([{ ...back, headers }], viewer);
      return;
    } catch (error) {
      // Something else of it was written in between: it is looked at again.
      if (!(error instanceof CatalogError && error.code === "invalid")) throw error;
    }
  }
  throw new CatalogError("conflict", `"${urn}" lies below itself, by way of "${to}"`, {
    hint: "Others wrote to it each time it was to be taken back: move it to where it belongs",
  });
}

/** Throws `conflict` for a domain if another domain below the parent has its name. */
async function refuseTakenNameAt(
  urn: string,
  parent: string | undefined,
  viewer: Viewer,
): Promise<void> {
  if (entityTypeOf(urn) !== "domain") return;
  const name = (await viewer.loader.load(urn)).aspect(aspectOf(urn))?.name;
  if (typeof name === "string") await refuseTakenName(domainNames, { name, parent, urn }, viewer);
}

/**
 * Under another parent, or under none. Throws `invalid` for a parent that is it or lies below it, and
 * `conflict` where that came to lie below it while it was moved: then it is where it was.
 */
export async function move(urn: string, place: Place, viewer: Viewer): Promise<true> {
  const { field, parent, type } = place;
  const to = parent ? urnOf(parent, [type], viewer) : undefined;
  await refuseMissing(to === undefined ? [urn] : [urn, to], viewer);
  if (to === urn) {
    throw new CatalogError("invalid", `"${urn}" cannot be its own parent`, {
      hint: "Name another one, or none for the top",
    });
  }
  return viewer.moving(async () => {
    await refuseTakenNameAt(urn, to, viewer);
    if (to === undefined) return write([placed(urn, field, undefined)], viewer);
    if (await liesAbove(urn, to, field, viewer)) {
      throw new CatalogError("invalid", `"${urn}" cannot lie below "${to}", which lies below it`, {
        hint: "Move that one first, or name another parent",
      });
    }
    const from = await parentOf(urn, field, viewer);
    const position = await placeOf([placed(urn, field, to)], viewer);
    // With all that others wrote before.
    await viewer.catalog.reach("entities", position ?? START);
    if (!(await liesAbove(urn, to, field, viewer))) return true;
    await takeBack(urn, { field, from, to }, viewer);
    throw new CatalogError("conflict", `"${to}" came to lie below "${urn}" meanwhile`, {
      hint: "Look where both are, and move one of them again",
    });
  });
}

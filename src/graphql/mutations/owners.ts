/**
 * Mutations of owners. An ownership type has two forms: the old `type` and the urn of an ownership type
 * entity (`typeUrn`). Each old type has a system ownership type (TECHNICAL_OWNER is
 * urn:li:ownershipType:__system__technical_owner), so that both forms are one owner.
 */
import type { Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import type { Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { type LabelResource, rejectTooMany } from "./label-resources.ts";
import { type PatchOperation, patchOf, rejectMissing, urnOf, write } from "./writing.ts";

export interface OwnerInput {
  readonly ownerUrn: string;
  readonly ownerEntityType?: Maybe<string>;
  readonly type?: Maybe<string>;
  readonly ownershipTypeUrn?: Maybe<string>;
}

/** An entry of the aspect `ownership`. */
export interface Owner {
  readonly owner: string;
  readonly type: string;
  readonly typeUrn?: string | undefined;
}

const people = ["corpuser", "corpGroup"];
const entityTypes: ReadonlyMap<Maybe<string>, string> = new Map([
  ["CORP_USER", "corpuser"],
  ["CORP_GROUP", "corpGroup"],
]);

const systemTypeUrn = (type: string, { namespace }: Viewer): string =>
  `urn:${namespace}:ownershipType:__system__${type.toLowerCase()}`;

/** Identifies an owner and its ownership type; equal for both forms. */
const kindOf = ({ owner, type, typeUrn }: Owner, viewer: Viewer): string =>
  JSON.stringify([owner, typeUrn || systemTypeUrn(type, viewer)]);

/** Throws `malformed` for an owner of another entity type than stated, or without an ownership type. */
function ownerOf(input: OwnerInput, viewer: Viewer): Owner {
  const owner = urnOf(input.ownerUrn, people, viewer);
  const stated = entityTypes.get(input.ownerEntityType);
  if (stated !== undefined && entityTypeOf(owner) !== stated) {
    const is = `owner "${owner}" is of entity type ${entityTypeOf(owner)}`;
    throw new CatalogError("malformed", `${is}, but ownerEntityType is ${input.ownerEntityType}`, {
      hint: "Leave ownerEntityType out, or correct one of them",
    });
  }
  const { type, ownershipTypeUrn } = input;
  if (!ownershipTypeUrn) {
    if (type) return { owner, type };
    throw new CatalogError("malformed", `owner "${owner}" has neither type nor ownershipTypeUrn`, {
      hint: "Send ownershipTypeUrn",
    });
  }
  const typeUrn = urnOf(ownershipTypeUrn, ["ownershipType"], viewer);
  const system = /:ownershipType:__system__(\w+)$/.exec(typeUrn)?.[1]?.toUpperCase();
  return { owner, type: type ?? system ?? "CUSTOM", typeUrn };
}

/** The owners with the urns of the system ownership types that exist. */
export async function withTypeUrns(
  owners: readonly Owner[],
  viewer: Viewer,
): Promise<readonly Owner[]> {
  const implied = new Set(
    owners.flatMap(({ type, typeUrn }) => (typeUrn ? [] : [systemTypeUrn(type, viewer)])),
  );
  const there = new Set(
    await viewer.catalog.filterExisting([...implied], { includeSoftDelete: true }),
  );
  return owners.map((one) => {
    const typeUrn = one.typeUrn ?? systemTypeUrn(one.type, viewer);
    return one.typeUrn !== undefined || there.has(typeUrn) ? { ...one, typeUrn } : one;
  });
}

const ownersOf = async (urn: string, viewer: Viewer): Promise<readonly Owner[]> =>
  ((await viewer.loader.load(urn)).aspect("ownership")?.owners ?? []) as readonly Owner[];

const pathOf = ({ owner, type, typeUrn }: Owner): readonly string[] => [
  ...["owners", owner, type],
  ...(typeUrn ? [typeUrn] : []),
];

/** The owners of an input; they and their ownership types must exist. */
export async function existingOwners(
  inputs: readonly OwnerInput[],
  viewer: Viewer,
): Promise<readonly Owner[]> {
  const asked = inputs.map((input) => ownerOf(input, viewer));
  await rejectMissing([...new Set(asked.map(({ owner }) => owner))], viewer);
  await rejectMissing([...new Set(asked.flatMap(({ typeUrn }) => typeUrn ?? []))], viewer);
  return asked;
}

/** Adds the owners to the resources; each replaces its other form. */
export async function addOwners(
  inputs: readonly OwnerInput[],
  resources: readonly LabelResource[],
  viewer: Viewer,
): Promise<true> {
  rejectTooMany(inputs, resources);
  rejectColumns(resources);
  const urns = resources.map(({ resourceUrn }) => resourceUrn);
  await rejectMissing(urns, viewer);
  const asked = await existingOwners(inputs, viewer);
  const owners = new Map(
    (await withTypeUrns(asked, viewer)).map((one) => [kindOf(one, viewer), one]),
  );
  const proposals: Proposal[] = [];
  for (const urn of urns) {
    const replaced = (await ownersOf(urn, viewer)).filter((one) => {
      const added = owners.get(kindOf(one, viewer));
      return added !== undefined && (added.type !== one.type || added.typeUrn !== one.typeUrn);
    });
    const operations: PatchOperation[] = [
      ...replaced.map(removal),
      ...Array.from(owners.values(), (one) => ({
        ...{ op: "add" as const, path: pathOf(one), value: one },
      })),
    ];
    if (operations.length > 0) proposals.push(patchOf(urn, "ownership", operations));
  }
  return write(proposals, viewer);
}

const removal = ({ owner, type, typeUrn = "" }: Owner): PatchOperation => ({
  op: "remove",
  path: ["owners", owner, type, typeUrn],
});

/** Removes owners of one ownership type in both its forms, or of all types when `typeUrn` is absent. */
export async function removeOwners(
  asked: { readonly urns: readonly string[]; readonly typeUrn: Maybe<string> },
  resources: readonly LabelResource[],
  viewer: Viewer,
): Promise<true> {
  rejectTooMany(asked.urns, resources);
  const named = new Set(asked.urns.map((urn) => urnOf(urn, people, viewer)));
  const typeUrn = asked.typeUrn ? urnOf(asked.typeUrn, ["ownershipType"], viewer) : undefined;
  const urns = resources.map(({ resourceUrn }) => resourceUrn);
  await rejectMissing(urns, viewer);
  const proposals: Proposal[] = [];
  for (const urn of urns) {
    const operations = (await ownersOf(urn, viewer))
      .filter((one) => named.has(one.owner))
      .filter(
        (one) =>
          typeUrn === undefined || kindOf(one, viewer) === kindOf({ ...one, typeUrn }, viewer),
      )
      .map(removal);
    if (operations.length > 0) proposals.push(patchOf(urn, "ownership", operations));
  }
  return write(proposals, viewer);
}

function rejectColumns(resources: readonly LabelResource[]): void {
  const column = resources.find(({ subResource }) => subResource);
  if (column === undefined) return;
  const why = `column "${column.subResource?.slice(0, 120)}" cannot have owners`;
  throw new CatalogError("malformed", why, { hint: "Leave subResource out" });
}

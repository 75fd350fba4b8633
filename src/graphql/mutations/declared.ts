/**
 * Builds mutations from declarations: `creating` an entity from its input, `updating` members of an aspect,
 * `deleting` an entity. The folders beside this file have the declarations.
 */
import { CatalogError } from "../../core/errors.ts";
import type { InputArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { entityOf } from "../queries/entity-source.ts";
import { createEntity, stampOf } from "./changes.ts";
import { type Owner, withTypeUrns } from "./owners.ts";
import {
  type PatchOperation,
  patchOf,
  type Required,
  rejectMissing,
  remove,
  urnOf,
  write,
} from "./writing.ts";

export type Mutation<Args> = (args: Args, viewer: Viewer) => Promise<unknown>;

/** The result of the mutation: the entity itself, its urn, or true. */
type Answer = "entity" | "urn" | true;

const answered = (urn: string, answer: Answer): unknown => {
  if (answer === true) return true;
  return answer === "urn" ? urn : entityOf(urn);
};

export interface Creation<Input> {
  readonly entityType: string;
  /** The id of the urn; random when absent or blank. */
  id?(input: Input): Maybe<string>;
  /** Names that must not be empty. */
  names?(input: Input): readonly Maybe<string>[];
  /** Entities that must exist. */
  dependencies?(input: Input): readonly Maybe<string>[];
  /**
   * Values of aspects by name. The first one is written with CREATE_ENTITY; undefined ones are left
   * out.
   */
  aspects(
    input: Input,
    viewer: Viewer,
  ): Readonly<Record<string, object | undefined>> | Promise<Readonly<Record<string, object>>>;
  /** False: the caller does not become the owner. */
  owned?(input: Input): boolean;
  required?(input: Input, urn: string): Required | undefined;
  readonly answer: Answer;
}

/** Creates an entity with all its aspects in one write. Fails when the entity exists. */
export const creating =
  <Input>(creation: Creation<Input>): Mutation<InputArgs<Input>> =>
  async ({ input }, viewer) =>
    answered(await create(creation, input, viewer), creation.answer);

/**
 * Creates the entity and returns its urn. Throws `malformed` for an empty name, `not_found` for a
 * missing dependency.
 */
export async function create<Input>(
  creation: Omit<Creation<Input>, "answer">,
  input: Input,
  viewer: Viewer,
): Promise<string> {
  const { entityType, id, names, dependencies, owned, required } = creation;
  for (const name of names?.(input) ?? []) rejectBlank(name);
  await rejectMissing(distinct(dependencies?.(input) ?? []), viewer);
  const aspects: Record<string, object | undefined> = {
    ...(await creation.aspects(input, viewer)),
  };
  const owner = viewer.actor;
  if (owner !== undefined && owned?.(input) !== false) {
    aspects.ownership = await ownershipOf([{ owner, type: "TECHNICAL_OWNER" }], viewer);
  }
  return createEntity(
    entityType,
    { id: id?.(input), aspects, required: (urn) => required?.(input, urn) },
    viewer,
  );
}

export const ownershipOf = async (owners: readonly Owner[], viewer: Viewer) => ({
  owners: await withTypeUrns(owners, viewer),
  lastModified: stampOf(viewer),
});

/** The non-empty strings of a list, each once. */
export const distinct = (urns: readonly Maybe<string>[]): readonly string[] =>
  [...new Set(urns.filter((urn) => typeof urn === "string" && urn !== ""))] as readonly string[];

export function rejectBlank(name: Maybe<string>): void {
  if (name?.trim() === "") {
    throw new CatalogError("malformed", "name is empty", { hint: "Send a name" });
  }
}

interface Update<Args> {
  urn(args: Args): string;
  /** Entity types that have the mutation; absent: every type that has the aspect. */
  readonly entityTypes?: readonly string[];
  readonly aspect: string;
  /** Entities that must exist besides the changed one. */
  dependencies?(args: Args): readonly Maybe<string>[];
  /** By path (`member/member`): null removes the member, undefined leaves it unchanged. */
  members(args: Args, viewer: Viewer, urn: string): Readonly<Record<string, unknown>>;
  required?(args: Args, urn: string, viewer: Viewer): Required | Promise<Required> | undefined;
  readonly answer: Answer;
}

/** Changes members of an aspect by a patch; the other members keep their values. */
export const updating =
  <Args>(update: Update<Args>): Mutation<Args> =>
  async (args, viewer) => {
    const { entityTypes, aspect, dependencies, members, required, answer } = update;
    const text = update.urn(args);
    const urn = entityTypes === undefined ? text : urnOf(text, entityTypes, viewer);
    await rejectMissing([urn, ...distinct(dependencies?.(args) ?? [])], viewer);
    const operations = operationsOf(members(args, viewer, urn));
    const proposals = operations.length === 0 ? [] : [patchOf(urn, aspect, operations)];
    await write(proposals, viewer, await required?.(args, urn, viewer));
    return answered(urn, answer);
  };

export const operationsOf = (
  members: Readonly<Record<string, unknown>>,
): readonly PatchOperation[] =>
  Object.entries(members).flatMap(([name, value]): readonly PatchOperation[] => {
    if (value === undefined) return [];
    const path = name.split("/");
    return value === null ? [{ op: "remove", path }] : [{ op: "add", path, value }];
  });

interface Deletion {
  required?(urn: string, viewer: Viewer): Promise<Required> | Required;
  /** True when absent. */
  readonly answer?: "urn";
}

type DeleteArgs = { readonly urn?: string; readonly input?: { readonly urn: string } };

/** Deletes an entity and the references to it; its urn is an argument or a member of the input. */
export const deleting =
  (entityTypes: readonly string[], { required, answer }: Deletion = {}): Mutation<DeleteArgs> =>
  async ({ urn: argument, input }, viewer) => {
    const urn = urnOf(argument ?? input?.urn, entityTypes, viewer);
    await remove(urn, viewer, await required?.(urn, viewer));
    return answered(urn, answer ?? true);
  };

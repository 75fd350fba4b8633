/** Forms, and their removal from assets. form-answers.ts has the answers. */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { entityOf } from "../../queries/entity-source.ts";
import { given } from "../changes.ts";
import { creating, deleting, distinct, operationsOf, rejectBlank } from "../declared.ts";
import { type PatchOperation, patchOf, rejectMissing, urnOf, write } from "../writing.ts";

interface PromptInput {
  readonly id?: Maybe<string>;
  readonly title: string;
  readonly description?: Maybe<string>;
  readonly type: string;
  readonly structuredPropertyParams?: Maybe<{ readonly urn: string }>;
  readonly required?: Maybe<boolean>;
}

interface NewForm {
  readonly id?: Maybe<string>;
  readonly name: string;
  readonly description?: Maybe<string>;
  readonly type?: Maybe<string>;
  readonly prompts?: Maybe<readonly PromptInput[]>;
  readonly actors?: Maybe<{
    readonly owners?: Maybe<boolean>;
    readonly users?: Maybe<readonly string[]>;
    readonly groups?: Maybe<readonly string[]>;
  }>;
}

interface FormUpdate {
  readonly urn: string;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly type?: Maybe<string>;
  readonly promptsToAdd?: Maybe<readonly PromptInput[]>;
  readonly promptsToRemove?: Maybe<readonly string[]>;
  readonly actors?: Maybe<{
    readonly owners?: Maybe<boolean>;
    readonly usersToAdd?: Maybe<readonly string[]>;
    readonly usersToRemove?: Maybe<readonly string[]>;
    readonly groupsToAdd?: Maybe<readonly string[]>;
    readonly groupsToRemove?: Maybe<readonly string[]>;
  }>;
}

function promptOf({ id, title, description, type, required, ...rest }: PromptInput) {
  const { structuredPropertyParams } = rest;
  if (!structuredPropertyParams) {
    throw new CatalogError("malformed", `prompt "${title}" names no structured property`, {
      hint: "Send structuredPropertyParams with its urn",
    });
  }
  return given({
    ...{ id: id?.trim() || randomUUID(), title, description, type },
    structuredPropertyParams: { urn: structuredPropertyParams.urn },
    required: required ?? false,
  });
}

const propertiesOf = (prompts: Maybe<readonly PromptInput[]>) =>
  (prompts ?? []).map(({ structuredPropertyParams }) => structuredPropertyParams?.urn);

/** The operation for each member of a list that names its members itself. */
const members = (op: "add" | "remove", list: string, values: Maybe<readonly string[]>) =>
  (values ?? []).map((value): PatchOperation => ({ op, path: ["actors", list, value], value }));

async function updateForm({ input }: InputArgs<FormUpdate>, viewer: Viewer) {
  const urn = urnOf(input.urn, ["form"], viewer);
  const { name, description, type, promptsToAdd, promptsToRemove, actors } = input;
  rejectBlank(name);
  await rejectMissing([urn, ...distinct(propertiesOf(promptsToAdd))], viewer);
  const prompts = (promptsToAdd ?? []).map(promptOf);
  const operations: readonly PatchOperation[] = [
    ...operationsOf(given({ name, description, type, "actors/owners": actors?.owners })),
    ...(promptsToRemove ?? []).map(
      (id): PatchOperation => ({ op: "remove", path: ["prompts", id] }),
    ),
    ...prompts.map((value): PatchOperation => {
      return { op: "add", path: ["prompts", String(value.id)], value };
    }),
    ...members("add", "users", actors?.usersToAdd),
    ...members("remove", "users", actors?.usersToRemove),
    ...members("add", "groups", actors?.groupsToAdd),
    ...members("remove", "groups", actors?.groupsToRemove),
  ];
  await write(operations.length === 0 ? [] : [patchOf(urn, "formInfo", operations)], viewer);
  return entityOf(urn);
}

interface FormInput {
  readonly formUrn: string;
  readonly entityUrns: readonly string[];
}

async function batchRemoveForm({ input }: InputArgs<FormInput>, viewer: Viewer) {
  const form = urnOf(input.formUrn, ["form"], viewer);
  const urns = distinct(input.entityUrns);
  await rejectMissing(urns, viewer);
  const operations = ["incompleteForms", "completedForms", "verifications"].map(
    (list): PatchOperation => ({ op: "remove", path: [list, form] }),
  );
  return write(
    urns.map((urn) => patchOf(urn, "forms", operations)),
    viewer,
  );
}

export const formMutations = {
  createForm: creating<NewForm>({
    entityType: "form",
    id: ({ id }) => id,
    names: ({ name }) => [name],
    dependencies: ({ prompts }) => propertiesOf(prompts),
    aspects: ({ name, description, type, prompts, actors }) => ({
      formInfo: given({
        ...{ name, description },
        type: type ?? "COMPLETION",
        prompts: (prompts ?? []).map(promptOf),
        actors: actors ? given({ ...actors }) : undefined,
      }),
    }),
    owned: () => false,
    answer: "entity",
  }),
  updateForm,
  deleteForm: deleting(["form"]),
  batchRemoveForm,
};

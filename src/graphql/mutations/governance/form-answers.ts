/**
 * Answers to forms. An answer sets the structured property of its prompt, and moves the prompt to the
 * completed ones; the form is complete with all of its required prompts. The respondents of a form,
 * and everybody who may edit the asset's properties, answer it.
 */
import { CatalogError, invalid } from "../../../core/errors.ts";
import { type JsonObject, jsonObject, objectsIn, stringsIn } from "../../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { columnUrn } from "../assets/columns.ts";
import { stampOf } from "../changes.ts";
import { columnResource, rejectUnknownColumns } from "../label-resources.ts";
import { anyOf, patchOf, type Required, rejectMissing, rewrite, urnOf, write } from "../writing.ts";
import { type PropertyInput, valuesPatch } from "./property-values.ts";

interface Answer {
  readonly promptId: string;
  readonly formUrn: string;
  readonly type: string;
  readonly fieldPath?: Maybe<string>;
  readonly structuredPropertyParams?: Maybe<PropertyInput>;
}

const FIELDS = "FIELDS_STRUCTURED_PROPERTY";

/** True if the actors of the form include the caller. */
async function isRespondent(form: JsonObject, asset: string, viewer: Viewer): Promise<boolean> {
  const { actor, authority, loader } = viewer;
  if (actor === undefined) return false;
  const groups = (await authority.authContext(actor))?.principal.groups ?? [];
  const { owners = true, users, groups: named } = jsonObject(form.actors) ? form.actors : {};
  if (stringsIn(users).includes(actor)) return true;
  if (stringsIn(named).some((group) => groups.includes(group))) return true;
  if (owners !== true) return false;
  const owned = objectsIn((await loader.load(asset)).aspect("ownership")?.owners);
  return owned.some(({ owner }) => owner === actor || groups.includes(String(owner)));
}

async function formOf(text: string, viewer: Viewer) {
  const form = urnOf(text, ["form"], viewer);
  await rejectMissing([form], viewer);
  return { form, info: (await viewer.loader.load(form)).aspect("formInfo") ?? {} };
}

interface PropertyPrompt {
  readonly prompt: JsonObject;
  readonly property: PropertyInput;
}

/** The prompt that an answer is for, and its property. */
function promptFor(
  { promptId, type, structuredPropertyParams }: Answer,
  info: JsonObject,
): PropertyPrompt {
  const prompt = objectsIn(info.prompts).find(({ id }) => id === promptId);
  if (prompt === undefined || prompt.type !== type) {
    throw invalid(
      `prompt "${promptId}" of type ${type} is not in the form`,
      "Send the id and the type of a prompt of its aspect formInfo",
    );
  }
  const asked = memberAt(prompt, ["structuredPropertyParams", "urn"]);
  if (structuredPropertyParams?.structuredPropertyUrn === asked && structuredPropertyParams) {
    return { prompt, property: structuredPropertyParams };
  }
  throw invalid(
    `prompt "${promptId}" asks for "${String(asked)}"`,
    "Send structuredPropertyParams with this structured property",
  );
}

const without = (list: unknown, key: string, value: unknown): readonly JsonObject[] =>
  objectsIn(list).filter((one) => one[key] !== value);

interface Progress {
  readonly answer: Answer;
  readonly stamp: { readonly time: number; readonly actor: string };
  /** All columns of the dataset. */
  readonly columns: readonly string[];
}

/** The state of a prompt after an answer, and whether the prompt is complete. */
function promptAfter(before: JsonObject | undefined, { answer, stamp, columns }: Progress) {
  const { promptId: id, type, fieldPath } = answer;
  if (type !== FIELDS) return { done: true, state: { id, lastModified: stamp } };
  const list = memberAt(before, ["fieldAssociations", "completedFieldPrompts"]);
  const completed = [...without(list, "fieldPath", fieldPath), { fieldPath, lastModified: stamp }];
  const answered = new Set(completed.map((one) => one.fieldPath));
  const open = columns.filter((column) => !answered.has(column));
  const incompleteFieldPrompts = open.map((path) => ({ fieldPath: path, lastModified: stamp }));
  const fieldAssociations = { completedFieldPrompts: completed, incompleteFieldPrompts };
  return { done: open.length === 0, state: { id, lastModified: stamp, fieldAssociations } };
}

/** The aspect `forms` after an answer. */
function formsAfter(stored: JsonObject, form: string, info: JsonObject, progress: Progress) {
  const { incompleteForms, completedForms } = stored;
  const own = [...objectsIn(incompleteForms), ...objectsIn(completedForms)].find(
    ({ urn }) => urn === form,
  );
  if (own === undefined) {
    throw invalid(`form "${form}" is not assigned to the asset`, "Assign it with batchAssignForm");
  }
  const { promptId } = progress.answer;
  const both = [...objectsIn(own.completedPrompts), ...objectsIn(own.incompletePrompts)];
  const before = both.find(({ id }) => id === promptId);
  const { done, state } = promptAfter(before, progress);
  const incompletePrompts = [
    ...without(own.incompletePrompts, "id", promptId),
    ...(done ? [] : [state]),
  ];
  const completedPrompts = [
    ...without(own.completedPrompts, "id", promptId),
    ...(done ? [state] : []),
  ];
  const required = objectsIn(info.prompts).filter((prompt) => prompt.required === true);
  const completed = new Set(completedPrompts.map(({ id }) => id));
  const isComplete = required.every(({ id }) => completed.has(id));
  const association = { ...own, incompletePrompts, completedPrompts };
  return {
    ...stored,
    incompleteForms: [
      ...without(incompleteForms, "urn", form),
      ...(isComplete ? [] : [association]),
    ],
    completedForms: [...without(completedForms, "urn", form), ...(isComplete ? [association] : [])],
    verifications: isComplete
      ? objectsIn(stored.verifications)
      : without(stored.verifications, "form", form),
  };
}

async function columnsOf(urn: string, { loader }: Viewer): Promise<readonly string[]> {
  const schema = (await loader.load(urn)).aspect("schemaMetadata");
  return objectsIn(schema?.fields).map(({ fieldPath }) => String(fieldPath));
}

async function submitFormPrompt(
  { urn, input: answer }: UpdateArgs<Answer>,
  viewer: Viewer,
): Promise<true> {
  await rejectMissing([urn], viewer);
  const { form, info } = await formOf(answer.formUrn, viewer);
  const { property } = promptFor(answer, info);
  let target = urn;
  if (answer.type === FIELDS) {
    const { fieldPath } = answer;
    if (!fieldPath)
      throw new CatalogError("malformed", "fieldPath is missing", {
        hint: "Send the fieldPath of a column",
      });
    await rejectUnknownColumns([columnResource(urn, fieldPath)], viewer);
    target = columnUrn(urn, fieldPath, viewer);
  }
  const required: Required = (await isRespondent(info, urn, viewer))
    ? "none"
    : [anyOf(["EDIT_ENTITY", "EDIT_ENTITY_PROPERTIES"], [urn])];
  const compute = async (stored: JsonObject = {}) => {
    const columns = await columnsOf(urn, viewer);
    const progress = { answer, stamp: stampOf(viewer), columns };
    const changed = formsAfter(stored, form, info, progress);
    return { changed, others: [await valuesPatch(target, [property], viewer)] };
  };
  return rewrite(urn, "forms", compute, viewer, required);
}

async function verifyForm(
  { input }: InputArgs<{ readonly formUrn: string; readonly entityUrn: string }>,
  viewer: Viewer,
): Promise<true> {
  const { entityUrn: urn } = input;
  await rejectMissing([urn], viewer);
  const { form, info } = await formOf(input.formUrn, viewer);
  if (viewer.actor !== undefined && !(await isRespondent(info, urn, viewer))) {
    throw new CatalogError("forbidden", `"${viewer.actor}" may not verify "${urn}"`, {
      hint: "The form names its respondents in the member actors of formInfo",
    });
  }
  const completed = objectsIn((await viewer.loader.load(urn)).aspect("forms")?.completedForms);
  if (info.type !== "VERIFICATION" || !completed.some((one) => one.urn === form)) {
    throw invalid(
      `form "${form}" cannot be verified for "${urn}"`,
      "Only complete forms of type VERIFICATION can: answer its required prompts first",
    );
  }
  const value = { form, lastModified: stampOf(viewer) };
  const operation = { op: "add", path: ["verifications", form], value } as const;
  return write([patchOf(urn, "forms", [operation])], viewer, "none");
}

export const formAnswerMutations = { submitFormPrompt, verifyForm };

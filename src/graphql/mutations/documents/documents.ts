/** Documents: texts with relations to assets and to each other, below other documents or at the top. */
import type { InputArgs, Viewer } from "../../context.ts";
import { rejectMore } from "../../limits.ts";
import type { Maybe } from "../../maybe.ts";
import { given, stampOf } from "../changes.ts";
import {
  type Creation,
  creating,
  distinct,
  type Mutation,
  operationsOf,
  ownershipOf,
} from "../declared.ts";
import { move } from "../move.ts";
import { existingOwners, type OwnerInput } from "../owners.ts";
import { patchOf, rejectMissing, urnOf, write } from "../writing.ts";

interface NewDocument {
  readonly id?: Maybe<string>;
  readonly subType?: Maybe<string>;
  readonly title?: Maybe<string>;
  readonly state?: Maybe<string>;
  readonly contents: { readonly text: string };
  readonly owners?: Maybe<readonly OwnerInput[]>;
  readonly parentDocument?: Maybe<string>;
  readonly relatedAssets?: Maybe<readonly string[]>;
  readonly relatedDocuments?: Maybe<readonly string[]>;
  readonly settings?: Maybe<{ readonly showInGlobalContext?: Maybe<boolean> }>;
}

const textCharactersMax = 1_000_000;

const rejectLongText = ({ length }: string): void =>
  rejectMore(
    length,
    textCharactersMax,
    "the text has",
    "characters",
    "Send it as several documents",
  );

const assetsIn = (urns: readonly string[]) => distinct(urns).map((asset) => ({ asset }));
const documentsIn = (urns: readonly string[], viewer: Viewer) =>
  distinct(urns).map((urn) => ({ document: urnOf(urn, ["document"], viewer) }));
const subTypesOf = (subType: Maybe<string>) => ({ typeNames: subType ? [subType] : [] });

export function documentInfo(input: NewDocument, viewer: Viewer) {
  const { title, contents, state, parentDocument, relatedAssets, relatedDocuments } = input;
  rejectLongText(contents.text);
  const stamp = stampOf(viewer);
  return given({
    title,
    contents: { text: contents.text },
    source: { sourceType: "NATIVE" },
    status: { state: state ?? "UNPUBLISHED" },
    created: stamp,
    lastModified: stamp,
    parentDocument: parentDocument && { document: urnOf(parentDocument, ["document"], viewer) },
    relatedAssets: relatedAssets ? assetsIn(relatedAssets) : undefined,
    relatedDocuments: relatedDocuments ? documentsIn(relatedDocuments, viewer) : undefined,
  });
}

const newDocument: Creation<NewDocument> = {
  entityType: "document",
  id: ({ id }) => id,
  names: ({ title }) => [title],
  dependencies: ({ parentDocument, relatedAssets, relatedDocuments }) => [
    ...[parentDocument, ...(relatedAssets ?? []), ...(relatedDocuments ?? [])],
  ],
  async aspects(input, viewer) {
    const { subType, owners, settings } = input;
    return {
      documentInfo: documentInfo(input, viewer),
      ...(subType && { subTypes: subTypesOf(subType) }),
      documentSettings: {
        showInGlobalContext: settings?.showInGlobalContext ?? true,
        lastModified: stampOf(viewer),
      },
      ...(owners &&
        owners.length > 0 && {
          ownership: await ownershipOf(await existingOwners(owners, viewer), viewer),
        }),
    };
  },
  owned: ({ owners }) => (owners ?? []).length === 0,
  answer: "urn",
};

interface DocumentUpdate {
  readonly urn: string;
  readonly title?: Maybe<string>;
  readonly contents?: Maybe<{ readonly text: string }>;
  readonly subType?: Maybe<string>;
  readonly relatedAssets?: Maybe<readonly string[]>;
  readonly relatedDocuments?: Maybe<readonly string[]>;
  readonly state?: string;
  readonly showInGlobalContext?: boolean;
}

/** Changed members of documentInfo, and of other aspects. */
interface Change {
  readonly info?: Readonly<Record<string, unknown>>;
  readonly others?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Changes members of the aspects; the time of the last change is set, too. */
const changing =
  (
    change: (input: DocumentUpdate, viewer: Viewer) => Change,
  ): Mutation<InputArgs<DocumentUpdate>> =>
  async ({ input }, viewer) => {
    const urn = urnOf(input.urn, ["document"], viewer);
    const { relatedAssets, relatedDocuments, contents } = input;
    if (contents) rejectLongText(contents.text);
    await rejectMissing(
      [urn, ...distinct([...(relatedAssets ?? []), ...(relatedDocuments ?? [])])],
      viewer,
    );
    const { info = {}, others = {} } = change(input, viewer);
    const stamped = operationsOf({ ...info, lastModified: stampOf(viewer) });
    const patches = Object.entries(others).map(([aspect, members]) =>
      patchOf(urn, aspect, operationsOf(members)),
    );
    return write([patchOf(urn, "documentInfo", stamped), ...patches], viewer);
  };

/** An empty list removes the member; an absent one leaves it unchanged. */
const list = <T>(urns: Maybe<readonly string[]>, shaped: (urns: readonly string[]) => T[]) => {
  if (!urns) return undefined;
  return urns.length === 0 ? null : shaped(urns);
};

export const placeBelow = (parent: Maybe<string>) => ({
  ...{ field: "parentDocument/document", parent, type: "document" },
});

export const documentMutations = {
  createDocument: creating(newDocument),
  updateDocumentContents: changing(({ title, contents, subType }) => ({
    info: { title: title ?? undefined, "contents/text": contents?.text },
    ...(subType && { others: { subTypes: subTypesOf(subType) } }),
  })),
  updateDocumentRelatedEntities: changing(({ relatedAssets, relatedDocuments }, viewer) => ({
    info: {
      relatedAssets: list(relatedAssets, assetsIn),
      relatedDocuments: list(relatedDocuments, (urns) => documentsIn(urns, viewer)),
    },
  })),
  updateDocumentStatus: changing(({ state }) => ({ info: { "status/state": state } })),
  updateDocumentSubType: changing(({ subType }) => ({ others: { subTypes: subTypesOf(subType) } })),
  updateDocumentSettings: changing(({ showInGlobalContext }, viewer) => ({
    others: { documentSettings: { showInGlobalContext, lastModified: stampOf(viewer) } },
  })),
  moveDocument: (
    { input }: InputArgs<{ readonly urn: string; readonly parentDocument?: Maybe<string> }>,
    viewer: Viewer,
  ) => move(urnOf(input.urn, ["document"], viewer), placeBelow(input.parentDocument), viewer),
  /** A soft delete: the document can be restored. */
  async deleteDocument({ urn: text }: { readonly urn: string }, viewer: Viewer) {
    const urn = urnOf(text, ["document"], viewer);
    await rejectMissing([urn], viewer);
    const operation = { op: "add", path: ["removed"], value: true } as const;
    return write([patchOf(urn, "status", [operation])], viewer, [
      { privileges: [["DELETE_ENTITY"], ["MANAGE_DOCUMENTS"]], urns: [urn] },
    ]);
  },
};

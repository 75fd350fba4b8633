/**
 * Documents from files. The id of a document comes from the name of its file, so that a file that is
 * imported again replaces the text of its document.
 */
import { createHash } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import { rejectMore } from "../../limits.ts";
import type { Maybe } from "../../maybe.ts";
import { stampOf } from "../changes.ts";
import { operationsOf } from "../declared.ts";
import { move } from "../move.ts";
import { patchOf, proposalOf, rejectMissing, urnOf, write } from "../writing.ts";
import { documentInfo, placeBelow } from "./documents.ts";

interface FileInput {
  readonly fileName: string;
  readonly content: string;
}

interface ImportInput {
  readonly documents: readonly FileInput[];
  readonly showInGlobalContext?: Maybe<boolean>;
  readonly useCase?: Maybe<string>;
  readonly parentDocumentUrn?: Maybe<string>;
}

const filesMax = 1_000;
const textCharactersMax = 1_000_000;
const hashCharacters = 16;

/** The name of a file without folder and extension. */
function titleOf(fileName: string): string {
  const name = fileName.split(/[/\\]/).at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

/** `upload.<name>-<hash of the name>`: readable, and unique although characters are replaced. */
function idOf(fileName: string): string {
  const raw = `upload.${titleOf(fileName)}`;
  const hash = createHash("sha256").update(raw).digest("hex").slice(0, hashCharacters);
  const readable = raw.replace(/[^A-Za-z0-9._-]+/g, "-").toLowerCase();
  return `${readable.slice(0, 200)}-${hash}`;
}

async function importOne(
  { fileName, content }: FileInput,
  input: ImportInput,
  viewer: Viewer,
): Promise<{ readonly urn: string; readonly created: boolean }> {
  const title = titleOf(fileName);
  if (title.trim() === "") {
    throw new CatalogError("malformed", "fileName is empty", { hint: "Name each file" });
  }
  const urn = `urn:${viewer.namespace}:document:${idOf(fileName)}`;
  const text = content.slice(0, textCharactersMax);
  const [there] = await viewer.catalog.filterExisting([urn], { includeSoftDelete: true });
  const showInGlobalContext = input.showInGlobalContext ?? true;
  const settings = { showInGlobalContext, lastModified: stampOf(viewer) };
  const subTypes = { typeNames: input.useCase === "SKILL" ? ["SKILL"] : [] };
  const parentDocument = input.parentDocumentUrn;
  if (there === undefined) {
    const document = { title, contents: { text }, state: "PUBLISHED", parentDocument };
    const info = documentInfo(document, viewer);
    const proposals = [
      proposalOf(urn, "documentInfo", info, "CREATE_ENTITY"),
      proposalOf(urn, "documentSettings", settings),
      proposalOf(urn, "subTypes", subTypes),
    ];
    await write(proposals, viewer);
    return { urn, created: true };
  }
  const changed = operationsOf({
    ...{ title, "contents/text": text, "status/state": "PUBLISHED" },
    lastModified: stampOf(viewer),
  });
  const proposals = [
    patchOf(urn, "documentInfo", changed),
    patchOf(urn, "documentSettings", operationsOf(settings)),
    proposalOf(urn, "status", { removed: false }),
  ];
  await write(proposals, viewer);
  if (parentDocument) await move(urn, placeBelow(parentDocument), viewer);
  return { urn, created: false };
}

/** Each file is a write of its own; the result names the files that failed. */
export async function importDocumentsFromFiles({ input }: InputArgs<ImportInput>, viewer: Viewer) {
  const { documents, parentDocumentUrn } = input;
  const hint = "Send the files in several requests";
  rejectMore(documents.length, filesMax, "the request has", "files", hint);
  if (parentDocumentUrn) {
    await rejectMissing([urnOf(parentDocumentUrn, ["document"], viewer)], viewer);
  }
  const errors: string[] = [];
  const documentUrns: string[] = [];
  let createdCount = 0;
  let updatedCount = 0;
  for (const file of documents) {
    if (file.content.trim() === "") continue;
    try {
      const { urn, created } = await importOne(file, input, viewer);
      documentUrns.push(urn);
      if (created) createdCount++;
      else updatedCount++;
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      // A caller without the privilege may write none of them.
      if (error.code === "forbidden") throw error;
      errors.push(`${file.fileName.slice(0, 200)}: ${error.text}`);
    }
  }
  return { createdCount, updatedCount, failedCount: errors.length, errors, documentUrns };
}

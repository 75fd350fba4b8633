/**
 * The thread that answers questions of the search view, one after the other. Its other end is
 * sqlite-search-reader.ts.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, type ErrorCode } from "../../core/errors.ts";
import type { FolderAnswer, FolderQuery, SearchQuery } from "../search.ts";
import type { StoredDocument } from "./documents.ts";
import { openSearchIndex, type SearchIndex, type StoredAnswer } from "./search-index.ts";

export interface SearchThreadData {
  readonly path: string;
}

export type Question =
  | { readonly kind: "search"; readonly query: SearchQuery }
  | { readonly kind: "folders"; readonly query: FolderQuery }
  | { readonly kind: "documents"; readonly urns: readonly string[] };

export interface Answers {
  readonly search: StoredAnswer;
  readonly folders: FolderAnswer;
  readonly documents: readonly (StoredDocument | undefined)[];
}

export interface ToSearchThread {
  readonly id: number;
  readonly question: Question;
}

export type FromSearchThread = { readonly id: number } & (
  | { readonly answer: Answers[Question["kind"]] }
  | {
      readonly failure: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly hint: string | undefined;
      };
    }
);

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const { path } = workerData as SearchThreadData;
let index: SearchIndex | undefined;

port.on("message", ({ id, question }: ToSearchThread) => {
  port.postMessage({ id, ...answered(question) } as FromSearchThread);
});

/** A view that cannot be opened now may be there for the next question. */
function answered(question: Question) {
  try {
    index ??= openSearchIndex(path);
    return { answer: answer(index, question) };
  } catch (error) {
    if (error instanceof CatalogError) {
      const { code, message, hint } = error;
      return { failure: { code, message, hint } };
    }
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failure: { code: "internal", message, hint: undefined } };
  }
}

function answer(view: SearchIndex, question: Question): Answers[Question["kind"]] {
  switch (question.kind) {
    case "search":
      return view.search(question.query);
    case "folders":
      return view.folders(question.query);
    case "documents":
      return view.documents(question.urns);
  }
}

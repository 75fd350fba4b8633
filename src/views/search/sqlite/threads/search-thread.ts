/** A reader thread of the search view: one query at a time. Its other end is reader-pool.ts. */
import { BroadcastChannel, workerData } from "node:worker_threads";
import type { FolderAnswer, FolderQuery, SearchQuery } from "../../search.ts";
import {
  openSearchIndex,
  type SearchIndex,
  type StoredAnswer,
  type StoredDocument,
} from "../query/search-index.ts";
import { SharedParts } from "./shared-parts.ts";
import { answerQuestions } from "./thread.ts";

export interface SearchThreadData {
  readonly path: string;
  /** The time limit of a query. */
  readonly limitMs: number;
  /** The threads of a reader share a lock and the name of a channel (shared-parts.ts). */
  readonly lock: SharedArrayBuffer;
  readonly channel: string;
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

const { path, limitMs, lock, channel } = workerData as SearchThreadData;
const messages = new BroadcastChannel(channel);
let index: SearchIndex | undefined;

answerQuestions((question: Question): Answers[Question["kind"]] => {
  // A view that cannot be opened now may be there for the next query.
  index ??= openSearchIndex(path, limitMs, (readInto) => new SharedParts(lock, messages, readInto));
  switch (question.kind) {
    case "search":
      return index.search(question.query);
    case "folders":
      return index.folders(question.query);
    case "documents":
      return index.documents(question.urns);
  }
});

/**
 * The thread that answers questions of the search view: each has a slice in its turn, so that a
 * long one does not hold up the others, and many leave room for those who write. Its other end is sqlite-search-reader.ts.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/errors.ts";
import { type ToldError, toldError } from "../../core/told-error.ts";
import type { FolderAnswer, FolderQuery, SearchQuery } from "../search.ts";
import { createCrowd } from "./crowd.ts";
import type { StoredDocument } from "./documents.ts";
import {
  openSearchIndex,
  type SearchIndex,
  type SearchTimes,
  type StoredAnswer,
} from "./search-index.ts";
import type { Steps } from "./slices.ts";

export interface SearchThreadData {
  readonly path: string;
  readonly times?: SearchTimes | undefined;
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
  | { readonly failure: ToldError }
);

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const { path, times } = workerData as SearchThreadData;
let index: SearchIndex | undefined;

interface Asked {
  readonly id: number;
  readonly steps: Steps<Answers[Question["kind"]]>;
}

/** Those that have had no answer, in their turn. */
const asked: Asked[] = [];
const crowd = createCrowd();

port.on("message", ({ id, question }: ToSearchThread) => {
  asked.push({ id, steps: answer(question) });
  if (asked.length === 1) setImmediate(work);
});

/** A slice of the question whose turn it is; new ones come in between. */
function work(): void {
  const one = asked.shift();
  if (one === undefined) return;
  try {
    const { done, value } = one.steps.next();
    if (done) {
      if ("position" in value) crowd.told(value.position);
      post({ id: one.id, answer: value });
    } else asked.push(one);
  } catch (error) {
    post({ id: one.id, failure: toldError(error) });
  }
  if (asked.length === 0) return;
  const pauseMs = crowd.pauseMs(asked.length);
  if (pauseMs === 0) setImmediate(work);
  else setTimeout(work, pauseMs);
}

const post = (message: FromSearchThread): void => port.postMessage(message);

/** A view that cannot be opened now may be there for the next question. */
function* answer(question: Question): Steps<Answers[Question["kind"]]> {
  index ??= openSearchIndex(path, times);
  switch (question.kind) {
    case "search":
      return yield* index.search(question.query);
    case "folders":
      return yield* index.folders(question.query);
    case "documents":
      return yield* index.documents(question.urns);
  }
}

/** A reader thread of the search view: one query at a time. Its other end is reader-pool.ts. */
import { BroadcastChannel, workerData } from "node:worker_threads";
import { openSearchIndex, type SearchIndex } from "../query/search-index.ts";
import { SharedParts } from "./shared-parts.ts";
import { serve } from "./thread.ts";

export interface SearchThreadData {
  readonly path: string;
  /** The time limit of a query. */
  readonly limitMs: number;
  /** The threads of a reader share a lock and the name of a channel (shared-parts.ts). */
  readonly lock: SharedArrayBuffer;
  readonly channel: string;
}

const { path, limitMs, lock, channel } = workerData as SearchThreadData;
const parts = new SharedParts(lock, new BroadcastChannel(channel));
let opened: SearchIndex | undefined;

function index(): SearchIndex {
  // A view that cannot be opened now may be there for the next query.
  opened ??= openSearchIndex(path, limitMs, parts);
  return opened;
}

serve<SearchIndex>({
  search: (query) => index().search(query),
  folders: (query) => index().folders(query),
  documents: (urns) => index().documents(urns),
});

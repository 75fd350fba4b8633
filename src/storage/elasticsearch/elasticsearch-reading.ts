/**
 * A view in Elasticsearch, opened for reading. The view need not exist yet. The first read connects
 * and checks that this release can read the view.
 */
import type { Client } from "@elastic/elasticsearch";
import type { ServerAddress } from "../view-origin.ts";
import { connect, type SearchServer, statusOf, typeOfError, type ViewSetting } from "./client.ts";
import { createMultiSearch, type Search } from "./multi-search.ts";
import { namesOf, type ViewNames } from "./names.ts";
import {
  checkVersion,
  createMetadata,
  type StoredViewState,
  type ViewShape,
} from "./view-metadata.ts";

export interface ElasticsearchReading<Kept> {
  readonly server: SearchServer;
  readonly names: ViewNames;
  /** As SearchServer.send; rejects `unavailable` for a view of another release. */
  send<T>(request: (client: Client) => Promise<T>): Promise<T>;
  /**
   * As `send`, for a search. Batches the searches of one iteration of the event loop (_msearch).
   */
  readonly search: Search;
  /** The current state of the view; undefined when there is none. */
  state(): Promise<StoredViewState<Kept> | undefined>;
  /** May be called twice. */
  close(): Promise<void>;
}

const TRIES_MAX = 3;

/**
 * The alias was resolved to a generation that was dropped before or during the search. A retry
 * reaches the next one.
 */
const wasDropped = (error: unknown): boolean =>
  statusOf(error) === 404 ||
  (statusOf(error) === 500 && typeOfError(error) === "search_phase_execution_exception");

export function openElasticsearchReading<Kept>(
  shape: ViewShape<Kept>,
  address: ServerAddress,
  asker: ViewSetting,
  /** A staging generation of this release to read instead of the live one. */
  staged?: StoredViewState<Kept>,
): ElasticsearchReading<Kept> {
  const server = connect(address, asker);
  const metadata = createMetadata<Kept>(server, shape, address);
  let checked = staged !== undefined;

  async function state(): Promise<StoredViewState<Kept> | undefined> {
    if (staged !== undefined) return staged;
    const found = await metadata.find();
    if (found === undefined) return undefined;
    checkVersion(shape, found.state);
    checked = true;
    return found.state;
  }

  async function send<T>(request: (client: Client) => Promise<T>): Promise<T> {
    if (!checked) await state();
    for (let tries = 1; ; tries++) {
      try {
        return await server.send("read", request);
      } catch (error) {
        if (!wasDropped(error) || tries === TRIES_MAX) throw error;
      }
    }
  }

  return {
    server,
    names: namesOf(address.name, shape.view),
    state,
    send,
    search: createMultiSearch(send),
    close: () => server.close(),
  };
}

/**
 * A view in Elasticsearch, opened for reading: at any time, also before there is one. Nothing is
 * asked until something is read; then first whether another release made it.
 */
import type { Client } from "@elastic/elasticsearch";
import type { ServerPlace } from "../view-origin.ts";
import { type Asker, connect, type SearchServer, statusOf, typeOfError } from "./client.ts";
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
  /** As SearchServer.ask; rejects `unavailable` for a view of another release. */
  ask<T>(request: (client: Client) => Promise<T>): Promise<T>;
  /** Where the view is now; undefined when there is none. */
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
  place: ServerPlace,
  asker: Asker,
  /** A generation of this release that is read in the place of the one that counts. */
  staged?: StoredViewState<Kept>,
): ElasticsearchReading<Kept> {
  const server = connect(place, asker);
  const metadata = createMetadata<Kept>(server, shape, place);
  let checked = staged !== undefined;

  async function state(): Promise<StoredViewState<Kept> | undefined> {
    if (staged !== undefined) return staged;
    const found = await metadata.find();
    if (found === undefined) return undefined;
    checkVersion(shape, found.state);
    checked = true;
    return found.state;
  }

  return {
    server,
    names: namesOf(place.name, shape.view),
    state,
    async ask(request) {
      if (!checked) await state();
      for (let tries = 1; ; tries++) {
        try {
          return await server.ask("read", request);
        } catch (error) {
          if (!wasDropped(error) || tries === TRIES_MAX) throw error;
        }
      }
    },
    close: () => server.close(),
  };
}

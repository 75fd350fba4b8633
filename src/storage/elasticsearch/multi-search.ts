/**
 * Batches concurrent searches: those of one iteration of the event loop are one _msearch request. A
 * failed search is repeated alone, with the retries and errors of a single search.
 */
import type { Client, estypes } from "@elastic/elasticsearch";
import { batching } from "../batching.ts";
import { isTooLarge } from "./client.ts";

/** A search of some indices. */
type IndexSearch = Omit<estypes.SearchRequest, "index" | "pit"> & {
  readonly index: string | string[];
  /** A larger response is an error (isTooLarge). */
  readonly bytesMax?: number | undefined;
};

export type Search = (request: IndexSearch) => Promise<estypes.SearchResponse>;

type Ask = <T>(request: (client: Client) => Promise<T>) => Promise<T>;

/** With a larger response, fewer searches are sent at once. */
const bytesTogetherMax = 128 * 1024 * 1024;

/** Sends each search by itself. */
export const singleSearch =
  (ask: Ask): Search =>
  ({ bytesMax, ...request }) =>
    ask((client) =>
      client.search(request, bytesMax === undefined ? {} : { maxResponseSize: bytesMax }),
    );

export function createMultiSearch(ask: Ask): Search {
  const alone = singleSearch(ask);

  async function together(requests: readonly IndexSearch[]): Promise<(Response | Error)[]> {
    if (requests.length < 2) return Promise.all(requests.map(alone));
    let responses: readonly estypes.MsearchResponseItem[];
    try {
      const searches = requests.flatMap(partsOf);
      const limits = { maxResponseSize: bytesTogetherMax };
      ({ responses } = await ask((client) => client.msearch({ searches }, limits)));
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      const half = requests.length >> 1;
      return [
        ...(await together(requests.slice(0, half))),
        ...(await together(requests.slice(half))),
      ];
    }
    const found: (Response | Error)[] = [];
    for (const [n, request] of requests.entries()) {
      const response = responses[n];
      if (response !== undefined && !("error" in response)) found.push(response as Response);
      else found.push(await alone(request).catch((error: Error) => error));
    }
    return found;
  }

  return batching(together);
}

type Response = estypes.SearchResponse;

/** Splits a search into the header and the body of an _msearch item. */
function partsOf({
  index,
  ignore_unavailable,
  allow_partial_search_results,
  bytesMax: _,
  ...body
}: IndexSearch): readonly estypes.MsearchRequestItem[] {
  return [{ index, ignore_unavailable, allow_partial_search_results }, body];
}

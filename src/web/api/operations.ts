/** Operations: the state of the service, jobs, and parked records. */
import { send } from "./http.ts";
import { type JsonObject, numberAt, textAt } from "./json.ts";

/** Rows of a job: those that are done, by result, and the total that is expected. */
interface JobCounts {
  readonly total: number;
  readonly updated: number;
  readonly created: number;
  readonly deleted: number;
  readonly noops: number;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly actor: string;
  readonly request?: JsonObject;
  readonly started: number;
  readonly ended?: number;
  readonly counts?: JobCounts;
  readonly perSecond?: number;
  readonly error?: string;
}

export interface Parked {
  readonly view: string;
  readonly urn: string;
  readonly position: number;
  readonly reason: string;
  readonly time: number;
  readonly waiting?: number;
}

export interface Difference {
  readonly view: string;
  /** Empty for a difference of the store as a whole. */
  readonly urn: string;
  readonly aspect: string;
  readonly kind: string;
  /** The value of the log, and that of the view; absent for none. */
  readonly should?: string;
  readonly there?: string;
}

export interface Verification {
  readonly view: string;
  readonly position: number;
  readonly rows: number;
  readonly time: number;
  readonly differences: number;
}

interface Timeseries {
  readonly entity: string;
  readonly aspect: string;
  readonly megabytes: number;
}

/** Calls an operation. Operations require a token with the privilege, also on loopback. */
export async function operate<T>(
  action: string,
  body: JsonObject = {},
  signal?: AbortSignal,
): Promise<T> {
  const { value } = await send<{ readonly value: T }>(`/operations?action=${action}`, {
    body,
    operation: true,
    reads: true,
    signal,
  });
  return value.value;
}

export const listJobs = (signal: AbortSignal) =>
  operate<{ readonly jobs: readonly Job[] }>("listJobs", { count: 30 }, signal);

export const listParked = (signal: AbortSignal) =>
  operate<{ readonly total: number; readonly parked: readonly Parked[] }>(
    "listParked",
    { count: 100 },
    signal,
  );

export const listDifferences = (signal: AbortSignal) =>
  operate<{
    readonly total: number;
    readonly views: readonly Verification[];
    readonly differences: readonly Difference[];
  }>("listDifferences", { count: 100 }, signal);

/** Timeseries aspects with their sizes, the largest first. */
export async function listTimeseries(signal: AbortSignal): Promise<readonly Timeseries[]> {
  const { indexSizes } = await operate<{ readonly indexSizes: readonly JsonObject[] }>(
    "getIndexSizes",
    {},
    signal,
  );
  return indexSizes
    .map((one) => ({
      entity: textAt(one, "entityName") ?? "",
      aspect: textAt(one, "aspectName") ?? "",
      megabytes: numberAt(one, "sizeInMb") ?? 0,
    }))
    .toSorted((a, b) => b.megabytes - a.megabytes);
}

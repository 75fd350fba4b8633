/** Operations: the state of the service, jobs, and parked records. */
import { send } from "./http.ts";
import type { JsonObject } from "./json.ts";

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly actor: string;
  readonly request?: JsonObject;
  readonly started: number;
  readonly ended?: number;
  readonly counts?: { readonly total?: number; readonly updated?: number };
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

interface Difference {
  readonly view: string;
  readonly urn?: string;
  readonly aspect?: string;
  readonly kind: string;
  readonly should?: string;
  readonly is?: string;
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
  operate<{ readonly total: number; readonly differences: readonly Difference[] }>(
    "listDifferences",
    { count: 100 },
    signal,
  );

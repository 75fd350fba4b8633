/**
 * Interface of the commands to the rest of the process. main.ts provides the implementation; no
 * other file in this folder
 */
import type { Config } from "../config/config.ts";
import type { Change } from "../core/change.ts";
import type { Position, Revision } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface Service {
  /** `http://host:port` as it really listens. */
  address(): string;
  /** Takes no new requests, lets those in flight finish, makes everything durable. */
  close(): Promise<void>;
}

/** A record of the log, decoded. */
export interface LoggedRecord {
  readonly position: Position;
  readonly stream: StreamName;
  readonly revision: Revision;
  readonly change: Change;
}

export interface LogQuery {
  /** Records after this position; backward: before it. */
  readonly from?: Position | undefined;
  readonly stream?: StreamName | undefined;
  readonly limit: number;
  readonly backward: boolean;
}

/** A view that was grown again from the log. */
export interface Rebuilt {
  readonly view: string;
  /** Records of the log that it reflects. */
  readonly records: number;
}

/** Result of the comparison of a view with the log. */
export interface VerifiedStore {
  readonly view: string;
  /** Up to here. */
  readonly position: Position;
  /** That the log says there are. */
  readonly rows: number;
  /** How many differences there are, and the first of them. */
  readonly count: number;
  readonly differences: readonly {
    readonly urn: string;
    readonly aspect: string;
    readonly kind: string;
    readonly there?: string | undefined;
    readonly should?: string | undefined;
  }[];
}

export interface VerifiedStores {
  readonly before: readonly VerifiedStore[];
  /** The same after the repair. */
  readonly after: readonly VerifiedStore[];
  /** Unverified parts: views that cannot be read, and records of the log that a view lacks. */
  readonly unknown: readonly { readonly view: string; readonly reason: string }[];
  /** Of the log, that were compared. */
  readonly records: number;
  /** Number of rebuilt entities. */
  readonly restored: number;
  /** Names of rebuilt views. */
  readonly rebuilt: readonly string[];
}

export interface ProcessOperations {
  /** Resolves when the service answers. Throws CatalogError when it cannot start. */
  openService(
    config: Config,
    options: {
      readonly logger: Logger;
      /** Called with the file of the root user's first token, by the start that makes it. */
      readonly onMadeToken?: (file: string) => void;
    },
  ): Promise<Service>;

  /** Pages of the log in the data directory, read-only: a service may be running on it. */
  readLog(config: Config, query: LogQuery): AsyncIterable<readonly LoggedRecord[]>;

  /**
   * Rebuilds the named views (none named: all) and swaps them in. Throws CatalogError `invalid` for
   * an unknown view, `unavailable` while a service runs on the data directory, and the signal's
   * reason when it aborts before the swap: the staged views are then removed.
   */
  rebuild(
    config: Config,
    options: {
      readonly views: readonly string[];
      readonly logger: Logger;
      readonly onProgress: (position: Position, head: Position) => void;
      /** Absent: it continues to its end. */
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<readonly Rebuilt[]>;

  /**
   * Compares the named views (none named: all) with the log (projector/verify/verification.ts), and repairs what
   * differs if `repair` is true.
   * Throws as rebuild does.
   */
  verify(
    config: Config,
    options: {
      readonly views: readonly string[];
      readonly repair: boolean;
      /** Full when absent. */
      readonly logger: Logger;
      /** In records. */
      readonly onProgress: (done: number, total: number) => void;
    },
  ): Promise<VerifiedStores>;

  /**
   * Copies the log into another one: a data directory, "embedded" for that of the configuration, or
   * the URL of an EventStoreDB. Throws
   * CatalogError `conflict` where something else is there, `unavailable` while a service runs here.
   */
  copyLog(
    config: Config,
    options: {
      readonly to: string;
      readonly onProgress: (position: Position, head: Position) => void;
    },
  ): Promise<{ readonly copied: number; readonly there: number }>;

  /**
   * Copies the embedded log, with the keys and the id of its data directory, to a new directory `to`, and verifies the
   * copy. A service may be running. Throws CatalogError `invalid` if `to` exists or the log is in a server, `unreadable`
   * if the log is damaged, and the signal's reason if it aborts; `to` does not exist then.
   */
  backup(
    config: Config,
    options: {
      readonly to: string;
      /** `done` of `total` pages or records. */
      readonly onProgress: (progress: {
        readonly step: "copying" | "verifying";
        readonly done: number;
        readonly total: number;
      }) => void;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<{
    /** The absolute path. */
    readonly to: string;
    /** Position of the last record of the copy. */
    readonly position: Position;
    /** Size of the copied log. */
    readonly bytes: number;
  }>;

  /**
   * Rebuilds the indexes of the embedded log from its rows. Throws CatalogError `unreadable` if rows are
   * damaged, `unavailable` while a service runs on the data directory, and `invalid` for a log in a server.
   */
  repairIndexes(config: Config): Promise<{ readonly records: number }>;

  /** Asks every store whether it can be used; what cannot be reached is a finding, too. */
  checkStores(config: Config): Promise<readonly StoreCheck[]>;
}

export interface StoreCheck {
  /** log, aspects, timeseries, graph, search, kafka */
  readonly store: string;
  /** Where it is, without a password. */
  readonly place: string;
  readonly checking: Promise<{
    /** Empty if unknown. */
    readonly version: string;
    /** Sentences that say what is wrong and how to repair it; none: no fault. */
    readonly findings: readonly string[];
  }>;
}

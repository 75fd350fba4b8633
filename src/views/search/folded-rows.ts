/**
 * Folds the changes of an entity into its expected row of the search view, in memory: its stored
 * document.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { EntityState } from "../../core/entity-state.ts";
import { foldEntity } from "../../core/fold-entity.ts";
import type { ParkedValues, ValuePolicy } from "../../core/parked-values.ts";
import { START } from "../../core/position.ts";
import type { FoldedRows, RowShape } from "../../projector/verify/view-rows.ts";
import type { SearchDocument } from "./search.ts";
import { encodeDocument } from "./stored-document.ts";

/** `indexed`: true if the index has the document; only some stores check it. */
export const searchRowShape: RowShape = {
  names: ["aspect", "indexed", "document"],
  keys: 1,
  order: [],
};

interface FoldedEvent {
  readonly time: number;
  readonly value: string;
  readonly position: number;
}

interface SearchRowParts {
  readonly project: (
    state: EntityState,
    entityType: string,
    latest: ReadonlyMap<string, FoldedEvent>,
    policy: ValuePolicy,
  ) => (() => SearchDocument) | undefined;
  /** Folds the changes of an entity into its timeseries. */
  readonly foldEvents: (urn: string) => {
    add(change: PlacedChange): void;
    latest(aspect: string): FoldedEvent | undefined;
  };
  /** The timeseries aspects that affect documents of a type. */
  readonly eventsOf: (entityType: string) => readonly string[];
  readonly keyAspectOf: (entityType: string) => string | undefined;
}

export const foldSearchRows =
  ({ project, foldEvents, eventsOf, keyAspectOf }: SearchRowParts) =>
  (urn: string, parked?: ParkedValues): FoldedRows => {
    const policy: ValuePolicy = {
      omits: (aspect, version) => parked?.omits(urn, aspect, version) === true,
      reportFailed() {},
    };
    const entity = foldEntity(urn, keyAspectOf);
    const series = foldEvents(urn);
    let type: string | undefined;
    /** Position of the entity's last change. */
    let last: number = START;
    let document: { readonly json: string | undefined } | undefined;

    function latestOf(entityType: string) {
      const all = eventsOf(entityType).map((aspect) => [aspect, series.latest(aspect)] as const);
      return new Map(all.flatMap(([aspect, event]) => (event ? [[aspect, event]] : [])));
    }

    const projected = (of: string) => project(entity.state(), of, latestOf(of), policy);

    const isOmitted = (): boolean =>
      parked !== undefined && (parked.isRejected(urn) || last <= parked.omittedUpTo(urn));

    function json(): string | undefined {
      if (document === undefined) {
        const make = type === undefined || isOmitted() ? undefined : projected(type);
        document = { json: make && encodeDocument(make()) };
      }
      return document.json;
    }

    return {
      add(change, skipped) {
        const { timeseries, entityType } = change;
        if (timeseries && !eventsOf(entityType).includes(change.aspect)) return;
        if (!skipped?.events) series.add(change);
        if (!timeseries && !skipped?.states) entity.add(change);
        if (change.urn === urn) last = change.position;
        type = entityType;
        document = undefined;
      },
      size: () => (json() === undefined ? 0 : 1),
      rows() {
        const text = json();
        return text === undefined ? [] : [["", 1, text]];
      },
    };
  };

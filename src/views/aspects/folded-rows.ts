/** Folds the changes of an entity into its expected rows of the aspect view, in memory. */
import type { Projection } from "../../projector/sink.ts";
import type { FoldedRows, Row, RowShape } from "../../projector/verify/view-rows.ts";
import type { AspectWrite } from "./aspect-table.ts";

/**
 * A row is one value of one aspect. A further row, without an aspect and at position 0, has the state
 * of the entity: whether it exists, and its revision.
 */
export const aspectRowShape: RowShape = {
  names: [
    ...["aspect", "version", "position", "revision", "confirmed", "removed"],
    ...["time", "actor", "system", "value", "exists"],
  ],
  keys: 2,
  order: [2],
};

const POSITION = 2;

type Value = Extract<AspectWrite, { op: "value" }>;

interface Stored {
  readonly write: Value;
  revision: number;
  confirmed: number | null;
  removed: number | null;
  system: string;
}

/** The row with the state of an entity. */
export const entityRow = (exists: boolean, revision: number): Row => [
  ...["", 0, 0, revision, null, null],
  ...[0, "", "", "", exists ? 1 : 0],
];

export const foldAspectRows =
  (project: Projection<AspectWrite>) =>
  (_urn: string): FoldedRows => {
    const aspects = new Map<string, Map<number, Stored>>();
    let revision = -1;
    let exists = false;
    let known = false;
    let size = 0;

    function newest(aspect: string): Stored | undefined {
      let found: Stored | undefined;
      for (const stored of aspects.get(aspect)?.values() ?? []) {
        if (found === undefined || stored.write.version > found.write.version) found = stored;
      }
      return found;
    }

    function value(write: Value): void {
      let versions = aspects.get(write.aspect);
      if (versions === undefined) {
        versions = new Map();
        aspects.set(write.aspect, versions);
      }
      if (!versions.delete(write.version)) size++;
      versions.set(write.version, {
        write,
        revision: write.revision,
        confirmed: null,
        removed: null,
        system: write.system,
      });
      if (write.key) exists = true;
    }

    function apply(write: AspectWrite): void {
      known = true;
      revision = write.revision;
      switch (write.op) {
        case "value":
          value(write);
          break;
        case "confirm": {
          const stored = aspects.get(write.aspect)?.get(write.version);
          if (stored === undefined) break;
          stored.system = write.system;
          stored.confirmed = write.position;
          stored.revision = write.revision;
          break;
        }
        case "remove": {
          const stored = newest(write.aspect);
          if (stored !== undefined) stored.removed = write.position;
          break;
        }
        case "remove_entity":
          exists = false;
          for (const aspect of aspects.keys()) {
            const stored = newest(aspect);
            if (stored !== undefined) stored.removed ??= write.position;
          }
      }
    }

    return {
      add(change) {
        for (const write of project(change)) apply(write);
      },
      size: () => (known ? size + 1 : 0),
      rows() {
        if (!known) return [];
        const rows: Row[] = [entityRow(exists, revision)];
        for (const versions of aspects.values()) {
          for (const { write, confirmed, removed, system, ...stored } of versions.values()) {
            const { aspect, version, position, time, actor, value: text } = write;
            rows.push([
              ...[aspect, version, position, stored.revision, confirmed, removed],
              ...[time, actor, system, text, null],
            ]);
          }
        }
        return rows.sort((a, b) => Number(a[POSITION]) - Number(b[POSITION]));
      },
    };
  };

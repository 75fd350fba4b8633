/**
 * Numbers of urns, kinds and names, for the reader. Nodes are looked up each time: there are too many to
 * cache, and a lookup within a transaction takes a microsecond. Kinds and names are few and never
 * change, so they are cached.
 */
import type { DatabaseSync } from "node:sqlite";
import { splitUrn, typeOf } from "../../../storage/split-urn.ts";

export interface GraphNumbers {
  /** Undefined for a urn that never had an edge. */
  nodeOf(urn: string): number | undefined;
  urnOf(node: number): string;
  /** The urn of a row of nodes. */
  urnOfRow(kind: number, rest: string): string;
  /** Undefined for a name that no edge ever had. */
  nameOf(text: string): number | undefined;
  textOf(name: number): string;
  /** Every kind with the entity type of its urns. */
  kinds(): ReadonlyMap<number, string>;
}

export function createGraphNumbers(db: DatabaseSync): GraphNumbers {
  const names = new Map<string, number>();
  const texts = new Map<number, string>();
  const kindIds = new Map<string, number>();
  const prefixes = new Map<number, string>();
  const types = new Map<number, string>();
  let lastKind = 0;

  const findNode = db.prepare("SELECT id FROM node WHERE kind = ? AND rest = ?");
  const findUrn = db.prepare("SELECT kind, rest FROM node WHERE id = ?");
  const findName = db.prepare("SELECT id FROM name WHERE text = ?");
  const findText = db.prepare("SELECT text FROM name WHERE id = ?");
  const newKinds = db.prepare("SELECT id, prefix FROM kind WHERE id > ? ORDER BY id");

  function loadKinds(): void {
    for (const { id, prefix } of newKinds.all(lastKind)) {
      lastKind = Number(id);
      kindIds.set(String(prefix), lastKind);
      prefixes.set(lastKind, String(prefix));
      types.set(lastKind, typeOf(String(prefix)));
    }
  }

  function urnOfRow(kind: number, rest: string): string {
    if (!prefixes.has(kind)) loadKinds();
    return `${prefixes.get(kind) ?? ""}${rest}`;
  }

  return {
    urnOfRow,
    nodeOf(urn) {
      const { prefix, rest } = splitUrn(urn);
      if (!kindIds.has(prefix)) loadKinds();
      const kind = kindIds.get(prefix);
      const row = kind === undefined ? undefined : findNode.get(kind, rest);
      return row === undefined ? undefined : Number(row.id);
    },
    urnOf(node) {
      const row = findUrn.get(node);
      return row === undefined ? "" : urnOfRow(Number(row.kind), String(row.rest));
    },
    nameOf(text) {
      let name = names.get(text);
      if (name === undefined) {
        const row = findName.get(text);
        if (row === undefined) return undefined;
        name = Number(row.id);
        names.set(text, name);
      }
      return name;
    },
    textOf(name) {
      let text = texts.get(name);
      if (text === undefined) {
        text = String(findText.get(name)?.text ?? "");
        texts.set(name, text);
      }
      return text;
    },
    kinds() {
      loadKinds();
      return types;
    },
  };
}

/**
 * The reading side's numbers of urns, kinds and names. They are given once and never change: what
 * is known stays true, what is not is looked up.
 */
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { splitUrn, typeOf } from "./schema.ts";

/** Some 10 MB each when full. */
const NODES_MAX = 50_000;

export interface GraphNumbers {
  /** Undefined for a urn that no edge ever named. */
  nodeOf(urn: string): number | undefined;
  urnOf(node: number): string;
  /** The urn of a row of nodes. */
  urnOfRow(node: number, kind: number, rest: string): string;
  /** Undefined for a name that no edge ever had. */
  nameOf(text: string): number | undefined;
  textOf(name: number): string;
  /** Every kind that there is now, with the entity type that its urns name. */
  kinds(): ReadonlyMap<number, string>;
}

export function createGraphNumbers(db: DatabaseSync): GraphNumbers {
  const nodes = new LRUCache<string, number>({ max: NODES_MAX });
  const urns = new LRUCache<number, string>({ max: NODES_MAX });
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

  function kindOf(prefix: string): number | undefined {
    if (!kindIds.has(prefix)) loadKinds();
    return kindIds.get(prefix);
  }

  function prefixOf(kind: number): string {
    if (!prefixes.has(kind)) loadKinds();
    return prefixes.get(kind) ?? "";
  }

  function urnOfRow(node: number, kind: number, rest: string): string {
    let urn = urns.get(node);
    if (urn === undefined) {
      urn = prefixOf(kind) + rest;
      urns.set(node, urn);
      nodes.set(urn, node);
    }
    return urn;
  }

  return {
    urnOfRow,
    nodeOf(urn) {
      const known = nodes.get(urn);
      if (known !== undefined) return known;
      const { prefix, rest } = splitUrn(urn);
      const kind = kindOf(prefix);
      const row = kind === undefined ? undefined : findNode.get(kind, rest);
      if (row === undefined) return undefined;
      nodes.set(urn, Number(row.id));
      return Number(row.id);
    },
    urnOf(node) {
      const known = urns.get(node);
      if (known !== undefined) return known;
      const row = findUrn.get(node);
      return row === undefined ? "" : urnOfRow(node, Number(row.kind), String(row.rest));
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

/**
 * Hostile names, types, aspects, urns and values: names that every JavaScript object inherits, texts
 * that end or escape other texts, valid and invalid values.
 */
import type { Entity, FieldType, Model } from "../../src/model/model.ts";
import type { Chance } from "./chance.ts";

const inherited = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype).slice(0, 12),
  ...["prototype", "caller", "arguments", "apply", "bind", "call", "size", "get", "then"],
];

const texts = [
  ...["", " ", "\u0000", "\ud800", "\udc00x", "\u2028", "\u202e", "\ufeff", "é", "e\u0301", "😀"],
  ...["%2C", "%00", "%ff", "%", "+", "..", "../../etc/passwd", "\\", '"', "'", "`", "$1", "{{x}}"],
  ...[
    "'; DROP TABLE event; --",
    "<script>",
    "$relationships",
    "$$",
    "$ref",
    "*",
    "?",
    "#",
    "~1",
    "~0",
  ],
  ...[
    "()",
    "(",
    ")",
    "(a,b)",
    "a,b",
    ":",
    "urn:",
    "urn:li:",
    "null",
    "undefined",
    "true",
    "NaN",
    "1e999",
  ],
  ...[
    "-0",
    "0",
    "-1",
    "9007199254740993",
    "annals-from",
    "annals-before",
    "_entityType",
    "urn",
    "removed",
  ],
  "x".repeat(300),
  "\uffff".repeat(40),
  "␟a␟b",
];

const numbers = [0, -0, 1, -1, 0.5, 1e21, -1e21, 2 ** 31, 2 ** 53, -(2 ** 53), 1_772_409_600_000];

const depthMax = 5;

export interface Input {
  name(): string;
  text(): string;
  /** An aspect of the model in most cases. */
  entityType(): string;
  entity(): Entity;
  aspectOf(entity: Entity): string;
  /** A urn of the type; a few of each type are used repeatedly. */
  urnOf(entity: Entity): string;
  /** A urn of any type, and sometimes no urn. */
  urn(): string;
  /** JSON of the aspect's schema in most cases, of one that the schema does not allow in others. */
  value(aspect: string): unknown;
  json(depth?: number): unknown;
}

export function createInput(chance: Chance, model: Model): Input {
  const entities = [...model.entities.values()];
  const aspects = [...model.aspects.keys()];

  const name = (): string => (chance.yes(0.6) ? chance.pick(inherited) : chance.pick(texts));
  const text = (): string => {
    if (chance.yes(0.4)) return `t${chance.int(6)}`;
    return chance.yes(0.5) ? name() : `${name()}${name()}`;
  };
  const entity = (): Entity => chance.pick(entities);
  const entityType = (): string => (chance.yes(0.8) ? entity().name : name());

  function part({ kind, symbols }: Entity["keyParts"][number]): string {
    if (kind === "urn") return `urn:li:dataPlatform:${chance.yes(0.7) ? "hive" : text()}`;
    return symbols.length > 0 && chance.yes(0.9) ? chance.pick(symbols) : text();
  }

  function urnOf(of: Entity): string {
    if (chance.yes(0.03)) return `urn:li:${of.name}:${text()}`;
    const parts = of.keyParts.map(part);
    return `urn:li:${of.name}:${parts.length === 1 ? parts[0] : `(${parts.join(",")})`}`;
  }

  function urn(): string {
    if (chance.yes(0.7)) return urnOf(entity());
    return chance.yes(0.8) ? `urn:li:${name()}:${text()}` : text();
  }

  function json(depth = 0): unknown {
    const leaf = depth >= depthMax || chance.yes(0.5);
    if (leaf) return chance.pick([text(), urn(), chance.pick(numbers), true, null]);
    if (chance.yes(0.4)) return chance.list(3, () => json(depth + 1));
    return object(chance.list(3, () => [name(), json(depth + 1)]));
  }

  function primitive(of: string): unknown {
    if (of === "boolean") return chance.yes(0.5);
    if (of === "string" || of === "bytes") return chance.yes(0.3) ? urn() : text();
    if (of === "int") return chance.int(2 ** 31) - 2 ** 30;
    return of === "long"
      ? chance.pick([0, 1, -1, 1_772_409_600_000, chance.int(9)])
      : chance.int(99) / 8;
  }

  function record(type: string, depth: number): unknown {
    const named = model.types.get(type);
    if (named === undefined) return json(depth);
    if (named.kind === "enum") return chance.pick(named.symbols);
    if (named.kind === "fixed") return "\u0000".repeat(named.size);
    const fields = named.fields.filter(
      ({ optional }) => !optional || (depth < depthMax && chance.yes(0.5)),
    );
    const members = fields.map((field): Member => [field.name, typed(field.type, depth + 1)]);
    if (chance.yes(0.1)) members.push([name(), json()]);
    return object(members);
  }

  function typed(type: FieldType, depth: number): unknown {
    if (chance.yes(0.02)) return json();
    const few = depth < depthMax ? 2 : 0;
    switch (type.kind) {
      case "primitive":
        return primitive(type.name);
      case "urn":
        return urnTyped(type.urnType);
      case "array":
        return chance.list(few, () => typed(type.items, depth + 1));
      case "map":
        return object(chance.list(few, () => [name(), typed(type.values, depth + 1)]));
      case "union": {
        const { key, type: member } = chance.pick(type.members);
        return object([[key, typed(member, depth + 1)]]);
      }
      case "named":
        return record(type.name, depth);
    }
  }

  /** The model's names of urn types are those of classes: `DatasetUrn`, `CorpuserUrn`. */
  function urnTyped(urnType: string): string {
    const wanted = urnType.replace(/Urn$/, "").toLowerCase();
    const found = entities.find((one) => one.name.toLowerCase() === wanted);
    return found === undefined || chance.yes(0.1) ? urn() : urnOf(found);
  }

  return {
    ...{ name, text, entity, entityType, urnOf, urn, json },
    aspectOf(of) {
      if (chance.yes(0.85)) return chance.pick([of.keyAspect, ...of.aspects]);
      return chance.yes(0.5) ? chance.pick(aspects) : name();
    },
    value(aspect) {
      const found = model.aspects.get(aspect);
      return found === undefined || chance.yes(0.05) ? json() : record(found.record, 0);
    },
  };
}

type Member = readonly [name: string, value: unknown];

/** With "__proto__" as an ordinary member, as JSON text can have it. */
export function object(members: readonly Member[]): Record<string, unknown> {
  const made: Record<string, unknown> = Object.create(null);
  for (const [name, value] of members) made[name] = value;
  return made;
}

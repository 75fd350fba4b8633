/**
 * Checks urns against the model: the entity type exists and is allowed at the location of the urn, and
 * the parts of the id fit the type's key, nested urns included.
 *
 * Most urns match a pattern of their type's key, in which no text holds a comma or a parenthesis.
 * Only the others are split into parts, which costs twenty times as much.
 */
import { CatalogError } from "../core/errors.ts";
import { shortened } from "../lib/shortened.ts";
import { faultOfParts, keyValue } from "./entity-key.ts";
import type { Entity, EntityKeyPart, Field } from "./model.ts";
import { ruleOfUrn, rulesOfField, type UrnRule } from "./urn-rules.ts";

/** Creates the check of a rule, which returns the fault of a urn; undefined for a valid urn. */
export type UrnChecks = (rule: UrnRule) => (urn: string) => string | undefined;

/** Levels: schemaField, dataset, dataPlatform, and one more for other models. */
const nestingMax = 4;
const patternNestingMax = 2;

/** The checks expect urns of the configured namespace. */
export function createUrnChecks(
  entities: ReadonlyMap<string, Entity>,
  namespace: string,
): UrnChecks {
  const prefix = `urn:${namespace}:`;
  const byLowerName = new Map([...entities.values()].map((one) => [one.name.toLowerCase(), one]));
  const patterns = new Map<Entity, RegExp>();

  const nestedRule = (field: Field): UrnRule => {
    const urnType = field.type.kind === "urn" ? field.type.urnType : "Urn";
    return ruleOfUrn(urnType, rulesOfField(field), entities);
  };

  function faultOf(urn: string, rule: UrnRule, depth: number): string | undefined {
    const end = urn.indexOf(":", prefix.length);
    const type = urn.slice(prefix.length, end);
    const { types, strict = false } = rule;
    if (types !== undefined && !types.includes(type)) {
      return `entity type "${shortened(type)}" is not allowed here`;
    }
    // Without a restriction, the entity type matches in any letter case, as in DataHub.
    const entity = entities.get(type) ?? byLowerName.get(type.toLowerCase());
    if (entity === undefined) {
      // A typed urn may have a type that the model lacks ("DatasetFieldUrn"); stamps refer to users.
      return types === undefined && type !== "corpuser"
        ? `"${shortened(type)}" is not an entity type of the model`
        : undefined;
    }
    const [part] = entity.keyParts;
    if (entity.keyParts.length === 1 && part?.kind === "text") {
      return strict ? strictFault(urn.slice(end + 1)) : undefined;
    }
    if (patternOf(entity).test(urn)) return undefined;
    return depth > nestingMax ? "it nests urns too deeply" : faultOfKey(entity, urn, strict, depth);
  }

  function faultOfKey(
    entity: Entity,
    urn: string,
    strict: boolean,
    depth: number,
  ): string | undefined {
    try {
      const value = keyValue(entity, urn);
      const wrong = faultOfParts(entity, value, urn);
      if (wrong !== undefined) return wrong.text;
      const key = new Map(Object.entries(value));
      for (const [i, part] of entity.keyParts.entries()) {
        const value = key.get(part.name);
        const field = entity.keyFields[i];
        if (value === undefined || field === undefined) continue;
        const fault =
          part.kind === "urn"
            ? faultOf(value, nestedRule(field), depth + 1)
            : strict && strictFault(value);
        if (fault) return `its ${part.name} is "${shortened(value)}": ${fault}`;
      }
      return undefined;
    } catch (error) {
      if (error instanceof CatalogError) return error.text;
      throw error;
    }
  }

  function patternOf(entity: Entity): RegExp {
    const found = patterns.get(entity);
    if (found !== undefined) return found;
    const pattern = new RegExp(`^${prefix}${entity.name}:${idPattern(entity, 0)}$`);
    patterns.set(entity, pattern);
    return pattern;
  }

  function idPattern({ keyParts, keyFields }: Entity, depth: number): string {
    const parts = keyParts.map((part, i) => {
      const inner = partPattern(part, keyFields[i], depth);
      return part.optional ? `(?:${inner})?` : inner;
    });
    return parts.length === 1 ? String(parts[0]) : `\\(${parts.join(",")}\\)`;
  }

  function partPattern({ kind, symbols }: EntityKeyPart, field: Field | undefined, depth: number) {
    if (kind === "text") return "[^,()]+";
    if (kind === "enum") return `(?:${symbols.join("|")})`;
    if (field === undefined || depth === patternNestingMax) return NEVER;
    const { types = entities.keys() } = nestedRule(field);
    const nested = [...types].flatMap((type) => {
      const entity = entities.get(type);
      return entity === undefined ? [] : [`${type}:${idPattern(entity, depth + 1)}`];
    });
    return nested.length === 0 ? NEVER : `${prefix}(?:${nested.join("|")})`;
  }

  return (rule) => (urn) => faultOf(urn, rule, 0);
}

const NEVER = "(?!)";

/** Rejects DataHub's illegal characters; an encoded parenthesis means that all are encoded. */
function strictFault(value: string): string | undefined {
  if (!/[(),]/.test(value) || /%28|%29/.test(value)) return undefined;
  return "it contains a parenthesis or a comma. Write %28, %29 or %2C";
}

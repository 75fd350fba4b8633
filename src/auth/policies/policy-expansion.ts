/**
 * Policy expansion: adds the members of the domains, containers and glossary nodes that policies name,
 * at any depth. A condition on documents or on one entity then needs no further lookup. Users whose
 * policies name the same share a lookup.
 */
import { CatalogError } from "../../core/errors.ts";
import { createTtlCache } from "../access/ttl-cache.ts";
import {
  criteriaOf,
  criterionField,
  type Policy,
  type PolicyCriterion,
  type ResourceFilter,
} from "./policy.ts";
import { hierarchies } from "./principals.ts";

const membersOf = ({ field }: PolicyCriterion): readonly string[] | undefined => {
  const name = criterionField(field);
  return Object.hasOwn(hierarchies, name)
    ? hierarchies[name as keyof typeof hierarchies].members
    : undefined;
};

/** True when a filter of the policies names a hierarchy. */
export const namesHierarchies = (policies: readonly Policy[]): boolean =>
  policies.some(
    ({ resources }) =>
      resources !== undefined && criteriaOf(resources).some((one) => membersOf(one) !== undefined),
  );

export interface PolicyExpansion {
  /**
   * The expanded policies. A policy that names too many members is omitted: expanded in part, it would
   * show entities that NOT_EQUALS hides.
   */
  expand(policies: readonly Policy[]): Promise<readonly Policy[]>;
  /** Invalidates the cache: a hierarchy may have changed. */
  invalidate(): void;
}

export interface HierarchyLookup {
  /** The urns and all their descendants. Rejects `invalid` for too many. */
  below(urns: readonly string[]): Promise<readonly string[]>;
  /** Entities of the types whose urns have one of the prefixes. Rejects `invalid` for too many. */
  beginning(starts: readonly string[], entityTypes: readonly string[]): Promise<readonly string[]>;
}

interface Options {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: { warn(fields: object, message: string): void };
}

/** Cached urns of all criteria together: some hundred megabytes. */
const cachedMax = 1_000_000;

/** TTL. Together with the TTL of access filters (read-authority.ts) it is a second. */
const ttlMs = 250;

/** The reason to omit a criterion. */
interface TooMany {
  readonly tooMany: string;
}
type Below = ReadonlySet<string> | TooMany;

const isSet = (found: Below): found is ReadonlySet<string> => found instanceof Set;

export function createPolicyExpansion(
  lookup: HierarchyLookup,
  { now, logger }: Options,
): PolicyExpansion {
  const known = createTtlCache<Below>(find, {
    now,
    ttlMs,
    sizeMax: cachedMax,
    sizeOf: (found) => (isSet(found) ? found.size : 1),
  });

  async function find(key: string, before: Below | undefined): Promise<Below> {
    const { members, condition, values } = JSON.parse(key) as Question;
    try {
      const top = condition === "STARTS_WITH" ? await lookup.beginning(values, members) : values;
      const found: ReadonlySet<string> = new Set(await lookup.below(top));
      // An unchanged set stays the same object, so comparisons are cheap.
      const same = before !== undefined && isSet(before) && equal(before, found);
      return same ? before : found;
    } catch (error) {
      if (!(error instanceof CatalogError && error.code === "invalid")) throw error;
      if (before === undefined || isSet(before)) {
        const named = values.slice(0, namedMax);
        logger.warn({ err: error, condition, values: named }, "a policy names too much to hold");
      }
      return { tooMany: error.message };
    }
  }

  async function expanded(criterion: PolicyCriterion): Promise<PolicyCriterion | undefined> {
    const members = membersOf(criterion);
    if (members === undefined) return criterion;
    const { condition, values } = criterion;
    const question: Question = { members, condition, values };
    const below = await known.get(JSON.stringify(question));
    return isSet(below) ? { ...criterion, below } : undefined;
  }

  async function inPolicy(policy: Policy, resources: ResourceFilter): Promise<readonly Policy[]> {
    const criteria: PolicyCriterion[] = [];
    for (const criterion of criteriaOf(resources)) {
      const one = await expanded(criterion);
      if (one === undefined) return [];
      criteria.push(one);
    }
    return [{ ...policy, resources: { ...resources, filter: { criteria } } }];
  }

  return {
    async expand(policies) {
      const found = policies.map((policy) =>
        policy.resources !== undefined && namesHierarchies([policy])
          ? inPolicy(policy, policy.resources)
          : [policy],
      );
      return (await Promise.all(found)).flat();
    },
    invalidate: known.invalidate,
  };
}

interface Question {
  readonly members: readonly string[];
  readonly condition?: string | undefined;
  readonly values: readonly string[];
}

/** Values of a criterion that a log line names. */
const namedMax = 10;

const equal = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && other.isSubsetOf(one);

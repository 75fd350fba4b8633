/**
 * What lies below the domains, containers and glossary nodes that policies name, so that a condition on
 * documents, and a look at an entity alone, can say of what lies anywhere in them. Of all users whose
 * policies name the same it is looked up once.
 */
import { CatalogError } from "../core/errors.ts";
import { createKnown } from "./known.ts";
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

/** Whether any of the policies' filters asks for what lies in something. */
export const namesHierarchies = (policies: readonly Policy[]): boolean =>
  policies.some(
    ({ resources }) =>
      resources !== undefined && criteriaOf(resources).some((one) => membersOf(one) !== undefined),
  );

export interface Lowering {
  /**
   * The policies with what lies below what their filters name. A policy that names more than can be
   * looked up is left out: without a part of it, it would show what NOT_EQUALS hides.
   */
  lower(policies: readonly Policy[]): Promise<readonly Policy[]>;
  /** What lies in what may have changed. */
  forget(): void;
}

export interface HierarchyLookup {
  /** These, and all that lies below them. Rejects `invalid` for too many. */
  below(urns: readonly string[]): Promise<readonly string[]>;
  /** Entities of the types whose urns begin so. Rejects `invalid` for too many. */
  beginning(starts: readonly string[], entityTypes: readonly string[]): Promise<readonly string[]>;
}

interface Options {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: { warn(fields: object, message: string): void };
}

/** Urns that are remembered, of all criteria together: some hundred megabytes. */
const rememberedMax = 1_000_000;

/** With the time for which a sight that is made of it is believed (read-authority.ts): a second. */
const believedMs = 250;

/** Why a criterion is left out. */
interface TooMany {
  readonly tooMany: string;
}
type Below = ReadonlySet<string> | TooMany;

const isSet = (found: Below): found is ReadonlySet<string> => found instanceof Set;

export function createLowering(lookup: HierarchyLookup, { now, logger }: Options): Lowering {
  const known = createKnown<Below>(find, {
    now,
    believedMs,
    sizeMax: rememberedMax,
    sizeOf: (found) => (isSet(found) ? found.size : 1),
  });

  async function find(key: string, before: Below | undefined): Promise<Below> {
    const { members, condition, values } = JSON.parse(key) as Question;
    try {
      const top = condition === "STARTS_WITH" ? await lookup.beginning(values, members) : values;
      const found: ReadonlySet<string> = new Set(await lookup.below(top));
      // The same is the same object: who compares what was found before does so at a glance.
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

  async function lowered(criterion: PolicyCriterion): Promise<PolicyCriterion | undefined> {
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
      const one = await lowered(criterion);
      if (one === undefined) return [];
      criteria.push(one);
    }
    return [{ ...policy, resources: { ...resources, filter: { criteria } } }];
  }

  return {
    async lower(policies) {
      const found = policies.map((policy) =>
        policy.resources !== undefined && namesHierarchies([policy])
          ? inPolicy(policy, policy.resources)
          : [policy],
      );
      return (await Promise.all(found)).flat();
    },
    forget: known.forget,
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

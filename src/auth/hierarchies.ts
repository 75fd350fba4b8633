/**
 * What lies below the domains, containers and glossary nodes that policies name, so that a condition on
 * documents, and a look at an entity alone, can say of what lies anywhere in them.
 */
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

export type LowerCriteria = (policies: readonly Policy[]) => Promise<readonly Policy[]>;

export interface HierarchyLookup {
  /** These, and all that lies below them. */
  below(urns: readonly string[]): Promise<readonly string[]>;
  /** Entities of the types whose urns begin so. */
  beginning(starts: readonly string[], entityTypes: readonly string[]): Promise<readonly string[]>;
}

/**
 * Gives the policies with what lies below what their filters name. Rejects `invalid` where that is too
 * much: to leave some out would show what NOT_EQUALS hides.
 */
export function createLowering({ below, beginning }: HierarchyLookup): LowerCriteria {
  async function lowered(criterion: PolicyCriterion): Promise<PolicyCriterion> {
    const members = membersOf(criterion);
    if (members === undefined) return criterion;
    const { condition, values } = criterion;
    const top = condition === "STARTS_WITH" ? await beginning(values, members) : values;
    return { ...criterion, below: new Set((await below(top)).toSorted()) };
  }

  const inFilter = async (resources: ResourceFilter): Promise<ResourceFilter> => ({
    ...resources,
    filter: { criteria: await Promise.all(criteriaOf(resources).map(lowered)) },
  });

  return (policies) =>
    Promise.all(
      policies.map(async (policy) =>
        policy.resources !== undefined && namesHierarchies([policy])
          ? { ...policy, resources: await inFilter(policy.resources) }
          : policy,
      ),
    );
}

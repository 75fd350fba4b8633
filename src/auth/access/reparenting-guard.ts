/**
 * The reparenting guard: policies inherit down hierarchies, so moving an entity changes who sees it.
 * Moving a domain, container, glossary term or node requires the privilege to edit all of its type.
 */
import type { Caller, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { objectOf } from "../../lib/json.ts";
import type { Authority } from "../policies/authority.ts";
import { hierarchies } from "../policies/principals.ts";
import { alternativesText, type PrivilegeAlternatives } from "../policies/privileges.ts";
import type { StoredEntities } from "../stored-entities.ts";

interface Movable {
  readonly hierarchy: (typeof hierarchies)[keyof typeof hierarchies];
  /** The aspect that names the parent. */
  readonly aspect: string;
  /** Any of these. */
  readonly alternatives: PrivilegeAlternatives;
}

/** By entity type. */
const movables: ReadonlyMap<string, Movable> = new Map<string, Movable>([
  [
    "domain",
    {
      hierarchy: hierarchies.DOMAIN,
      aspect: "domainProperties",
      alternatives: [["EDIT_ENTITY"], ["MANAGE_DOMAINS"]],
    },
  ],
  [
    "container",
    { hierarchy: hierarchies.CONTAINER, aspect: "container", alternatives: [["EDIT_ENTITY"]] },
  ],
  ...(["Term", "Node"] as const).map((kind): [string, Movable] => [
    `glossary${kind}`,
    {
      hierarchy: hierarchies.GLOSSARY,
      aspect: `glossary${kind}Info`,
      alternatives: [["EDIT_ENTITY"], ["MANAGE_GLOSSARIES"]],
    },
  ]),
]);

export interface ReparentingGuard {
  /** Rejects `forbidden`. */
  admit(proposals: readonly Proposal[], caller: Caller): Promise<void>;
  /** Of an entity, or of one aspect of it. Rejects `forbidden`. */
  admitDelete(urn: string, aspectName: string | undefined, caller: Caller): Promise<void>;
}

interface Dependencies {
  readonly authority: Pick<Authority, "allows">;
  readonly entities: Pick<StoredEntities, "find">;
  /** The urn of a proposal's entity; undefined when it has no valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
}

export function createReparentingGuard({
  authority,
  entities,
  urnOf,
}: Dependencies): ReparentingGuard {
  async function requireMove(urn: string, { actor }: Caller): Promise<void> {
    const entityType = entityTypeOf(urn);
    const needed = movables.get(entityType)?.alternatives ?? [];
    // For the type, not the entity: a user who sees an entity may make themselves its owner.
    if (await authority.allows(actor, needed, { entityType })) return;
    throw new CatalogError("forbidden", `you may not move "${urn}"`, {
      hint: `Moving it to another parent needs the privilege ${alternativesText(needed)}`,
    });
  }

  async function moves(urn: string, proposal: Proposal): Promise<boolean> {
    const movable = movables.get(entityTypeOf(urn));
    if (movable === undefined || proposal.aspectName !== movable.aspect) return false;
    if (proposal.changeType === "DELETE" || proposal.changeType === "PATCH") return true;
    const { above } = movable.hierarchy;
    const proposed = above({ [movable.aspect]: proposedValue(proposal) });
    const stored = above(await entities.find(urn));
    return proposed.length !== stored.length || proposed.some((parent) => !stored.includes(parent));
  }

  return {
    async admit(proposals, caller) {
      for (const proposal of proposals) {
        const urn = urnOf(proposal);
        if (urn !== undefined && (await moves(urn, proposal))) await requireMove(urn, caller);
      }
    },
    async admitDelete(urn, aspectName, caller) {
      const movable = movables.get(entityTypeOf(urn));
      if (movable === undefined) return;
      if (aspectName === undefined || aspectName === movable.aspect) await requireMove(urn, caller);
    },
  };
}

/** Empty for a value that is no record; the catalog rejects it. */
function proposedValue({ aspect }: Proposal): object {
  try {
    const value = typeof aspect?.value === "string" ? JSON.parse(aspect.value) : aspect?.value;
    return objectOf(value);
  } catch {
    return {};
  }
}

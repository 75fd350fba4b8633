/**
 * Writes to what is there before anybody wrote it: the first one to a default policy, a role or the root
 * user stores it as it was, so that it can be patched, deleted, rolled back and looked back at like any
 * other. What is fixed is not written.
 */
import type { Catalog, Proposal } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { withNamespace } from "../core/urn.ts";
import { type BuiltIn, builtInTime } from "./default-policies.ts";

interface Dependencies {
  readonly builtIns: readonly BuiltIn[];
  /** The urn that a proposal is about; undefined where it says none that could be. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** A snapshot is its proposals. */
  readonly proposalsOf: (
    snapshots: Parameters<Catalog["ingestSnapshots"]>[0],
  ) => readonly Proposal[];
  readonly namespace: string;
  /** Who stores it. */
  readonly systemActor: string;
}

type Writes = "ingest" | "ingestSnapshots" | "delete";

export function storeBuiltIns<C extends Pick<Catalog, Writes | "getEntity">>(
  catalog: C,
  { builtIns, urnOf, proposalsOf, namespace, systemActor }: Dependencies,
): C {
  const byUrn = new Map(builtIns.map((one) => [one.urn, one]));
  const types = new Set(builtIns.map(({ entityType }) => entityType.toLowerCase()));

  async function stored({ urn, info }: BuiltIn): Promise<boolean> {
    const { json } = await catalog.getEntity(urn, undefined);
    const { aspects } = JSON.parse(json) as {
      readonly aspects: Readonly<Record<string, { readonly created?: { readonly time: number } }>>;
    };
    return aspects[info]?.created?.time !== builtInTime;
  }

  async function prepare(urns: ReadonlySet<string>): Promise<void> {
    const missing: BuiltIn[] = [];
    for (const urn of urns) {
      const one = byUrn.get(urn);
      if (one === undefined) continue;
      if (one.fixed) {
        throw new CatalogError("invalid", `"${urn}" comes with the service and stays as it is`, {
          hint: "Make a policy of your own",
        });
      }
      if (!(await stored(one))) missing.push(one);
    }
    for (const one of missing) await store(one);
  }

  async function store(one: BuiltIn): Promise<void> {
    try {
      await catalog.ingest([creationOf(one)], { actor: systemActor });
    } catch (error) {
      // Somebody was faster, here or on another node: it is stored, and theirs.
      if (!(error instanceof CatalogError && error.code === "invalid")) throw error;
    }
  }

  const touches = ({ entityType }: Proposal): boolean => types.has(entityType.toLowerCase());

  const ingest: Catalog["ingest"] = (proposals, caller) => {
    if (!proposals.some(touches)) return catalog.ingest(proposals, caller);
    const urns = new Set(proposals.filter(touches).map(urnOf)).intersection(byUrn);
    if (urns.size === 0) return catalog.ingest(proposals, caller);
    return prepare(urns).then(() => catalog.ingest(proposals, caller));
  };

  return {
    ...catalog,
    ingest,
    ingestSnapshots: (snapshots, caller) => ingest(proposalsOf(snapshots), caller),
    async delete(request, caller) {
      await prepare(new Set([withNamespace(request.urn, namespace)]));
      return catalog.delete(request, caller);
    },
  };
}

/** Its key follows from the urn. */
const creationOf = ({ urn, entityType, aspects, info }: BuiltIn): Proposal => ({
  entityType,
  entityUrn: urn,
  changeType: "CREATE",
  aspectName: info,
  aspect: { value: JSON.stringify(aspects[info]), contentType: "application/json" },
});

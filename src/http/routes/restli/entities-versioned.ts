/** /entitiesVersionedV2: entities with the values that a stamp of versions names. */
import {
  type Catalog,
  type Envelope,
  responseBytesMax,
  tooLarge,
} from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { namesIn } from "../../request/parameters.ts";
import type { Endpoint, Resource } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

export const entitiesVersionedResource: Resource = {
  name: "entitiesVersionedV2",
  implementation: "entity.EntityVersionedV2Resource",
  about: "Read entities with earlier versions of their aspects.",
};

/** Maximum number of entities of one request. */
const idsMax = 1_000;

/**
 * `(<urn> , <aspect>:<version>;<aspect>:<version>)`: a urn may hold a blank and a comma, too, what
 * stands behind it none.
 */
const ID = /^\((.*\S)\s+,([^,]*)\)$/s;
const VERSION = /^([^:;]+):(\d{1,15})$/;

interface Versioned {
  readonly id: string;
  readonly urn: string;
  /** By aspect; the last of several versions counts. */
  readonly versions: ReadonlyMap<string, number>;
}

export const entityVersionedRoutes: readonly Endpoint[] = [
  {
    method: "GET",
    kind: "batch_get",
    path: "/entitiesVersionedV2",
    name: "getVersionedEntities",
    parameters: [
      query.strings(
        "ids",
        `\`List((<urn> , <aspect>:<version>;…))\`, each percent-encoded; ${idsMax} at most`,
        { required: true },
      ),
      query.string("entityType", "Entity type of all the urns", { required: true }),
      query.strings(
        "aspects",
        "Only these aspects, and the key. All versioned aspects when absent",
      ),
    ],
    reads: "entities",
    async handle({ parameters }, { catalog }) {
      const { ids, entityType, aspects } = parameters as {
        ids: readonly string[];
        entityType: string;
        aspects?: readonly string[];
      };
      if (ids.length > idsMax) {
        throw new CatalogError(
          "too_large",
          `there are ${ids.length} ids; at most ${idsMax} are allowed`,
        );
      }
      const names = aspects && namesIn(aspects);
      const results = new Map<string, string>();
      let characters = 0;
      for (const one of ids.map((id) => versionedIn(id, entityType))) {
        const text = JSON.stringify(await read(one, names, catalog));
        characters += text.length;
        if (characters > responseBytesMax && ids.length > 1) throw tooLarge(ids.length);
        results.set(one.id, text);
      }
      const members = [...results].map(([id, text]) => `${JSON.stringify(id)}:${text}`);
      return { json: `{"results":{${members.join(",")}},"statuses":{},"errors":{}}` };
    },
  },
];

async function read(
  { urn, versions }: Versioned,
  names: readonly string[] | undefined,
  catalog: Pick<Catalog, "getEntity" | "findAspect">,
): Promise<unknown> {
  const { json } = await catalog.getEntity(urn, names);
  const entity = JSON.parse(json) as { readonly aspects: Record<string, Envelope> };
  for (const [name, version] of versions) {
    const wanted =
      names === undefined || names.includes(name) || Object.hasOwn(entity.aspects, name);
    if (version === 0 || !wanted) continue;
    const found = await catalog.findAspect(urn, name, version);
    // Deletes own properties only.
    delete entity.aspects[name];
    if (found === undefined) continue;
    const { value, time, actor, system } = found;
    entity.aspects[name] = {
      name,
      type: "VERSIONED",
      version: found.version,
      value: JSON.parse(value),
      created: { actor, time },
      systemMetadata: system,
    };
  }
  return entity;
}

/** Throws `malformed`. */
function versionedIn(id: string, entityType: string): Versioned {
  const [, whom, stamp = ""] = ID.exec(id) ?? [];
  const urn = whom?.trimStart();
  const parts = stamp.split(";").filter((part) => part.trim() !== "");
  const versions = parts.map((part) => {
    const [, aspect, version] = VERSION.exec(part.trim()) ?? [];
    return aspect === undefined ? undefined : ([aspect, Number(version)] as const);
  });
  const whole = versions.filter((one) => one !== undefined);
  if (urn === undefined || whole.length < versions.length) {
    throw new CatalogError("malformed", `"${id.slice(0, 600)}" is no urn with versions`, {
      hint: "Send (<urn> , <aspect>:<version>;<aspect>:<version>)",
    });
  }
  if (entityTypeOf(urn) !== entityType) {
    throw new CatalogError(
      "malformed",
      `"${urn.slice(0, 600)}" is not of entity type "${entityType.slice(0, 60)}"`,
    );
  }
  return { id, urn, versions: new Map(whole) };
}

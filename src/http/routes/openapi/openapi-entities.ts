/**
 * /openapi/v3/entity and /openapi/v2/entity: entities and aspects, read one by one or several at
 * once.
 */
import { CatalogError } from "../../../core/errors.ts";
import { jsonObject } from "../../../lib/json.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import type { ApiContext, ApiRequest, Endpoint } from "../../schemas/endpoint.ts";
import {
  aspectsIn,
  aspectText,
  entitiesText,
  entityText,
  findEvent,
  type ModelNames,
  namedAspects,
  type ShownEntity,
  unfit,
  type Version,
} from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { query } from "../../schemas/query-parameters.ts";

interface Query {
  readonly aspects?: readonly string[];
  readonly aspectNames?: readonly string[];
  readonly systemMetadata?: boolean;
  readonly includeSoftDelete?: boolean;
  readonly version?: number;
}

export function entityReads(version: Version, names: ModelNames): readonly Endpoint[] {
  const base = `/openapi/${version}/entity`;
  const suffix = version === "v3" ? "" : "V2";
  const row = {
    kind: "page",
    group: "OpenAPI",
    reads: "entities",
  } as const;
  const ofEntity = { ...row, path: `${base}/{entity}/{urn}` } as const;
  const ofAspect = {
    ...row,
    path: `${base}/{entity}/{urn}/{aspect}`,
    reads: ["entities", "timeseries"],
  } as const;

  /** A version of the aspect, or an event of a timeseries aspect. */
  const findShown = (catalog: ApiContext["catalog"], target: Target, version: number) =>
    names.isTimeseries(target.entityType, target.aspect)
      ? findEvent(catalog, target, version)
      : catalog.findAspect(target.urn, target.aspect, version);
  return [
    {
      ...ofEntity,
      method: "HEAD",
      name: `entityExists${suffix}`,
      parameters: [forms.entity, forms.urn, forms.includeSoftDelete, ...asOfParameters],
      status: 204,
      async handle(request, { catalog }) {
        const { urn } = targetOf(request, names);
        const { includeSoftDelete = false } = request.parameters as Query;
        if (!(await catalog.exists(urn, { includeSoftDelete }))) throw noEntity(urn);
        return {};
      },
    },
    {
      ...ofEntity,
      method: "GET",
      name: `readEntity${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn, ...forms.aspects, forms.systemMetadata],
        ...asOfParameters,
      ],
      missing: true,
      async handle(request, { catalog }) {
        const { urn, entityType } = targetOf(request, names);
        const asked = request.parameters as Query;
        const aspects = namedAspects(names, entityType, asked) ?? [];
        const member = { ...Object.fromEntries(aspects.map((name) => [name, {}])), urn };
        const [found] = await findMembers([member], { entityType, names, catalog });
        if (found === undefined) throw noEntity(urn);
        const { systemMetadata = false } = asked;
        return { json: entityText(found, { version, systemMetadata }) };
      },
    },
    {
      ...ofAspect,
      method: "HEAD",
      name: `aspectExists${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn, forms.aspect, forms.includeSoftDelete],
        ...asOfParameters,
      ],
      status: 204,
      async handle(request, { catalog }) {
        const target = targetOf(request, names);
        const { urn, aspect } = target;
        const { includeSoftDelete = false } = request.parameters as Query;
        const there = await findShown(catalog, target, 0);
        if (there === undefined || !(await catalog.exists(urn, { includeSoftDelete }))) {
          throw noAspect(urn, aspect);
        }
        return {};
      },
    },
    {
      ...ofAspect,
      method: "GET",
      name: `readAspect${suffix}`,
      parameters: [
        ...[forms.entity, forms.urn, forms.aspect, forms.systemMetadata],
        query.long(
          "version",
          "0 or absent: the latest. n: the n-th value. −k: the k-th before the latest. Of a timeseries aspect: the latest event at or before that time, in epoch milliseconds",
        ),
        ...asOfParameters,
      ],
      missing: true,
      async handle(request, { catalog }) {
        const target = targetOf(request, names);
        const { urn, aspect } = target;
        const { version: number = 0, systemMetadata = false } = request.parameters as Query;
        const found = await findShown(catalog, target, number);
        if (found === undefined) throw noAspect(urn, aspect, number);
        return { json: aspectText(found, { systemMetadata }) };
      },
    },
    {
      ...row,
      method: "POST",
      path: `${base}/{entity}/batchGet`,
      name: `batchGetEntities${suffix}`,
      reads: ["entities", "timeseries"],
      parameters: [forms.entity, forms.systemMetadata, ...asOfParameters],
      body: forms.requestedEntities,
      async handle(request, { catalog }) {
        const entityType = names.known(request.path.entity ?? "", "not_found");
        const found = await findMembers(request.body as readonly Member[], {
          entityType,
          names,
          catalog,
        });
        const { systemMetadata = false } = request.parameters as Query;
        return { json: await entitiesText(found, { version, systemMetadata }) };
      },
    },
  ];
}

export type Member = Readonly<Record<string, unknown>> & { readonly urn: string };

/** Entities that are there, with the aspects that each member asks for. */
export async function findMembers(
  members: readonly Member[],
  options: { readonly entityType: string; readonly names: ModelNames } & Pick<
    ApiContext,
    "catalog"
  >,
): Promise<readonly ShownEntity[]> {
  const { entityType, names, catalog } = options;
  for (const [i, { urn }] of members.entries()) rejectOtherType(urn, entityType, `[${i}].urn`);
  const named = members.map((member) =>
    Object.entries(aspectsIn(member)).map(([name, about]) => ({
      name: names.aspect(entityType, name),
      version: versionIn(about, name),
    })),
  );
  const all = named.some((one) => one.length === 0)
    ? undefined
    : [...new Set(named.flatMap((one) => one.map(({ name }) => name)))];
  const found = await catalog.findEntities(
    members.map(({ urn }) => urn),
    all,
  );
  const chosen = found.map(async (entity, i) => {
    const asked = named[i] ?? [];
    if (asked.length === 0 || !entity.exists) return entity;
    const aspects = await Promise.all(
      asked.map(async ({ name, version }) => {
        if (names.isTimeseries(entityType, name)) {
          return findEvent(catalog, { urn: entity.urn, entityType, aspect: name }, version);
        }
        // A value keeps its version number, even after the aspect is deleted.
        return version === 0
          ? entity.aspects.find((aspect) => aspect.name === name)
          : catalog.findAspect(entity.urn, name, version);
      }),
    );
    return { ...entity, aspects: aspects.filter((one) => one !== undefined) };
  });
  return (await Promise.all(chosen)).filter(({ exists }) => exists);
}

function versionIn(about: unknown, name: string): number {
  const headers = jsonObject(about) && jsonObject(about.headers) ? about.headers : {};
  const [, text] =
    Object.entries(headers).find(([key]) => key.toLowerCase() === "if-version-match") ?? [];
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(String(text))) return Number(text);
  throw unfit(`${name}.headers.If-Version-Match`, text, "Send the number of a value");
}

interface Target {
  readonly entityType: string;
  readonly urn: string;
  readonly aspect: string;
}

/** The entity of the path. Throws `malformed` when its two parts contradict each other. */
export function targetOf({ path }: ApiRequest, names: ModelNames): Target {
  const entityType = names.entity(path.entity ?? "");
  const urn = path.urn ?? "";
  rejectOtherType(urn, entityType, "the path");
  return { entityType, urn, aspect: names.aspect(entityType, path.aspect ?? "") };
}

function rejectOtherType(urn: string, entityType: string, place: string): void {
  const own = /^urn:[^:]+:([^:]+):/.exec(urn)?.[1];
  // The catalog rejects an invalid urn with a better message.
  if (own === undefined || own === entityType) return;
  throw new CatalogError(
    "malformed",
    `${place} names "${urn.slice(0, 120)}", which is no ${entityType.slice(0, 60)}`,
    { hint: `Ask for it among entities of type ${own.slice(0, 60)}` },
  );
}

const noEntity = (urn: string): CatalogError =>
  new CatalogError("not_found", `there is no "${urn.slice(0, 600)}"`);

export const noAspect = (urn: string, aspect: string, version = 0): CatalogError =>
  new CatalogError(
    "not_found",
    version === 0
      ? `"${urn.slice(0, 600)}" has no "${aspect.slice(0, 120)}"`
      : `"${aspect.slice(0, 120)}" of "${urn.slice(0, 600)}" has no version ${version}`,
  );

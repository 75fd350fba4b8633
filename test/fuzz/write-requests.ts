/** One generator for each HTTP route that writes; GraphQL mutations are made in graphql-mutations.ts. */
import type { Entity, Model } from "../../src/model/model.ts";
import type { Chance } from "./chance.ts";
import { createInput, type Input, object } from "./hostile-input.ts";
import { lineageEvent } from "./other-requests.ts";

export interface WriteRequest {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the request needs the admin token. */
  readonly operator?: boolean;
}

interface Making {
  readonly chance: Chance;
  readonly input: Input;
  readonly model: Model;
}

const changeTypes = ["UPSERT", "UPSERT", "UPSERT", "CREATE", "CREATE_ENTITY", "UPDATE", "RESTATE"];
const operations = ["add", "replace", "remove", "test", "move", "copy", "__proto__"];

/** A lone surrogate cannot be encoded in a path. */
const inPath = (text: string): string => encodeURIComponent(text.toWellFormed());

function systemMetadata({ chance, input }: Making): object | undefined {
  if (chance.yes(0.6)) return undefined;
  return {
    runId: input.text(),
    lastObserved: chance.pick([0, 1, 1_772_409_600_000]),
    pipelineName: input.name(),
    properties: object(chance.list(2, () => [input.name(), input.text()])),
  };
}

function patchOf({ chance, input }: Making, aspect: string): object {
  const path = () => chance.list(4, () => `/${input.name()}`).join("");
  const value = input.value(aspect);
  const known = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const operation = () => ({
    op: chance.pick(operations),
    path: chance.yes(0.6) && known.length > 0 ? `/${chance.pick(known)}${path()}` : path(),
    from: path(),
    value: chance.yes(0.5) ? input.json() : (value as Record<string, unknown>),
  });
  const patch = chance.list(3, operation);
  if (chance.yes(0.5)) return patch;
  const keys = object(chance.list(2, () => [input.name(), chance.list(2, input.name)]));
  return { patch, arrayPrimaryKeys: keys, forceGenericPatch: chance.yes(0.5) };
}

function proposalOf(making: Making): object {
  const { chance, input } = making;
  const entity = input.entity();
  const aspectName = input.aspectOf(entity);
  const changeType = chance.yes(0.15)
    ? "PATCH"
    : chance.yes(0.1)
      ? "DELETE"
      : chance.yes(0.03)
        ? input.name()
        : chance.pick(changeTypes);
  const value = changeType === "PATCH" ? patchOf(making, aspectName) : input.value(aspectName);
  const contentType = chance.yes(0.95) ? "application/json" : input.name();
  return {
    entityType: chance.yes(0.9) ? entity.name : input.entityType(),
    entityUrn: chance.yes(0.9) ? input.urnOf(entity) : input.urn(),
    aspectName,
    changeType,
    ...(chance.yes(0.97) && { aspect: { value: JSON.stringify(value), contentType } }),
    systemMetadata: systemMetadata(making),
    ...(chance.yes(0.1) && { headers: object(chance.list(2, () => [input.name(), input.text()])) }),
  };
}

const recordName = ({ model }: Making, aspect: string, other: string): string =>
  model.aspects.get(aspect)?.record ?? other;

function snapshotOf(making: Making): object {
  const { chance, input, model } = making;
  const snapshot = chance.pick([...model.snapshots.values()]);
  const entity = model.entities.get(snapshot.entity) as Entity;
  const aspects = chance.list(3, () => {
    const aspect = input.aspectOf(entity);
    return object([[recordName(making, aspect, input.name()), input.value(aspect)]]);
  });
  const urn = chance.yes(0.9) ? input.urnOf(entity) : input.urn();
  const name = chance.yes(0.95) ? snapshot.record : input.name();
  return { value: object([[name, { urn, aspects }]]) };
}

/** Aspects of one entity as the OpenAPI routes take them. */
function openApiEntity(making: Making, entity: Entity, patched: boolean, v2: boolean): object {
  const { chance, input } = making;
  const aspects = chance.list(3, (): readonly [string, unknown] => {
    const aspect = input.aspectOf(entity);
    const value = patched ? patchOf(making, aspect) : input.value(aspect);
    return [aspect, { value, systemMetadata: systemMetadata(making) }];
  });
  const urn = chance.yes(0.9) ? input.urnOf(entity) : input.urn();
  return v2 ? { urn, aspects: object(aspects) } : object([["urn", urn], ...aspects]);
}

type Maker = (making: Making) => WriteRequest;

const openApi =
  (version: "v2" | "v3", method: "POST" | "PATCH"): Maker =>
  (making) => {
    const { chance, input } = making;
    const entity = input.entity();
    const type = chance.yes(0.9) ? entity.name : input.name();
    const body = chance.list(3, () =>
      openApiEntity(making, entity, method === "PATCH", version === "v2"),
    );
    const path = `/openapi/${version}/entity/${inPath(type)}?async=${chance.yes(0.2)}`;
    return { route: `openapi ${version} ${method}`, method, path, body };
  };

const openApiAspect =
  (version: "v2" | "v3", method: "POST" | "PATCH" | "DELETE"): Maker =>
  (making) => {
    const { chance, input } = making;
    const entity = input.entity();
    const aspect = input.aspectOf(entity);
    const urn = chance.yes(0.9) ? input.urnOf(entity) : input.urn();
    const value = method === "PATCH" ? patchOf(making, aspect) : input.value(aspect);
    const path = `/openapi/${version}/entity/${inPath(entity.name)}/${inPath(urn)}/${inPath(aspect)}`;
    return {
      ...{ route: `openapi ${version} aspect ${method}`, method, path },
      ...(method !== "DELETE" && { body: version === "v2" ? value : { value } }),
    };
  };

const generic =
  (method: "POST" | "PATCH"): Maker =>
  (making) => {
    const { chance, input } = making;
    const body = object(
      chance.list(2, () => {
        const entity = input.entity();
        const list = chance.list(2, () => openApiEntity(making, entity, method === "PATCH", false));
        return [chance.yes(0.9) ? entity.name : input.name(), list];
      }),
    );
    return {
      route: `openapi generic ${method}`,
      method,
      path: "/openapi/v3/entity/generic?async=false",
      body,
    };
  };

const post =
  (path: string, body: (making: Making) => unknown, operator = false): Maker =>
  (making) => ({ route: path, method: "POST", path, body: body(making), operator });

/** Deletes of one or several entities by urn. */
const deletion =
  (path: (urn: string) => string): Maker =>
  ({ input }) => ({
    ...{ route: `DELETE ${path("")}`, method: "DELETE" },
    path: path(inPath(input.urn())),
  });

const platformEvent = ({ chance, input }: Making): object => ({
  name: input.text(),
  key: chance.yes(0.5) ? input.text() : undefined,
  event: {
    header: { timestampMillis: chance.pick([0, -1, 1_772_409_600_000]) },
    name: input.text(),
    payload: { value: JSON.stringify(input.json()), contentType: "application/json" },
  },
});

const makers: readonly (readonly [weight: number, Maker])[] = [
  [12, post("/aspects?action=ingestProposal", (making) => ({ proposal: proposalOf(making) }))],
  [
    4,
    post("/aspects?action=ingestProposalBatch", (making) => ({
      proposals: making.chance.list(4, () => proposalOf(making)),
    })),
  ],
  [3, post("/entities?action=ingest", (making) => ({ entity: snapshotOf(making) }))],
  [
    2,
    post("/entities?action=batchIngest", (making) => ({
      entities: making.chance.list(3, () => snapshotOf(making)),
    })),
  ],
  [
    2,
    post("/entities?action=delete", ({ chance, input }) => ({
      urn: input.urn(),
      ...(chance.yes(0.2) && { aspectName: input.aspectOf(input.entity()) }),
    })),
  ],
  [2, post("/entities?action=deleteReferences", ({ input }) => ({ urn: input.urn() }))],
  [1, post("/entities?action=deleteAll", ({ input }) => ({ registryId: `${input.text()}:1` }))],
  [
    1,
    post("/runs?action=rollback", ({ chance, input }) => ({
      runId: input.text(),
      dryRun: chance.yes(0.2),
    })),
  ],
  [
    1,
    post("/usageStats?action=batchIngest", ({ chance, input }) => ({
      buckets: chance.list(2, () => ({
        ...{ bucket: chance.int(9), duration: "DAY", resource: input.urn() },
        metrics: input.json(),
      })),
    })),
  ],
  [
    4,
    ({ chance, input }) => {
      const urn = chance.yes(0.5) ? input.urn() : `urn:li:${input.name()}:x`;
      return {
        route: "DELETE /relationships",
        method: "DELETE",
        path: `/relationships?urn=${inPath(urn)}`,
      };
    },
  ],
  [
    1,
    ({ input }) => {
      const entity = input.entity();
      const path = `/aspects/${inPath(input.urnOf(entity))}?aspect=${inPath(input.aspectOf(entity))}`;
      return { route: "DELETE /aspects", method: "DELETE", path };
    },
  ],
  [3, openApi("v3", "POST")],
  [2, openApi("v3", "PATCH")],
  [2, openApi("v2", "POST")],
  [1, openApi("v2", "PATCH")],
  [3, openApiAspect("v3", "POST")],
  [2, openApiAspect("v3", "PATCH")],
  [1, openApiAspect("v3", "DELETE")],
  [1, openApiAspect("v2", "POST")],
  [1, openApiAspect("v2", "PATCH")],
  [1, openApiAspect("v2", "DELETE")],
  [2, generic("POST")],
  [1, generic("PATCH")],
  [
    1,
    ({ chance, input }) => {
      const entity = input.entity();
      const urn = input.urnOf(entity);
      const version = chance.pick(["v2", "v3"]);
      const path = `/openapi/${version}/entity/${inPath(entity.name)}/${inPath(urn)}`;
      return { route: "openapi DELETE entity", method: "DELETE", path };
    },
  ],
  [
    1,
    (making) => ({
      ...{ route: "openapi v1 entities", method: "POST", path: "/openapi/entities/v1/" },
      body: making.chance.list(2, () => {
        const entity = making.input.entity();
        const aspectName = making.input.aspectOf(entity);
        const aspect = making.input.value(aspectName);
        return {
          entityType: entity.name,
          entityUrn: making.input.urnOf(entity),
          aspectName,
          aspect,
        };
      }),
    }),
  ],
  ...["/openapi/platform/entities/v1", "/openapi/v2/platform/entities/v1"].map(
    (path) => [1, post(path, (making) => making.chance.list(2, () => proposalOf(making)))] as const,
  ),
  [1, deletion((urn) => `/openapi/entities/v1?soft=false&urns=${urn}`)],
  [1, deletion((urn) => `/openapi/entities/v1?urns=${urn}`)],
  [1, deletion((urn) => `/openapi/v3/entity/generic/${urn}`)],
  [4, post("/openapi/openlineage/api/v1/lineage", lineageEvent)],
  [
    1,
    post("/openapi/openlineage/api/v1/lineage/batch", (making) =>
      making.chance.list(3, () => lineageEvent(making)),
    ),
  ],
  [1, post("/platform?action=producePlatformEvent", platformEvent)],
  [
    1,
    post(
      "/operations?action=truncateTimeseriesAspect",
      ({ chance, input }) => ({
        ...{
          entityType: input.entityType(),
          aspect: input.aspectOf(input.entity()),
          dryRun: false,
        },
        endTimeMillis: chance.pick([0, -1, 1_772_409_600_001]),
      }),
      true,
    ),
  ],
  ...["/operations?action=restoreIndices", "/aspects?action=restoreIndices"].map(
    (path) => [1, post(path, ({ input }) => ({ urn: input.urn() }), true)] as const,
  ),
  [
    1,
    post(
      "/openapi/operations/elasticSearch/restoreIndices",
      ({ chance, input }) => chance.list(2, input.urn),
      true,
    ),
  ],
  [
    1,
    post(
      "/operations?action=retryParked",
      ({ chance, input }) => ({
        view: chance.pick(["search", "graph", input.name()]),
        urn: input.urn(),
      }),
      true,
    ),
  ],
];

/** Only proposals, for other senders (CLI ingest, Kafka). */
export const proposals = (chance: Chance, model: Model, most: number): readonly object[] => {
  const making = { chance, model, input: createInput(chance, model) };
  return Array.from({ length: most }, () => proposalOf(making));
};

export function createWriteRequests(chance: Chance, model: Model): () => WriteRequest {
  const making = { chance, model, input: createInput(chance, model) };
  const weighted = makers.flatMap(([weight, maker]) => Array<Maker>(weight).fill(maker));
  return () => chance.pick(weighted)(making);
}

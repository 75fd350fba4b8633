/** /openapi/v1/trace: the state of a write. */
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { ApiContext, ApiRequest, Endpoint } from "../../schemas/endpoint.ts";
import type { ModelNames } from "../../schemas/openapi-forms.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";
import { positionOfTrace } from "../../schemas/trace-id.ts";

interface Traced {
  readonly success: boolean;
  readonly primaryStorage: Storage;
  readonly searchStorage: Storage;
}

interface Storage {
  readonly writeStatus: "ACTIVE_STATE" | "HISTORIC_STATE" | "PENDING" | "ERROR";
  readonly writeMessage?: string;
}

const namedMax = 20_000;

export const traceRoutes = (names: ModelNames): readonly Endpoint[] => [
  {
    method: "POST",
    kind: "page",
    group: "OpenAPI",
    path: "/openapi/v1/trace/write/{traceId}",
    name: "traceWrite",
    parameters: [
      inPath("traceId", "32 hexadecimal digits"),
      query.boolean("onlyIncludeErrors", "Return failures only; `true` when absent"),
      query.boolean("detailed", "Include messages; `false` when absent"),
    ],
    body: {
      type: "object",
      description: "Names of aspects, by urn",
      properties: {},
      maxProperties: namedMax,
      additionalProperties: { type: "array", maxItems: namedMax, items: { type: "string" } },
    },
    reads: "entities",
    async handle({ path, parameters, body }, { catalog }) {
      const { onlyIncludeErrors = true, detailed = false } = parameters as {
        onlyIncludeErrors?: boolean;
        detailed?: boolean;
      };
      const position = positionOfTrace(traceIdOf(path));
      const shown = position === undefined || catalog.positionOf("search") >= position;
      const traced: Record<string, Record<string, Traced>> = {};
      for (const [urn, named] of Object.entries(body as Readonly<Record<string, string[]>>)) {
        const aspects = [...new Set(named)];
        const found = await statesOf(urn, aspects, { names, catalog });
        const traces = aspects.flatMap((aspect, i) => {
          const one = tracedOf(found[i] ?? "ERROR", { shown, detailed });
          return onlyIncludeErrors && one.success ? [] : [[aspect, one] as const];
        });
        // Without an aspect in the response the request still waits for each urn.
        if (traces.length > 0 || !onlyIncludeErrors) traced[urn] = Object.fromEntries(traces);
      }
      return { json: JSON.stringify(traced) };
    },
  },
];

/** Throws `malformed`. */
function traceIdOf({ traceId = "" }: ApiRequest["path"]): string {
  if (/^[0-9a-f]{32}$/i.test(traceId)) return traceId;
  throw new CatalogError("malformed", `"${traceId.slice(0, 120)}" is not a trace id`, {
    hint: "Send the 32 hexadecimal digits of the response's header traceparent",
  });
}

type State = "ACTIVE_STATE" | "HISTORIC_STATE" | "ERROR";

async function statesOf(
  urn: string,
  aspects: readonly string[],
  { names, catalog }: { readonly names: ModelNames } & Pick<ApiContext, "catalog">,
): Promise<readonly State[]> {
  const [found] = await catalog.findEntities([urn], aspects);
  const current = new Set(found?.aspects.map(({ name }) => name));
  const entity = entityTypeOf(urn);
  return Promise.all(
    aspects.map(async (aspect) => {
      if (current.has(aspect)) return "ACTIVE_STATE";
      if (names.isTimeseries(entity, aspect)) {
        const query = { urn, entity, aspect: names.aspect(entity, aspect), limit: 1 };
        const { json } = await catalog.getTimeseriesValues(query);
        return JSON.parse(json).value.values.length > 0 ? "ACTIVE_STATE" : "ERROR";
      }
      const earlier = await catalog.findAspect(urn, aspect, 1);
      return earlier === undefined ? "ERROR" : "HISTORIC_STATE";
    }),
  );
}

function tracedOf(state: State, about: { shown: boolean; detailed: boolean }): Traced {
  const { shown, detailed } = about;
  const storage = (writeStatus: Storage["writeStatus"]): Storage => ({
    writeStatus,
    ...(detailed && writeStatus === "ERROR" && { writeMessage: "the aspect never had a value" }),
  });
  return {
    success: state !== "ERROR",
    primaryStorage: storage(state),
    searchStorage: storage(shown || state === "ERROR" ? state : "PENDING"),
  };
}

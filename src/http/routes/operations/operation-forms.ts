/** Shared parts of the routes of /operations. */
import { CatalogError } from "../../../core/errors.ts";
import { nearest } from "../../../lib/did-you-mean.ts";
import type { ApiRequest, Endpoint, Schema } from "../../schemas/endpoint.ts";

export const action = {
  method: "POST",
  kind: "action",
  path: "/operations",
  access: "operator",
} as const;

export const count = (description: string, minimum = 0): Schema => ({
  type: "integer",
  minimum,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/** Body of a list; `max`: maximum page size as text. */
export const pageForm = (max: string) => ({
  start: count("Number of items to skip. 0 when absent"),
  count: count(`At most so many: 20 when absent, ${max} at most`),
});

/** Ignores unknown parameters: clients send parameters of other releases of DataHub. */
const ofDatahub = new Set([
  ...["getEsTaskStatus", "truncateTimeseriesAspect", "restoreIndices", "getIndexSizes"],
  ...["delete", "deleteReferences", "deleteAll", "rollback"],
]);

/**
 * Rejects unknown parameters, because a misspelt one could turn a dry run into a deletion. DataHub's own
 * operations accept and drop them, as its clients expect.
 */
export function knownParametersOnly(endpoint: Endpoint): Endpoint {
  const { body: form, name, handle } = endpoint;
  if (form?.type !== "object") return endpoint;
  const known = Object.keys(form.properties);
  return {
    ...endpoint,
    handle(request, context) {
      const sent = Object.keys(request.body as object);
      const unknown = sent.find((parameter) => !known.includes(parameter));
      if (unknown === undefined) return handle(request, context);
      if (request.wireForm === "datahub" && ofDatahub.has(name)) {
        return handle(
          { ...request, body: only(known, request.body as object) } satisfies ApiRequest,
          context,
        );
      }
      throw unrecognized(name, unknown, known);
    },
  };
}

const only = (known: readonly string[], body: object): object =>
  Object.fromEntries(Object.entries(body).filter(([parameter]) => known.includes(parameter)));

/** The error for an unknown parameter, in DataHub's words. */
function unrecognized(action: string, parameter: string, known: readonly string[]): CatalogError {
  const where = `/${parameter.slice(0, 60)}`;
  const near = nearest(parameter, known);
  return new CatalogError(
    "malformed",
    `Parameters of method '${action}' failed validation with error 'ERROR :: ${where} :: unrecognized field found but not allowed'`,
    { hint: near ?? `It takes ${known.length === 0 ? "none" : known.join(", ")}` },
  );
}

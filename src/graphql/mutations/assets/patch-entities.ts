/**
 * Patches of any aspect. The error of a rejected patch is in its result, not in the errors of the
 * response.
 */
import { randomUUID } from "node:crypto";
import type { Proposal } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { write } from "../writing.ts";

interface Entry {
  readonly key: string;
  readonly value?: Maybe<string>;
}

interface PatchInput {
  readonly urn?: Maybe<string>;
  readonly entityType?: Maybe<string>;
  readonly aspectName: string;
  readonly patch: readonly {
    readonly op: string;
    readonly path: string;
    readonly value?: Maybe<string>;
    readonly from?: Maybe<string>;
  }[];
  readonly arrayPrimaryKeys?: Maybe<
    readonly { readonly arrayField: string; readonly keys: readonly string[] }[]
  >;
  readonly forceGenericPatch?: Maybe<boolean>;
  readonly systemMetadata?: Maybe<{
    readonly lastObserved?: Maybe<number>;
    readonly runId?: Maybe<string>;
    readonly properties?: Maybe<readonly Entry[]>;
  }>;
  readonly headers?: Maybe<readonly Entry[]>;
}

/** JSON text; any other text is a string. */
function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const recordOf = (entries: Maybe<readonly Entry[]>): Record<string, string> =>
  Object.fromEntries((entries ?? []).map(({ key, value }) => [key, value ?? ""]));

/** The urn of the input, or a new one of the entity type. */
function urnOfInput({ urn, entityType }: PatchInput, { namespace }: Viewer): string {
  if (urn) return urn;
  if (entityType) return `urn:${namespace}:${entityType}:${randomUUID()}`;
  throw new CatalogError("malformed", "urn and entityType are missing", { hint: "Send the urn" });
}

function proposalFor(urn: string, input: PatchInput): Proposal {
  const { aspectName, arrayPrimaryKeys, forceGenericPatch, systemMetadata } = input;
  const patch = input.patch.map(({ op, path, value, from }) => ({
    ...{ op: op.toLowerCase(), path },
    ...(typeof value === "string" && { value: parsedValue(value) }),
    ...(typeof from === "string" && { from }),
  }));
  const keys = (arrayPrimaryKeys ?? []).map((one) => [one.arrayField, one.keys] as const);
  const { lastObserved, runId, properties } = systemMetadata ?? {};
  return {
    ...{ entityType: entityTypeOf(urn), entityUrn: urn, changeType: "PATCH", aspectName },
    aspect: {
      value: {
        patch,
        ...(keys.length > 0 && { arrayPrimaryKeys: Object.fromEntries(keys) }),
        ...(forceGenericPatch && { forceGenericPatch }),
      },
      contentType: "application/json-patch+json",
    },
    headers: recordOf(input.headers),
    systemMetadata: {
      ...(typeof lastObserved === "number" && { lastObserved }),
      ...(runId && { runId }),
      ...(properties && { properties: recordOf(properties) }),
    },
  };
}

/** The value of the operation that sets the member `name`. */
function nameIn({ patch }: PatchInput): string | null {
  const value = patch.find(({ path }) => path === "/name")?.value;
  return typeof value === "string" ? String(parsedValue(value)) : null;
}

const UNKNOWN = "urn:li:unknown:error";

/** Applies all patches in one write. A rejected patch rejects all, and every result has its error. */
async function patched(inputs: readonly PatchInput[], viewer: Viewer) {
  let urns: readonly string[] = [];
  try {
    urns = inputs.map((input) => urnOfInput(input, viewer));
    const proposals = inputs.map((input, i) => proposalFor(urns[i] ?? "", input));
    await write(proposals, viewer);
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code === "internal") throw error;
    return inputs.map(({ urn }, i) => ({
      ...{ urn: urns[i] ?? urn ?? UNKNOWN, name: null, success: false, error: error.text },
    }));
  }
  return inputs.map((input, i) => ({
    ...{ urn: urns[i], name: nameIn(input), success: true, error: null },
  }));
}

export const patchMutations = {
  patchEntity: async ({ input }: InputArgs<PatchInput>, viewer: Viewer) =>
    (await patched([input], viewer))[0],
  patchEntities: ({ input }: InputArgs<readonly PatchInput[]>, viewer: Viewer) =>
    patched(input, viewer),
};

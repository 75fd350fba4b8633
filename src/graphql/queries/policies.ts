/** Queries and mutations of policies. */
import { randomUUID } from "node:crypto";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { withoutNulls } from "../mutations/changes.ts";
import { deleting } from "../mutations/declared.ts";
import { proposalOf, rejectMissing, urnOf, write } from "../mutations/writing.ts";
import { type PageInput, pageOf, rowTest } from "./pages.ts";
import type { FacetFilter } from "./token-filter.ts";

const TYPE = "dataHubPolicy";
const INFO = "dataHubPolicyInfo";

interface PolicyInput {
  readonly type: string;
  readonly name: string;
  readonly state: string;
  readonly description?: Maybe<string>;
  readonly resources?: Maybe<object>;
  readonly privileges: readonly string[];
  readonly actors: object;
}

interface ListInput extends PageInput {
  readonly query?: Maybe<string>;
  readonly orFilters?: Maybe<readonly { readonly and?: Maybe<readonly FacetFilter[]> }[]>;
}

const listFields = ["urn", "name", "description", "type", "state", "editable"];

async function listPolicies({ input }: InputArgs<ListInput>, viewer: Viewer) {
  const { start, count } = pageOf(input);
  const found = await viewer.entities.list(TYPE);
  const words = input.query && input.query !== "*" ? input.query.toLowerCase() : "";
  const groups = (input.orFilters ?? []).map(({ and }) =>
    (and ?? []).map((filter) => rowTest(filter, listFields)),
  );
  const all = [...found]
    .flatMap(([urn, { [INFO]: info }]) => (jsonObject(info) ? [shown(urn, info)] : []))
    .filter((one) => `${one.name} ${one.description}`.toLowerCase().includes(words))
    .filter((one) => groups.length === 0 || groups.some((tests) => tests.every((is) => is(one))))
    .sort((a, b) => (a.urn < b.urn ? -1 : 1));
  const page = all.slice(start, start + count);
  return { start, count: page.length, total: all.length, policies: page };
}

const shown = (urn: string, info: JsonObject) => ({
  ...info,
  urn,
  policyType: info.type,
  name: String(info.displayName),
  description: String(info.description ?? ""),
  editable: info.editable !== false,
});

async function put(urn: string, input: PolicyInput, viewer: Viewer): Promise<string> {
  const { type, name: displayName, state, privileges } = input;
  const value = {
    type,
    displayName,
    state,
    privileges,
    description: input.description ?? "",
    actors: withoutNulls(input.actors),
    ...(input.resources && { resources: withoutNulls(input.resources) }),
    editable: true,
    lastUpdatedTimestamp: viewer.now(),
  };
  await write([proposalOf(urn, INFO, value)], viewer);
  return urn;
}

export const policyQueries = { listPolicies };

export const policyMutations = {
  createPolicy: ({ input }: InputArgs<PolicyInput>, viewer: Viewer) =>
    put(`urn:${viewer.namespace}:${TYPE}:${randomUUID()}`, input, viewer),

  async updatePolicy({ urn: text, input }: UpdateArgs<PolicyInput>, viewer: Viewer) {
    const urn = urnOf(text, [TYPE], viewer);
    await rejectMissing([urn], viewer);
    return put(urn, input, viewer);
  },

  deletePolicy: deleting([TYPE], { answer: "urn" }),
};

/** Mutations of incidents. */

import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { stringsIn } from "../../../lib/json.ts";
import type { InputArgs, UpdateArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { createEntity, given, setMembers, stampOf, storedAspect } from "../changes.ts";
import { anyOf, rejectMissing, urnOf } from "../writing.ts";

const INFO = "incidentInfo";

/** As stored, by the members of the enum IncidentPriority. */
const priorities = { CRITICAL: 0, HIGH: 1, MEDIUM: 2, LOW: 3 } as const;

interface StatusInput {
  readonly state: string;
  readonly stage?: Maybe<string>;
  readonly message?: Maybe<string>;
}

interface IncidentInput {
  readonly type?: Maybe<string>;
  readonly customType?: Maybe<string>;
  readonly title?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly resourceUrn?: Maybe<string>;
  readonly resourceUrns?: Maybe<readonly string[]>;
  readonly startedAt?: Maybe<number>;
  readonly status?: Maybe<StatusInput>;
  readonly priority?: Maybe<keyof typeof priorities>;
  readonly assigneeUrns?: Maybe<readonly string[]>;
}

const statusOf = ({ state, stage, message }: StatusInput, viewer: Viewer) => ({
  ...given({ stage, message }),
  state,
  lastUpdated: stampOf(viewer),
});

const assigneesOf = (urns: readonly string[], viewer: Viewer) =>
  urns.map((urn) => ({
    actor: urnOf(urn, ["corpuser", "corpGroup"], viewer),
    assignedAt: stampOf(viewer),
  }));

/** The entities of the incident. Throws `malformed` for none, `not_found` for a missing one. */
async function resourcesOf({ resourceUrn, resourceUrns }: IncidentInput, viewer: Viewer) {
  const urns = [...new Set([...(resourceUrns ?? []), ...(resourceUrn ? [resourceUrn] : [])])];
  if (urns.length === 0) {
    throw new CatalogError("malformed", "an incident is about at least one entity", {
      hint: "Send resourceUrn or resourceUrns",
    });
  }
  await rejectMissing(urns, viewer);
  return urns.map((urn) => urnOf(urn, [entityTypeOf(urn)], viewer));
}

/** A caller who may edit the incidents of all these entities may write the incident. */
const toEdit = (entities: readonly string[]) => [
  anyOf(["EDIT_ENTITY", "EDIT_ENTITY_INCIDENTS"], entities),
];

export const incidentMutations = {
  async raiseIncident({ input }: InputArgs<IncidentInput>, viewer: Viewer) {
    const { type, customType, title, description, startedAt, priority, assigneeUrns } = input;
    if (type === "CUSTOM" && !customType) {
      throw new CatalogError("malformed", "an incident of type CUSTOM has no customType", {
        hint: "Send customType",
      });
    }
    const created = stampOf(viewer);
    const entities = await resourcesOf(input, viewer);
    const info = {
      ...given({ type, customType, title, description, startedAt }),
      entities,
      status: statusOf(input.status ?? { state: "ACTIVE" }, viewer),
      source: { type: "MANUAL" },
      created,
      // Safe lookup: the schema checks the member of the enum.
      ...(priority && { priority: priorities[priority] }),
      ...(assigneeUrns && { assignees: assigneesOf(assigneeUrns, viewer) }),
    };
    const aspects = { [INFO]: info };
    return createEntity("incident", { aspects, required: toEdit(entities) }, viewer);
  },

  async updateIncident({ urn: text, input }: UpdateArgs<IncidentInput>, viewer: Viewer) {
    const urn = urnOf(text, ["incident"], viewer);
    const before = stringsIn((await storedAspect(urn, INFO, viewer)).entities);
    const { title, description, startedAt, status, priority, assigneeUrns } = input;
    const entities = input.resourceUrns ? await resourcesOf(input, viewer) : undefined;
    const changed = given({
      ...{ title, description, startedAt, entities },
      status: status && statusOf(status, viewer),
      // Safe lookup: the schema checks the member of the enum.
      priority: priority && priorities[priority],
      assignees: assigneeUrns && assigneesOf(assigneeUrns, viewer),
    });
    const required = toEdit([...before, ...(entities ?? [])]);
    return setMembers(urn, INFO, changed, viewer, required);
  },

  async updateIncidentStatus({ urn: text, input }: UpdateArgs<StatusInput>, viewer: Viewer) {
    const urn = urnOf(text, ["incident"], viewer);
    const entities = stringsIn((await storedAspect(urn, INFO, viewer)).entities);
    const status = statusOf(input, viewer);
    return setMembers(urn, INFO, { status }, viewer, toEdit(entities));
  },
};

/** Health of an asset, its incidents and its contract. */

import { entityTypeOf } from "../../../core/urn.ts";
import { objectsIn } from "../../../lib/json.ts";
import { maxOf } from "../../../lib/lists.ts";
import type { Viewer } from "../../context.ts";
import type { LoadedEntity } from "../../entity-loader.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";
import { eventsOf } from "../assertions.ts";
import type { EntitySource } from "../entity-source.ts";
import type { PageInput } from "../pages.ts";
import { existingRelated } from "../related.ts";

/** Priorities by the number that the aspect stores. */
const priorities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

interface IncidentsInput extends PageInput {
  readonly state?: Maybe<string>;
  readonly stage?: Maybe<string>;
  readonly priority?: Maybe<string>;
  readonly assigneeUrns?: Maybe<readonly string[]>;
}

/** Incidents of the asset, newest first. */
async function incidentsOf(urn: string, viewer: Viewer): Promise<readonly LoadedEntity[]> {
  const urns = await existingRelated(urn, "IncidentOn", viewer);
  const loaded = await Promise.all(urns.map((one) => viewer.loader.load(one)));
  const createdOf = ({ aspect }: LoadedEntity) =>
    Number(memberAt(aspect("incidentInfo"), ["created", "time"]) ?? 0);
  return loaded
    .filter(({ aspect }) => aspect("incidentInfo") !== undefined)
    .sort((a, b) => createdOf(b) - createdOf(a));
}

const statusOf = ({ aspect }: LoadedEntity, member: string): unknown =>
  memberAt(aspect("incidentInfo"), ["status", member]);

async function incidents({ urn }: EntitySource, asked: IncidentsInput, viewer: Viewer) {
  const start = Math.max(0, asked.start ?? 0);
  const count = Math.max(0, asked.count ?? 20);
  const assignees = new Set(asked.assigneeUrns);
  const found = (await incidentsOf(urn, viewer)).filter((incident) => {
    const info = incident.aspect("incidentInfo");
    const assigned = objectsIn(info?.assignees).map(({ actor }) => String(actor));
    return (
      (!asked.state || statusOf(incident, "state") === asked.state) &&
      (!asked.stage || statusOf(incident, "stage") === asked.stage) &&
      (!asked.priority || priorities[Number(info?.priority)] === asked.priority) &&
      (assignees.size === 0 || assigned.some((one) => assignees.has(one)))
    );
  });
  const page = found.slice(start, start + count);
  return { start, count, total: found.length, incidents: page.map((one) => one.urn) };
}

async function incidentHealth(urn: string, viewer: Viewer): Promise<object> {
  const active = (await incidentsOf(urn, viewer)).filter(
    (one) => statusOf(one, "state") === "ACTIVE",
  );
  const [newest] = active;
  if (newest === undefined) return { type: "INCIDENTS", status: "PASS" };
  const count = active.length;
  const updated = memberAt(statusOf(newest, "lastUpdated"), ["time"]);
  const lastActivityAt = typeof updated === "number" ? updated : 0;
  return {
    type: "INCIDENTS",
    status: "FAIL",
    message: `${count} active incident${count === 1 ? "" : "s"}`,
    causes: ["ACTIVE_INCIDENTS"],
    reportedAt: lastActivityAt,
    activeIncidentHealthDetails: {
      latestIncidentUrn: newest.urn,
      latestIncidentTitle: newest.aspect("incidentInfo")?.title,
      lastActivityAt,
      count,
    },
  };
}

const assertionsMax = 500;

/** The newest complete run of an assertion. */
interface AssertionRun {
  readonly assertion: string;
  readonly type: unknown;
  readonly passed: boolean;
  readonly time: number;
}

async function runsOf(assertions: readonly string[], viewer: Viewer) {
  const found = await Promise.all(
    assertions.map(async (assertion): Promise<readonly AssertionRun[]> => {
      const of = { urn: assertion, entity: "assertion", aspect: "assertionRunEvent" };
      const complete = { field: "status", value: "COMPLETE" };
      const [newest] = await eventsOf(of, { limit: 1, filter: { and: [complete] } }, viewer);
      const result = memberAt(newest, ["result", "type"]);
      if (result === undefined) return [];
      const { type } = (await viewer.loader.load(assertion)).aspect("assertionInfo") ?? {};
      const passed = result === "SUCCESS";
      return [{ assertion, type, passed, time: Number(newest?.timestampMillis) }];
    }),
  );
  return found.flat();
}

/** The state of the assertions of one type: FAIL if any of them fails. */
function statusOfType(type: unknown, runs: readonly AssertionRun[]): object {
  const failing = runs.filter(({ passed }) => !passed);
  const [status, own] = failing.length > 0 ? ["FAIL", failing] : ["PASS", runs];
  return {
    ...{ type, status, total: runs.length, statusCount: own.length },
    lastStatusResultAt: maxOf(own.map(({ time }) => time)),
  };
}

/** The health by assertions; undefined if no assertion has a complete run. */
async function assertionHealth(urn: string, viewer: Viewer): Promise<object | undefined> {
  const assertions = (await existingRelated(urn, "Asserts", viewer)).slice(0, assertionsMax);
  const runs = await runsOf(assertions, viewer);
  if (runs.length === 0) return undefined;
  const failing = runs.filter(({ passed }) => !passed);
  const byType = Map.groupBy(runs, ({ type }) => type);
  const latestAssertionStatusByType = Array.from(byType, ([type, own]) => statusOfType(type, own));
  const common = { type: "ASSERTIONS", latestAssertionStatusByType };
  if (failing.length === 0) {
    return { ...common, status: "PASS", message: "All assertions are passing" };
  }
  return {
    ...common,
    status: "FAIL",
    message: `${failing.length} of ${runs.length} assertions are failing`,
    causes: failing.map(({ assertion }) => assertion),
  };
}

async function health({ urn }: EntitySource, _: never, viewer: Viewer) {
  const found = await Promise.all([
    incidentHealth(urn, viewer),
    entityTypeOf(urn) === "dataset" ? assertionHealth(urn, viewer) : undefined,
  ]);
  return found.filter((one) => one !== undefined);
}

async function contract({ urn }: EntitySource, _: never, viewer: Viewer) {
  const [first] = await existingRelated(urn, "ContractFor", viewer);
  return first ?? null;
}

export const qualityFields = {
  Entity: { health, incidents },
  Dataset: { contract },
  VersionedDataset: { health },
};

/** `annals parked`: the entities with a record that a view of a running service could not apply. */
import type { ResultOf } from "../../client/operator-client.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import type { JobOperation } from "./jobs.ts";

type ParkedEntity = ResultOf<"listParked">["parked"][number];

/** Succeeds also where entities are parked. */
export async function listParked(
  query: { readonly view?: string | undefined; readonly count: number },
  { client, print }: JobOperation,
): Promise<ExitCode> {
  const listed = await client.act("listParked", query);
  await print({
    value: listed,
    urns: [...new Set(listed.parked.map(({ urn }) => urn))],
    table: {
      heads: ["VIEW", "ENTITY", "POSITION", "SINCE", "WAITING", "CAUSE"],
      rows: listed.parked.map(({ view, urn, position, time, waiting, reason }) => [
        ...[view, urn, position, new Date(time).toISOString(), waiting, reason],
      ]),
    },
    none: "nothing is parked",
  });
  return exitCodes.done;
}

/** Retries or drops one; fails when the entity is still parked. */
export async function settleParked(
  action: "retryParked" | "dropParked",
  entity: { readonly view: string; readonly urn: string },
  { client, print }: JobOperation,
): Promise<ExitCode> {
  const answer = await client.act(action, entity);
  await print({ value: answer, urns: [entity.urn], table: sentence(entity, answer.entity) });
  return answer.parked ? exitCodes.failed : exitCodes.done;
}

const sentence = ({ view, urn }: { view: string; urn: string }, still: ParkedEntity | undefined) =>
  still === undefined
    ? `${view} has ${urn} again`
    : `${view} still passes over ${urn}, from position ${still.position}: ${still.reason}`;

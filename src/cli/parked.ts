/** `annals parked`: the records that views of a running service could not take. */
import { type ExitCode, exitCodes } from "./failure.ts";
import type { OperatorClient } from "./operator-client.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

interface ToldParked {
  readonly view: string;
  readonly urn: string;
  readonly position: number;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly waiting: number;
}

interface Around {
  readonly client: OperatorClient;
  readonly terminal: Terminal;
  readonly json: boolean;
}

interface Page {
  readonly total: number;
  readonly parked: readonly ToldParked[];
}

/** What is parked can be told, so that a program can ask whether anything is. */
export async function listParked(
  query: { readonly view?: string | undefined; readonly count: number },
  { client, terminal, json }: Around,
): Promise<ExitCode> {
  const listed = await client.act<Page>("listParked", query);
  if (json) await terminal.print(JSON.stringify(listed));
  else if (listed.parked.length === 0) terminal.tell("nothing is parked");
  else {
    const rows = listed.parked.map(({ view, urn, position, time, waiting, reason }) => [
      ...[view, urn, position, new Date(time).toISOString(), waiting, reason],
    ]);
    await terminal.print(
      table(["VIEW", "ENTITY", "POSITION", "SINCE", "WAITING", "CAUSE"], rows, terminal.width),
    );
  }
  return exitCodes.done;
}

/** Retries or drops one; it failed when the entity is parked still. */
export async function settleParked(
  action: "retryParked" | "dropParked",
  entity: { readonly view: string; readonly urn: string },
  { client, terminal, json }: Around,
): Promise<ExitCode> {
  const answer = await client.act<{ parked: boolean; entity?: ToldParked }>(action, entity);
  if (json) await terminal.print(JSON.stringify(answer));
  else await terminal.print(sentence(entity, answer.entity));
  return answer.parked ? exitCodes.failed : exitCodes.done;
}

const sentence = ({ view, urn }: { view: string; urn: string }, still: ToldParked | undefined) =>
  still === undefined
    ? `${view} has ${urn} again`
    : `${view} still passes over ${urn}, from position ${still.position}: ${still.reason}`;

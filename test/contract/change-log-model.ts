/**
 * A model of a change log: an array in memory that a real log must equal after any history of
 * calls. Histories are random, with several calls at a time.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { revision, START } from "../../src/core/position.ts";
import { type Append, type ChangeLog, WrongRevision } from "../../src/log/change-log.ts";
import { bytes, idOf, readEverything, readWholeStream, text } from "./change-log-driver.ts";

/** A generated append; its expected revision is relative to the current revision of the stream. */
interface DrawnAppend {
  readonly stream: string;
  readonly expects: "any" | "right" | "low" | "high";
  readonly texts: readonly string[];
  readonly id: number | undefined;
}

type Call = readonly DrawnAppend[];

/** Calls of one step are concurrent; after the step, some histories wait for them. */
export type History = readonly { readonly calls: readonly Call[]; readonly awaited: boolean }[];

const STREAMS = ["a", "b", "entity-urn:li:tag:ü"];

export function historyArbitrary(supports: {
  readonly atomicAcrossStreams: boolean;
  readonly idsUnderAnyExpectation: boolean;
}): fc.Arbitrary<History> {
  const append = fc.record<DrawnAppend>({
    stream: fc.constantFrom(...STREAMS),
    expects: fc.constantFrom("any", "any", "right", "right", "right", "low", "high"),
    texts: fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 4 }),
    id: supports.idsUnderAnyExpectation
      ? fc.option(fc.nat({ max: 5 }), { nil: undefined })
      : fc.constant(undefined),
  });
  const call = fc.array(append, {
    minLength: 1,
    maxLength: supports.atomicAcrossStreams ? 4 : 1,
  });
  return fc.array(
    fc.record({
      calls: fc.array(call, { minLength: 1, maxLength: 5 }),
      awaited: fc.boolean(),
    }),
    { maxLength: 12 },
  );
}

interface ModelRecord {
  readonly stream: string;
  readonly revision: number;
  readonly text: string;
}

/** Undefined: any revision. No revision is lower than that of an empty stream. */
function expectationOf(expects: DrawnAppend["expects"], actual: number): number | undefined {
  if (expects === "any") return undefined;
  if (expects === "right") return actual;
  return expects === "high" || actual < 0 ? actual + 1 : actual - 1;
}

/** The result of a call: revisions and repetitions, or the stream that rejected it. */
type OperationResult =
  | { readonly rejectedBy: string; readonly actual: number }
  | readonly { readonly revision: number; readonly repeated: boolean }[];

function createModel() {
  let records: readonly ModelRecord[] = [];
  let ids: ReadonlyMap<string, number> = new Map();
  const endOf = (list: readonly ModelRecord[], stream: string): number =>
    list.filter((record) => record.stream === stream).length - 1;

  /** The call with its expected revisions, and its result. */
  function apply(call: Call): {
    readonly appends: readonly Append[];
    readonly outcome: OperationResult;
  } {
    const draft = [...records];
    const draftIds = new Map(ids);
    const appends: Append[] = [];
    const answers: { revision: number; repeated: boolean }[] = [];
    let rejected: { rejectedBy: string; actual: number } | undefined;
    for (const { stream, expects, texts, id } of call) {
      const actual = endOf(draft, stream);
      const expected = expectationOf(expects, actual);
      appends.push({
        stream,
        expected: expected === undefined ? "any" : revision(expected),
        records: texts.map(bytes),
        id: id === undefined ? undefined : idOf(id),
      });
      if (rejected !== undefined) continue;
      const known = id === undefined ? undefined : draftIds.get(`${id} ${stream}`);
      if (known !== undefined) answers.push({ revision: known, repeated: true });
      else if (expected !== undefined && expected !== actual)
        rejected = { rejectedBy: stream, actual };
      else {
        for (const [i, each] of texts.entries()) {
          draft.push({ stream, revision: actual + 1 + i, text: each });
        }
        const last = actual + texts.length;
        answers.push({ revision: last, repeated: false });
        if (id !== undefined) draftIds.set(`${id} ${stream}`, last);
      }
    }
    if (rejected !== undefined) return { appends, outcome: rejected };
    records = draft;
    ids = draftIds;
    return { appends, outcome: answers };
  }

  return { apply, records: () => records };
}

/** Runs the history on an empty log, and compares every result and all reads with the model. */
export async function checkHistory(
  log: ChangeLog,
  history: History,
  supports: { readonly orderAcrossStreams: boolean },
): Promise<void> {
  const model = createModel();
  const checks: Promise<void>[] = [];
  for (const { calls, awaited } of history) {
    for (const call of calls) {
      const { appends, outcome } = model.apply(call);
      checks.push(checkAnswer(log, appends, outcome));
    }
    if (awaited) await Promise.all(checks);
  }
  await Promise.all(checks);
  await checkReads(log, model.records(), supports);
}

async function checkAnswer(
  log: ChangeLog,
  appends: readonly Append[],
  outcome: OperationResult,
): Promise<void> {
  const call = log.append(appends);
  if ("rejectedBy" in outcome) {
    await expect(call).rejects.toThrow(WrongRevision);
    await expect(call).rejects.toMatchObject({
      stream: outcome.rejectedBy,
      actual: outcome.actual,
    });
  } else {
    expect(await call).toMatchObject(outcome.map((answer) => ({ ...answer })));
  }
}

async function checkReads(
  log: ChangeLog,
  model: readonly ModelRecord[],
  supports: { readonly orderAcrossStreams: boolean },
): Promise<void> {
  const all = await readEverything(log);
  const records = all.map((r) => ({ stream: r.stream, revision: r.revision, text: text(r) }));
  if (supports.orderAcrossStreams) expect(records).toEqual(model);
  else expect(byStream(records)).toEqual(byStream(model));
  expect(await log.head()).toBe(all.at(-1)?.position ?? START);
  expect(await log.readAll("end", { limit: 1_000, backward: true })).toEqual(all.toReversed());
  for (const stream of STREAMS) {
    const own = all.filter((record) => record.stream === stream);
    expect(await readWholeStream(log, stream)).toEqual(own);
    const backward = await log.readStream(stream, "end", { limit: 1_000, backward: true });
    expect(backward).toEqual(own.toReversed());
  }
}

/** The same records, one stream after the other. */
const byStream = (records: readonly ModelRecord[]): readonly ModelRecord[] =>
  STREAMS.flatMap((stream) => records.filter((record) => record.stream === stream));

/**
 * `annals export`: the latest aspects of the catalog, or of a part of it, as proposals in JSON lines,
 * which `annals ingest` takes. An export into a file can be resumed: the file beside it (`.resume`)
 * names the last complete page and the size of the file after it.
 * On stdout, `--output yaml` prints the proposals as documents of YAML, and `--output urns` the urns of
 * the entities.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { AnnalsError, dataOf } from "../../../client/client.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import { entityTypeIn } from "../../client/model.ts";
import type { Session } from "../../client/session.ts";
import { Interrupted, isSystemError, UsageError } from "../../failure.ts";
import { yamlOf } from "../../terminal/output.ts";
import type { OutputFormat } from "../../terminal/output-flags.ts";

export interface ExportFlags {
  readonly type?: readonly string[];
  readonly query: string;
  readonly aspect?: readonly string[];
  readonly file?: string;
  readonly resume: boolean;
  /** Entities of one request. */
  readonly batch: number;
}

interface Target {
  write(lines: string): Promise<void>;
  /** Called after each complete page. */
  save(scrollId: string | undefined, done: Pick<Saved, "entities" | "aspects">): void;
  /** Removes the file of an export without a complete page: it cannot be resumed. */
  close(): void;
}

/** The state from which a resumed export continues. */
interface Saved {
  readonly scrollId: string;
  /** Of the file. */
  readonly bytes: number;
  readonly entities: number;
  readonly aspects: number;
  /** The part of the catalog that is exported, as JSON text. */
  readonly selection: string;
}

export async function exportCatalog(session: Session, flags: ExportFlags): Promise<void> {
  const { client, terminal, signal, output } = session;
  if (flags.file !== undefined && output === "urns") {
    throw new UsageError("--file holds proposals: leave out --output urns, or --file");
  }
  const { type: entities, aspect, query } = flags;
  const body = { ...(entities && { entities: [...entities] }), aspects: [...(aspect ?? [])] };
  const selection = JSON.stringify({ ...body, query });
  const saved = flags.resume ? savedOf(flags.file, selection) : undefined;
  const target = openTarget(session, flags, selection, saved);
  const bar = terminal.startBar("exporting {bar} {percentage}% | {value} of {total} entities");
  let scrollId = saved?.scrollId;
  let done = saved?.entities ?? 0;
  let aspects = saved?.aspects ?? 0;
  try {
    do {
      const parameters = {
        ...{ query, count: flags.batch, includeSoftDelete: true, systemMetadata: true },
        ...(scrollId !== undefined && { scrollId }),
      };
      const page = await dataOf(
        client.POST("/openapi/v3/entity/scroll", { params: { query: parameters }, body }),
      );
      const proposals = page.entities.map(proposalsOf);
      const lines = proposals.flatMap((each) =>
        linesOf(each, flags.file === undefined ? output : "json"),
      );
      aspects += proposals.flat().length;
      done += page.entities.length;
      if (lines.length > 0) await target.write(`${lines.join("\n")}\n`);
      scrollId = page.scrollId;
      target.save(scrollId, { entities: done, aspects });
      bar.update(done, Math.max(done, page.totalCount ?? done));
    } while (scrollId !== undefined);
  } catch (error) {
    if (flags.file === undefined || scrollId === undefined) throw error;
    const resume = `Resume with: ${ownCommand(`export --file '${flags.file}' --resume`)} and the same flags`;
    if (signal.aborted) throw new Interrupted(resume);
    if (error instanceof AnnalsError) terminal.note(resume);
    throw error;
  } finally {
    bar.stop();
    target.close();
  }
  if (flags.file !== undefined) {
    await session.print({ value: { file: flags.file, aspects, entities: done }, table: "" });
  }
  terminal.note(`exported ${aspects} aspects of ${done} entities`);
}

interface Exported {
  readonly entityUrn: string;
  readonly [member: string]: unknown;
}

/** The lines for the proposals of one entity. */
function linesOf(proposals: readonly Exported[], output: OutputFormat): readonly string[] {
  if (output === "urns") return proposals.slice(0, 1).map(({ entityUrn }) => entityUrn);
  if (output === "yaml") return proposals.map((proposal) => `---\n${yamlOf(proposal)}`);
  return proposals.map((proposal) => JSON.stringify(proposal));
}

/** One proposal for each aspect of an entity. */
function proposalsOf({
  urn,
  ...aspects
}: {
  readonly urn: string;
  readonly [aspect: string]: unknown;
}): readonly Exported[] {
  return Object.entries(aspects).flatMap(([aspectName, aspect]) => {
    if (typeof aspect !== "object" || aspect === null || !("value" in aspect)) return [];
    const proposal = {
      ...{ entityType: entityTypeIn(urn), entityUrn: urn, changeType: "UPSERT", aspectName },
      aspect: { json: aspect.value },
      ...("systemMetadata" in aspect && { systemMetadata: originOf(aspect.systemMetadata) }),
    };
    return [proposal];
  });
}

/** Of the system metadata: the run, and when the source was read. Another catalog numbers versions itself. */
function originOf(metadata: unknown) {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const kept = Object.entries(metadata).filter(([name]) =>
    /^(runId|lastObserved|pipelineName)$/.test(name),
  );
  return Object.fromEntries(kept);
}

function openTarget(
  { terminal }: Session,
  { file, resume }: ExportFlags,
  selection: string,
  saved: Saved | undefined,
): Target {
  if (file === undefined) {
    if (resume) throw new UsageError("--resume needs --file");
    return {
      write: (lines) => terminal.print(lines.trimEnd()),
      save: () => {},
      close: () => {},
    };
  }
  let isSaved = saved !== undefined;
  if (saved === undefined && existsSync(file)) {
    throw new UsageError(`"${file}" exists already: name another file, or remove it`);
  }
  const descriptor = openForWriting(file, saved === undefined ? "wx" : "r+");
  if (saved !== undefined) ftruncateSync(descriptor, saved.bytes);
  let at = saved?.bytes ?? 0;
  return {
    async write(lines) {
      at += writeSync(descriptor, lines, at);
    },
    save(scrollId, done) {
      isSaved = true;
      const place = resumeFile(file);
      if (scrollId === undefined) return rmSync(place, { force: true });
      const text = JSON.stringify({
        scrollId,
        bytes: fstatSync(descriptor).size,
        ...done,
        selection,
      });
      writeFileSync(`${place}.new`, text, { mode: 0o600 });
      renameSync(`${place}.new`, place);
    },
    close() {
      closeSync(descriptor);
      if (!isSaved) rmSync(file);
    },
  };
}

function openForWriting(file: string, flags: "wx" | "r+"): number {
  try {
    return openSync(file, flags, 0o600);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UsageError(
      `file "${file}" cannot be written (${error.code}). Name one in a directory that exists and that this user may write`,
    );
  }
}

const resumeFile = (file: string): string => `${file}.resume`;

function savedOf(file: string | undefined, selection: string): Saved | undefined {
  if (file === undefined) return undefined;
  if (!existsSync(resumeFile(file))) {
    throw new UsageError(`there is nothing to resume: "${resumeFile(file)}" does not exist`);
  }
  const saved: Saved = JSON.parse(readFileSync(resumeFile(file), "utf8"));
  if (saved.selection === selection) return saved;
  throw new UsageError(
    `the export into "${file}" was started with other flags: ${saved.selection}`,
  );
}

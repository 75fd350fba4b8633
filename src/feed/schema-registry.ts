/**
 * The schema registry: ids of schemas, and the versions of each subject.
 *
 * The service's own schemas have fixed ids (event-schemas.ts). Schemas of clients are stored in the
 * log, in a separate stream: messages in topics contain the ids, so ids must be copied, backed up and
 * shared by all nodes like the log. A registration appends with the expected revision, so ids are
 * unique and a schema has one id.
 */
import { CatalogError } from "../core/errors.ts";
import { EMPTY_STREAM, type Revision, revision } from "../core/position.ts";
import { SCHEMAS } from "../core/stream.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { type ChangeLog, WrongRevision } from "../log/change-log.ts";
import { type SchemaRecord, schemaCodec } from "../log/codecs/schema-codec.ts";
import { recordsOf } from "../log/whole-reads.ts";
import {
  type CompatibilityLevel,
  incompatibilities,
  keyOf,
  readLevel,
  readSchema,
} from "./compatibility.ts";
import { eventSchemas, foreignIdsFrom } from "./event-schemas.ts";
import { invalidVersion, noSchema, noSubject, noVersion, RegistryError } from "./registry-error.ts";

export interface RegisteredSchema {
  readonly subject: string;
  /** From 1. */
  readonly version: number;
  readonly id: number;
  /** JSON text. */
  readonly schema: string;
}

/** Methods reject with RegistryError for unknown subjects, versions and ids, and invalid requests. */
export interface SchemaRegistry {
  /** By name. */
  subjects(): Promise<readonly string[]>;
  /** All versions of a subject, in their order. */
  versions(subject: string): Promise<readonly RegisteredSchema[]>;
  /** A version by its number as text, or "latest" or "-1". */
  version(subject: string, version: string): Promise<RegisteredSchema>;
  /** JSON text of the schema with an id; undefined for an unknown id. */
  findSchema(id: number): Promise<string | undefined>;
  /** The same; rejects for an unknown id. */
  schema(id: number): Promise<string>;
  /** Subjects and versions of the schema with an id. */
  usesOf(id: number): Promise<readonly Pick<RegisteredSchema, "subject" | "version">[]>;
  /** The version of the subject that is this schema. */
  lookUp(subject: string, schema: string): Promise<RegisteredSchema>;
  /** Returns the version of the subject that is this schema, or adds it as the next version. */
  register(subject: string, schema: string, actor?: string): Promise<RegisteredSchema>;
  /** Incompatibilities of the schema with a version of the subject, or with all that its level covers. */
  check(subject: string, schema: string, version?: string): Promise<readonly string[]>;
  /** The level of a subject, or the default level. */
  compatibility(subject?: string): Promise<CompatibilityLevel>;
  /** Sets the level of a subject, or the default level. */
  setCompatibility(
    subject: string | undefined,
    level: string,
    actor?: string,
  ): Promise<CompatibilityLevel>;
}

interface SchemaRegistryParts {
  readonly log: Pick<ChangeLog, "append" | "readStream">;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly systemActor: string;
  /** Rejects for a user without permission to write the registry; absent: every user may. */
  readonly authorize?: ((actor: string | undefined) => Promise<void> | void) | undefined;
}

const subjectCharactersMax = 255;
/** Maximum size of all schemas of clients, which are held in memory. */
const registryBytesMax = 64 * 1024 * 1024;
const defaultLevel: CompatibilityLevel = "BACKWARD";
/** Level of the service's own topics: it reads proposals of other schemas, consumers read its events. */
const ownLevel: CompatibilityLevel = "FULL_TRANSITIVE";
const ownSubjects = new Set(eventSchemas.flatMap(({ subjects }) => subjects));
const isOwn = (subject: string | undefined): subject is string =>
  subject !== undefined && ownSubjects.has(subject);
/** Lost races after which a registration is rejected. */
const ATTEMPTS_MAX = 20;

export function createSchemaRegistry(parts: SchemaRegistryParts): SchemaRegistry {
  const { log, now, systemActor } = parts;
  const known = createKnown();
  const serially = createConcurrencyLimit(1);

  /** Reads new registrations of all nodes. */
  const refresh = (): Promise<void> =>
    serially(async () => {
      for await (const record of recordsOf(log, SCHEMAS, revision(known.revision() + 1))) {
        known.add(schemaCodec.decode(record), record.revision);
      }
    });

  /** Appends the record that `make` returns for the current state; repeats it after a lost race. */
  async function write(
    make: () => Omit<SchemaRecord, "time" | "actor"> | undefined,
    actor: string | undefined,
  ): Promise<void> {
    await parts.authorize?.(actor);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      await refresh();
      const made = make();
      if (made === undefined) return;
      const record = schemaCodec.encode({ ...made, time: now(), actor: actor ?? systemActor });
      try {
        await log.append([{ stream: SCHEMAS, expected: known.revision(), records: [record] }]);
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
    throw new CatalogError("conflict", `lost the race for the next schema ${ATTEMPTS_MAX} times`, {
      hint: "Send it again",
    });
  }

  async function versionsOf(subject: string): Promise<readonly RegisteredSchema[]> {
    await refresh();
    const found = known.versions(subject);
    if (found.length === 0) throw noSubject(subject);
    return found;
  }

  async function version(subject: string, text: string): Promise<RegisteredSchema> {
    const latest = text === "latest" || text === "-1";
    if (!latest && !/^[1-9]\d{0,8}$/.test(text)) throw invalidVersion(text);
    const found = (await versionsOf(subject)).at(latest ? -1 : Number(text) - 1);
    if (found === undefined) throw noVersion(text);
    return found;
  }

  async function findSchema(id: number): Promise<string | undefined> {
    const text = known.text(id);
    if (text !== undefined || !(id >= foreignIdsFrom)) return text;
    await refresh();
    return known.text(id);
  }

  const levelOf = (subject: string | undefined): CompatibilityLevel =>
    isOwn(subject) ? ownLevel : (known.level(subject) ?? defaultLevel);

  return {
    async subjects() {
      await refresh();
      return known.subjects();
    },
    versions: versionsOf,
    version,

    findSchema,
    async schema(id) {
      const found = await findSchema(id);
      if (found === undefined) throw noSchema();
      return found;
    },

    async usesOf(id) {
      await refresh();
      if (known.text(id) === undefined) throw noSchema();
      return known.uses(id);
    },

    async lookUp(subject, schema) {
      const { key } = readSchema(schema);
      const all = await versionsOf(subject);
      const found = all.find(({ id }) => id === known.id(key));
      if (found === undefined) throw noSchema();
      return found;
    },

    async register(subject, schema, actor) {
      checkSubject(subject);
      const { key, text } = readSchema(schema);
      const find = () => known.versions(subject).find(({ id }) => id === known.id(key));
      let found = find();
      if (found === undefined) {
        await refresh();
        found = find();
      }
      if (found !== undefined) return found;
      await write(() => {
        found = find();
        if (found !== undefined) return undefined;
        const id = known.id(key);
        if (id === undefined) known.checkRoom(text);
        rejectIncompatible(subject, incompatibilities(text, earlierOf(subject), levelOf(subject)));
        return {
          subject,
          id: id ?? known.nextId(),
          compatibility: null,
          schema: id === undefined ? text : null,
        };
      }, actor);
      return found ?? version(subject, "latest");
    },

    async check(subject, schema, wanted) {
      const { text } = readSchema(schema);
      if (wanted !== undefined) {
        const against = await version(subject, wanted);
        const level = levelOf(subject);
        return incompatibilities(text, [{ ...against, text: against.schema }], level);
      }
      await refresh();
      return incompatibilities(text, earlierOf(subject), levelOf(subject));
    },

    async compatibility(subject) {
      await refresh();
      return levelOf(subject);
    },

    async setCompatibility(subject, text, actor) {
      if (subject !== undefined) checkSubject(subject);
      const level = readLevel(text);
      if (isOwn(subject) && level !== ownLevel) throw fixedLevel(subject, level);
      await write(
        () =>
          known.ownLevel(subject) === level
            ? undefined
            : { subject: subject ?? null, id: null, schema: null, compatibility: level },
        actor,
      );
      return level;
    },
  };

  /** For the service's own subjects: only its own schemas, which the service reads and writes. */
  function earlierOf(subject: string) {
    return known
      .versions(subject)
      .filter(({ id }) => id < foreignIdsFrom || !isOwn(subject))
      .map(({ version, schema }) => ({ version, text: schema }));
  }
}

/** Index of the registrations that were read from the stream. */
function createKnown() {
  const texts = new Map<number, string>();
  const ids = new Map<string, number>();
  const subjects = new Map<string, number[]>();
  const levels = new Map<string | undefined, CompatibilityLevel>();
  let at: Revision = EMPTY_STREAM;
  let nextId = foreignIdsFrom;
  let bytes = 0;

  function addVersion(subject: string, id: number): void {
    const versions = subjects.get(subject) ?? [];
    if (!versions.includes(id)) versions.push(id);
    subjects.set(subject, versions);
  }

  for (const { id, alsoRead, text, subjects: own } of eventSchemas) {
    for (const one of [id, ...alsoRead]) texts.set(one, text);
    ids.set(keyOf(JSON.parse(text)), id);
    for (const subject of own) addVersion(subject, id);
  }

  return {
    revision: () => at,
    nextId: () => nextId,
    text: (id: number) => texts.get(id),
    id: (key: string) => ids.get(key),
    subjects: () => [...subjects.keys()].sort(),
    ownLevel: (subject: string | undefined) => levels.get(subject),
    level: (subject: string | undefined) => levels.get(subject) ?? levels.get(undefined),

    versions: (subject: string): readonly RegisteredSchema[] =>
      (subjects.get(subject) ?? []).map((id, i) => ({
        subject,
        version: i + 1,
        id,
        schema: texts.get(id) ?? "",
      })),

    uses: (wanted: number) =>
      [...subjects].flatMap(([subject, versions]) =>
        versions.flatMap((id, i) =>
          texts.get(id) === texts.get(wanted) ? [{ subject, version: i + 1 }] : [],
        ),
      ),

    checkRoom(text: string): void {
      if (bytes + text.length <= registryBytesMax) return;
      throw new RegistryError(
        "too_large",
        42201,
        `the registry has ${bytes} bytes of schemas; at most ${registryBytesMax} are allowed`,
        { hint: "Use another registry for schemas that do not belong to this catalog" },
      );
    },

    add({ subject, id, schema, compatibility }: SchemaRecord, of: Revision): void {
      at = of;
      if (id !== null && schema !== null && !texts.has(id)) {
        texts.set(id, schema);
        ids.set(keyOf(JSON.parse(schema)), id);
        bytes += schema.length;
        nextId = Math.max(nextId, id + 1);
      }
      if (id !== null && subject !== null) addVersion(subject, id);
      if (compatibility !== null) levels.set(subject ?? undefined, readLevel(compatibility));
    },
  };
}

function checkSubject(subject: string): void {
  if (subject !== "" && subject.length <= subjectCharactersMax && subject.isWellFormed()) return;
  throw new RegistryError(
    "invalid",
    42208,
    `The subject has ${subject.length} characters of 1 to ${subjectCharactersMax}`,
  );
}

function rejectIncompatible(subject: string, findings: readonly string[]): void {
  if (findings.length === 0) return;
  throw new RegistryError(
    "conflict",
    409,
    `Schema being registered is incompatible with an earlier schema for subject "${subject}": ${findings.join("; ")}`,
    {
      hint: isOwn(subject)
        ? "The service reads and writes this topic itself. Register the schema under another subject"
        : `PUT /schema-registry/api/config/${encodeURIComponent(subject)} sets another level`,
    },
  );
}

const fixedLevel = (subject: string, level: CompatibilityLevel): RegistryError =>
  new RegistryError("invalid", 42203, `The level of "${subject}" cannot be ${level}`, {
    hint: `It is always ${ownLevel}: the service reads and writes the topic itself`,
  });

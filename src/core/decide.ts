/**
 * Deciding: what an entity's state and the proposals about it come to. Pure: no clock, no I/O.
 *
 * A proposal that holds becomes one change; one that tells what is there already becomes a change
 * that only confirms it; one that does not hold is refused, and with it everything it came with.
 * Proposals are decided in order, each on the outcome of those before it. An entity that comes to
 * be gets its key aspect and its default aspects, the latter only where the proposals left room.
 */
import type { AuditStamp, Change, SystemMetadata } from "./change.ts";
import { NO_RUN_ID } from "./change.ts";
import { type AspectState, currentAspect, type EntityState } from "./entity-state.ts";
import { assert, CatalogError } from "./errors.ts";
import { type Revision, revision } from "./position.ts";
import { sameJson } from "./same-json.ts";

/** A condition that a proposal sets on the aspect as it is now. */
export interface Conditions {
  /** Number of the current value; -1: the aspect has none. */
  readonly versionMatch?: number | undefined;
  /** Epoch milliseconds: the current value must be younger. */
  readonly modifiedSince?: number | undefined;
  /** Epoch milliseconds: the current value must not be younger. */
  readonly unmodifiedSince?: number | undefined;
  /** If-None-Match: a CREATE of what is there is passed over instead of refused. */
  readonly noneMatch?: boolean | undefined;
}

/** A value that fits its schema, with its JSON text. */
export interface Settled {
  readonly value: Record<string, unknown>;
  readonly text: string;
}

/** Throws `invalid` where no value follows. `sibling` is another aspect's value, if it has one. */
export type Following = (
  current: Settled | undefined,
  sibling: (aspect: string) => Record<string, unknown> | undefined,
) => Settled;

/** What is to happen to one aspect; everything that needs the model has been done. */
export interface Intent {
  readonly aspect: string;
  readonly kind: "put" | "create" | "create_entity" | "delete" | "restate";
  /**
   * The new value, or how it follows from the current one (a patch; rules that look back) and from
   * the entity's other aspects; none for a delete or a restatement. Of a key aspect it is the value
   * derived from the urn.
   */
  readonly value?: Settled | Following;
  /**
   * Returns a function that computes `value` in another thread, for a current value (JSON text) for which it
   * takes long; it resolves with the new text, undefined for a refusal. `value` then returns the result.
   */
  readonly ahead?: (current: string | undefined) => (() => Promise<string | undefined>) | undefined;
  readonly schemaVersion: number;
  readonly system: Partial<SystemMetadata>;
  readonly conditions: Conditions;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Put before the message of a refusal: which member of the request it was. */
  readonly label: string;
}

/** An aspect that an entity gets by itself. */
export interface GivenAspect {
  readonly aspect: string;
  readonly settled: Settled;
  readonly schemaVersion: number;
}

export interface DecisionContext {
  readonly entityType: string;
  readonly keyAspect: string;
  /** Time and actor of the request. */
  readonly created: AuditStamp;
  /** The system's own actor; its writes carry no aspectCreated/aspectModified. */
  readonly systemActor: string;
  /** What else was told of the entity (timeseries events), so that it comes to be anyway. */
  readonly tellings?: readonly Telling[] | undefined;
  /** Key aspect and defaults of the entity, asked for only when it comes to be. */
  readonly given: () => readonly GivenAspect[];
}

interface Telling {
  /** How many of the intents came before it. */
  readonly after: number;
  readonly system: Partial<SystemMetadata>;
}

interface Decision {
  /** In the order of the stream; empty when there is nothing to append. */
  readonly changes: readonly Change[];
  readonly next: EntityState;
}

/** Throws CatalogError `invalid` or `not_found`, naming the intent, when one does not hold. */
export function decide(
  state: EntityState,
  intents: readonly Intent[],
  context: DecisionContext,
): Decision {
  const draft = createDraft(state, context);
  let from = 0;
  for (const [n, intent] of intents.entries()) {
    if (isEnd(intent, context.keyAspect)) {
      giveMissing(draft, lifeOf(intents, from, n, context), context);
      from = n + 1;
    }
    decideOne(draft, intent, context);
  }
  giveMissing(draft, lifeOf(intents, from, intents.length, context), context);
  return draft.finish();
}

/** Whether the intent ends the entity: what was told before it, ends with it. */
export const isEnd = (
  { kind, aspect }: Pick<Intent, "kind" | "aspect">,
  keyAspect: string,
): boolean => kind === "delete" && aspect === keyAspect;

/** What is told of an entity up to one of its ends, or to the last intent. */
interface Life {
  readonly intents: readonly Intent[];
  /** With the first event. */
  readonly told: Partial<SystemMetadata> | undefined;
}

const lifeOf = (
  intents: readonly Intent[],
  from: number,
  to: number,
  { tellings = [] }: DecisionContext,
): Life => ({
  intents: intents.slice(from, to),
  told: tellings.find(({ after }) => after >= from && after <= to)?.system,
});

/** The state being decided on, and the changes so far. */
interface Draft {
  readonly aspect: (name: string) => AspectState | undefined;
  readonly entityExists: () => boolean;
  readonly put: (
    aspect: string,
    settled: Settled,
    schemaVersion: number,
    told: Pick<Intent, "system" | "headers">,
    first?: boolean,
  ) => void;
  readonly confirm: (current: AspectState, told: Pick<Intent, "system" | "headers">) => void;
  /** Appends the current value again, so that views apply it again; the aspect does not change. */
  readonly restate: (current: AspectState) => void;
  readonly remove: (current: AspectState, told: Pick<Intent, "system" | "headers">) => void;
  readonly finish: () => Decision;
}

function decideOne(draft: Draft, intent: Intent, context: DecisionContext): void {
  const current = draft.aspect(intent.aspect);
  const creating = intent.kind === "create" || intent.kind === "create_entity";
  checkConditions(creating ? undefined : current, intent);
  if (intent.kind === "delete") {
    if (current === undefined) {
      throw refusal("not_found", intent, `there is no "${intent.aspect}" to delete`);
    }
    draft.remove(current, intent);
    return;
  }
  if (intent.kind === "restate") {
    if (current !== undefined) draft.restate(current);
    return;
  }
  const obstacle = obstacleToCreating(draft, intent, current);
  if (obstacle !== undefined) {
    if (intent.conditions.noneMatch) return;
    throw failedCondition(intent, obstacle);
  }
  const settled = settle(intent, current, draft);
  // The key is given with the entity: until it exists, telling the key means "let it exist".
  if (intent.aspect === context.keyAspect && current === undefined) return;
  if (current !== undefined && sameValue(current, settled)) draft.confirm(current, intent);
  else draft.put(intent.aspect, settled, intent.schemaVersion, intent);
}

function settle({ value }: Intent, current: AspectState | undefined, draft: Draft): Settled {
  assert(value !== undefined, "a write has a value");
  if (typeof value !== "function") return value;
  return value(currentOf(current), (aspect) => currentOf(draft.aspect(aspect))?.value);
}

const currentOf = (aspect: AspectState | undefined): Settled | undefined =>
  aspect === undefined ? undefined : settledText(aspect.value);

/** A valid value from its JSON text, which is parsed when the value is first read. */
export function settledText(text: string): Settled {
  let value: Settled["value"] | undefined;
  return {
    text,
    get value() {
      value ??= JSON.parse(text) as Settled["value"];
      return value;
    },
  };
}

/** Longer texts are compared only as text: comparing parsed values would block for half a second. */
const COMPARED_CHARACTERS_MAX = 1024 * 1024;

/** Both texts are compact JSON, so that equal values of different key order have equal length. */
function sameValue(current: AspectState, settled: Settled): boolean {
  if (current.value === settled.text) return true;
  const { length } = current.value;
  if (length !== settled.text.length || length > COMPARED_CHARACTERS_MAX) return false;
  return sameJson(JSON.parse(current.value), settled.value);
}

/** An entity of which something was told, since its end if it had one, comes to be. */
function giveMissing(draft: Draft, life: Life, context: DecisionContext): void {
  const { intents } = life;
  const told = intents.at(-1)?.system ?? life.told;
  if (draft.entityExists() || told === undefined) return;
  for (const { aspect, settled, schemaVersion } of context.given()) {
    if (draft.aspect(aspect) !== undefined) continue;
    const first = aspect === context.keyAspect;
    // Whoever told the key itself brought the entity into being.
    const own = first ? intents.findLast((one) => one.aspect === aspect) : undefined;
    draft.put(aspect, settled, schemaVersion, own ?? { system: told }, first);
  }
}

function checkConditions(current: AspectState | undefined, intent: Intent): void {
  const { versionMatch, modifiedSince, unmodifiedSince } = intent.conditions;
  const version = current?.version ?? -1;
  if (versionMatch !== undefined && versionMatch !== version) {
    throw failedCondition(intent, `Expected version ${versionMatch}, actual version ${version}`);
  }
  const time = current?.time ?? Number.NEGATIVE_INFINITY;
  if (modifiedSince !== undefined && !(time > modifiedSince)) {
    throw failedCondition(intent, `not modified since ${new Date(modifiedSince).toISOString()}`);
  }
  if (unmodifiedSince !== undefined && time > unmodifiedSince) {
    throw failedCondition(intent, `modified since ${new Date(unmodifiedSince).toISOString()}`);
  }
}

/** The sentences are the reference's: its clients look for them. */
function obstacleToCreating(
  draft: Draft,
  { kind }: Intent,
  current: AspectState | undefined,
): string | undefined {
  if (kind === "create" && current !== undefined) {
    return "Cannot perform CREATE since the aspect already exists";
  }
  if (kind === "create_entity" && draft.entityExists()) {
    return "Cannot perform CREATE_ENTITY if not exists since the entity key already exists";
  }
  return undefined;
}

const refusal = (code: "not_found", intent: Intent, message: string): CatalogError =>
  new CatalogError(code, `${intent.label}${message}`);

const failedCondition = (intent: Intent, message: string): CatalogError =>
  new CatalogError("invalid", `${intent.label}${message}`, { failedCondition: true });

function createDraft(state: EntityState, context: DecisionContext): Draft {
  const aspects = new Map(state.aspects);
  const changes: Change[] = [];
  const { created, entityType, keyAspect, systemActor } = context;
  const { urn } = state;
  let exists = currentAspect(state, keyAspect) !== undefined;
  /** Where the key of a new entity belongs among the changes: after the old one's deletion. */
  let birth = 0;

  const change = (
    rest: Pick<Change, "aspect" | "changeType" | "value" | "system" | "headers">,
  ): Change => ({ urn, entityType, created, ...rest });

  return {
    aspect: (name) => {
      const aspect = aspects.get(name);
      return aspect?.removed ? undefined : aspect;
    },
    entityExists: () => exists,

    put(aspect, settled, schemaVersion, told, first = false) {
      const before = aspects.get(aspect);
      const version = (before?.version ?? 0) + 1;
      const living = before?.removed ? undefined : before;
      const system: Writable<SystemMetadata> = systemOf(told.system, living, created);
      system.version = String(version);
      system.schemaVersion = schemaVersion;
      addModificationStamps(system, living, created, systemActor);
      aspects.set(aspect, {
        name: aspect,
        version,
        value: settled.text,
        time: created.time,
        actor: created.actor,
        system,
        removed: false,
      });
      if (aspect === keyAspect) exists = true;
      const { headers } = told;
      const put = change({ aspect, changeType: "UPSERT", value: settled.text, system, headers });
      // The key opens the entity's life in the log, though it is decided on last.
      if (first) changes.splice(birth, 0, put);
      else changes.push(put);
    },

    confirm(current, told) {
      const { version, schemaVersion, aspectCreated, aspectModified } = current.system;
      const system: Writable<SystemMetadata> = systemOf(told.system, current, created);
      if (version !== undefined) system.version = version;
      if (schemaVersion !== undefined) system.schemaVersion = schemaVersion;
      if (aspectCreated !== undefined) system.aspectCreated = aspectCreated;
      if (aspectModified !== undefined) system.aspectModified = aspectModified;
      aspects.set(current.name, { ...current, system });
      changes.push(
        change({ aspect: current.name, changeType: "RESTATE", system, headers: told.headers }),
      );
    },

    restate({ name: aspect, value, system, time, actor }) {
      const restated = change({ aspect, changeType: "RESTATE", value, system });
      changes.push({ ...restated, created: { time, actor } });
    },

    remove(current, told) {
      if (current.name === keyAspect) {
        exists = false;
        for (const [name, aspect] of aspects) aspects.set(name, { ...aspect, removed: true });
      } else aspects.set(current.name, { ...current, removed: true });
      const system = {
        ...systemOf(told.system, current, created),
        version: String(current.version),
      };
      changes.push(
        change({ aspect: current.name, changeType: "DELETE", system, headers: told.headers }),
      );
      if (current.name === keyAspect) birth = changes.length;
    },

    finish() {
      if (changes.length === 0) return { changes, next: state };
      const next = { urn, revision: after(state.revision, changes.length), aspects };
      return { changes, next };
    },
  };
}

const after = (last: Revision, count: number): Revision => revision(last + count);

/**
 * What the teller says of the telling; the server decides on version and stamps.
 * There are several of these for every write: they are built member by member, absent ones left out.
 */
export function systemOf(
  told: Partial<SystemMetadata>,
  before: AspectState | undefined,
  created: AuditStamp,
): SystemMetadata {
  const system: Writable<SystemMetadata> = {
    lastObserved: told.lastObserved ? told.lastObserved : created.time,
    runId: told.runId ?? NO_RUN_ID,
  };
  const { pipelineName, registryName, registryVersion, properties } = told;
  if (before !== undefined) system.lastRunId = before.system.runId;
  if (pipelineName !== undefined) system.pipelineName = pipelineName;
  if (registryName !== undefined) system.registryName = registryName;
  if (registryVersion !== undefined) system.registryVersion = registryVersion;
  if (properties !== undefined) system.properties = properties;
  return system;
}

function addModificationStamps(
  system: Writable<SystemMetadata>,
  before: AspectState | undefined,
  created: AuditStamp,
  systemActor: string,
): void {
  const own = created.actor === systemActor ? undefined : created;
  const aspectCreated = before === undefined ? own : before.system.aspectCreated;
  const aspectModified = own ?? before?.system.aspectModified;
  if (aspectCreated !== undefined) system.aspectCreated = aspectCreated;
  if (aspectModified !== undefined) system.aspectModified = aspectModified;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

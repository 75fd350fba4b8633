/**
 * The decider: maps the state of an entity and proposals to changes and the next state. Pure.
 *
 * An accepted proposal becomes one change. A proposal of the current value becomes a change that
 * only confirms the value (RESTATE). A rejected proposal rejects its whole request. Each proposal
 * is decided on the state after the previous one. A new entity gets its key aspect, and the default
 * aspects that the proposals do not write.
 */

import { sameJson } from "../lib/same-json.ts";
import type { AuditStamp, Change, SystemMetadata } from "./change.ts";
import { NO_RUN_ID } from "./change.ts";
import { type AspectState, currentAspect, type EntityState } from "./entity-state.ts";
import { assert, CatalogError } from "./errors.ts";
import { revision } from "./position.ts";

/** Preconditions of a proposal on the current aspect. */
export interface Conditions {
  /** Number of the current value; -1: the aspect has none. */
  readonly versionMatch?: number | undefined;
  /** Epoch milliseconds: the current value must be newer. */
  readonly modifiedSince?: number | undefined;
  /** Epoch milliseconds: the current value must not be newer. */
  readonly unmodifiedSince?: number | undefined;
  /** If-None-Match: a CREATE of an existing aspect is skipped instead of rejected. */
  readonly noneMatch?: boolean | undefined;
}

/** A value that is valid for its schema, with its JSON text. */
export interface AspectValue {
  readonly value: Record<string, unknown>;
  readonly text: string;
}

/** Throws `invalid` if the value is invalid. `sibling`: returns the value of another aspect. */
export type ComputedValue = (
  current: AspectValue | undefined,
  sibling: (aspect: string) => Record<string, unknown> | undefined,
) => AspectValue;

/** A command on one aspect, validated against the model. */
export interface AspectCommand {
  readonly aspect: string;
  readonly kind: "put" | "create" | "create_entity" | "delete" | "restate";
  /**
   * The new value, or a function of the current value (patches, rules that compare values) and of
   * the entity's other aspects. Absent for a delete or a restatement. For a key aspect, the urn's
   * key.
   */
  readonly value?: AspectValue | ComputedValue;
  /**
   * For a current value (JSON text) that makes `value` slow: returns a function that computes the
   * new text in another thread, and resolves with undefined if the value is rejected. Afterwards,
   * `value` returns the computed result.
   */
  readonly ahead?: (current: string | undefined) => (() => Promise<string | undefined>) | undefined;
  readonly schemaVersion: number;
  readonly system: Partial<SystemMetadata>;
  readonly conditions: Conditions;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Prefix of error messages: the member of the request. */
  readonly label: string;
}

/** A default aspect of a new entity. */
export interface DefaultAspect {
  readonly aspect: string;
  readonly validated: AspectValue;
  readonly schemaVersion: number;
}

export interface DecisionContext {
  readonly entityType: string;
  readonly keyAspect: string;
  /** Time and actor of the request. */
  readonly created: AuditStamp;
  /** The system's own actor; its writes carry no aspectCreated/aspectModified. */
  readonly systemActor: string;
  /** Timeseries events of the same request; they also create the entity. */
  readonly events?: readonly NewEvent[] | undefined;
  /** Key aspect and defaults of the entity, called only when it is created. */
  readonly defaultAspects: () => readonly DefaultAspect[];
}

interface NewEvent {
  /** Index of the first command after the event. */
  readonly after: number;
  readonly system: Partial<SystemMetadata>;
}

interface Decision {
  /** In the order of the stream; empty when there is nothing to append. */
  readonly changes: readonly Change[];
  readonly next: EntityState;
}

/** Throws CatalogError `invalid` or `not_found` for the first rejected command. */
export function decide(
  state: EntityState,
  commands: readonly AspectCommand[],
  context: DecisionContext,
): Decision {
  const draft = createDraft(state, context);
  let from = 0;
  for (const [n, command] of commands.entries()) {
    if (isEntityDelete(command, context.keyAspect)) {
      putMissingDefaults(draft, lifetimeOf(commands, from, n, context), context);
      from = n + 1;
    }
    decideOne(draft, command, context);
  }
  putMissingDefaults(draft, lifetimeOf(commands, from, commands.length, context), context);
  return draft.finish();
}

export const isEntityDelete = (
  { kind, aspect }: Pick<AspectCommand, "kind" | "aspect">,
  keyAspect: string,
): boolean => kind === "delete" && aspect === keyAspect;

/** The commands on one lifetime of an entity: up to a deletion, or to the last command. */
interface LifetimeCommands {
  readonly commands: readonly AspectCommand[];
  /** System metadata of the first event. */
  readonly eventSystem: Partial<SystemMetadata> | undefined;
}

const lifetimeOf = (
  commands: readonly AspectCommand[],
  from: number,
  to: number,
  { events = [] }: DecisionContext,
): LifetimeCommands => ({
  commands: commands.slice(from, to),
  eventSystem: events.find(({ after }) => after >= from && after <= to)?.system,
});

/** The members of a command that its change takes over. */
type WriteSource = Pick<AspectCommand, "system" | "headers">;

/** The working state of a decision, and the changes so far. */
interface Draft {
  readonly aspect: (name: string) => AspectState | undefined;
  readonly entityExists: () => boolean;
  readonly put: (
    aspect: string,
    validated: AspectValue,
    schemaVersion: number,
    source: WriteSource,
    first?: boolean,
  ) => void;
  readonly confirm: (current: AspectState, source: WriteSource) => void;
  /** Appends the current value again, so that views apply it again; the aspect does not change. */
  readonly restate: (current: AspectState) => void;
  readonly remove: (current: AspectState, source: WriteSource) => void;
  readonly finish: () => Decision;
}

function decideOne(draft: Draft, command: AspectCommand, context: DecisionContext): void {
  const current = draft.aspect(command.aspect);
  const creating = command.kind === "create" || command.kind === "create_entity";
  checkConditions(creating ? undefined : current, command);
  if (command.kind === "delete") {
    if (current === undefined) {
      const message = `${command.label}there is no "${command.aspect}" to delete`;
      throw new CatalogError("not_found", message);
    }
    draft.remove(current, command);
    return;
  }
  if (command.kind === "restate") {
    if (current !== undefined) draft.restate(current);
    return;
  }
  const obstacle = obstacleToCreating(draft, command, current);
  if (obstacle !== undefined) {
    if (command.conditions.noneMatch) return;
    throw failedCondition(command, obstacle);
  }
  const validated = validatedValue(command, current, draft);
  // The key aspect is a default: before the entity exists, writing it creates the entity.
  if (command.aspect === context.keyAspect && current === undefined) return;
  if (current !== undefined && sameValue(current, validated)) draft.confirm(current, command);
  else draft.put(command.aspect, validated, command.schemaVersion, command);
}

function validatedValue(
  { value }: AspectCommand,
  current: AspectState | undefined,
  draft: Draft,
): AspectValue {
  assert(value !== undefined, "a write has a value");
  if (typeof value !== "function") return value;
  return value(currentOf(current), (aspect) => currentOf(draft.aspect(aspect))?.value);
}

const currentOf = (aspect: AspectState | undefined): AspectValue | undefined =>
  aspect === undefined ? undefined : validatedText(aspect.value);

/** A validated value that parses its JSON text lazily. */
export function validatedText(text: string): AspectValue {
  let value: AspectValue["value"] | undefined;
  return {
    text,
    get value() {
      value ??= JSON.parse(text) as AspectValue["value"];
      return value;
    },
  };
}

/** Longer texts are compared only as text: parsing them would block for half a second. */
const COMPARED_CHARACTERS_MAX = 1024 * 1024;

/** Both texts are compact JSON, so that equal values of different key order have equal length. */
function sameValue(current: AspectState, validated: AspectValue): boolean {
  if (current.value === validated.text) return true;
  const { length } = current.value;
  if (length !== validated.text.length || length > COMPARED_CHARACTERS_MAX) return false;
  return sameJson(JSON.parse(current.value), validated.value);
}

/** Adds the missing default aspects to an entity that the commands create. */
function putMissingDefaults(
  draft: Draft,
  { commands, eventSystem }: LifetimeCommands,
  context: DecisionContext,
): void {
  const system = commands.at(-1)?.system ?? eventSystem;
  if (draft.entityExists() || system === undefined) return;
  for (const { aspect, validated, schemaVersion } of context.defaultAspects()) {
    if (draft.aspect(aspect) !== undefined) continue;
    const first = aspect === context.keyAspect;
    // A proposal of the key itself is the one that created the entity.
    const own = first ? commands.findLast((one) => one.aspect === aspect) : undefined;
    draft.put(aspect, validated, schemaVersion, own ?? { system }, first);
  }
}

function checkConditions(current: AspectState | undefined, command: AspectCommand): void {
  const { versionMatch, modifiedSince, unmodifiedSince } = command.conditions;
  const version = current?.version ?? -1;
  if (versionMatch !== undefined && versionMatch !== version) {
    throw failedCondition(command, `Expected version ${versionMatch}, actual version ${version}`);
  }
  const time = current?.time ?? Number.NEGATIVE_INFINITY;
  if (modifiedSince !== undefined && !(time > modifiedSince)) {
    throw failedCondition(command, `not modified since ${new Date(modifiedSince).toISOString()}`);
  }
  if (unmodifiedSince !== undefined && time > unmodifiedSince) {
    throw failedCondition(command, `modified since ${new Date(unmodifiedSince).toISOString()}`);
  }
}

/** Uses DataHub's messages, which its clients search for. */
function obstacleToCreating(
  draft: Draft,
  { kind }: AspectCommand,
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

const failedCondition = (command: AspectCommand, message: string): CatalogError =>
  new CatalogError("invalid", `${command.label}${message}`, { failedCondition: true });

function createDraft(state: EntityState, context: DecisionContext): Draft {
  const aspects = new Map(state.aspects);
  const changes: Change[] = [];
  const { created, entityType, keyAspect, systemActor } = context;
  const { urn } = state;
  let exists = currentAspect(state, keyAspect) !== undefined;
  /** Index of a new entity's key among the changes: after the deletion of the old entity. */
  let keyIndex = 0;

  const change = (
    rest: Pick<Change, "aspect" | "changeType" | "value" | "system" | "headers">,
  ): Change => ({ urn, entityType, created, ...rest });

  return {
    aspect: (name) => {
      const aspect = aspects.get(name);
      return aspect?.removed ? undefined : aspect;
    },
    entityExists: () => exists,

    put(aspect, validated, schemaVersion, source, first = false) {
      const before = aspects.get(aspect);
      const version = (before?.version ?? 0) + 1;
      const living = before?.removed ? undefined : before;
      const system: Writable<SystemMetadata> = systemOf(source.system, living, created);
      system.version = String(version);
      system.schemaVersion = schemaVersion;
      addModificationStamps(system, living, created, systemActor);
      aspects.set(aspect, {
        name: aspect,
        version,
        value: validated.text,
        time: created.time,
        actor: created.actor,
        system,
        removed: false,
      });
      if (aspect === keyAspect) exists = true;
      const { headers } = source;
      const put = change({ aspect, changeType: "UPSERT", value: validated.text, system, headers });
      // The key comes first in the log, although it is decided last.
      if (first) changes.splice(keyIndex, 0, put);
      else changes.push(put);
    },

    confirm(current, source) {
      const { version, schemaVersion, aspectCreated, aspectModified } = current.system;
      const system: Writable<SystemMetadata> = systemOf(source.system, current, created);
      if (version !== undefined) system.version = version;
      if (schemaVersion !== undefined) system.schemaVersion = schemaVersion;
      if (aspectCreated !== undefined) system.aspectCreated = aspectCreated;
      if (aspectModified !== undefined) system.aspectModified = aspectModified;
      aspects.set(current.name, { ...current, system });
      changes.push(
        change({ aspect: current.name, changeType: "RESTATE", system, headers: source.headers }),
      );
    },

    restate({ name: aspect, value, system, time, actor }) {
      const restated = change({ aspect, changeType: "RESTATE", value, system });
      changes.push({ ...restated, created: { time, actor } });
    },

    remove(current, source) {
      if (current.name === keyAspect) {
        exists = false;
        for (const [name, aspect] of aspects) aspects.set(name, { ...aspect, removed: true });
      } else aspects.set(current.name, { ...current, removed: true });
      const system = {
        ...systemOf(source.system, current, created),
        version: String(current.version),
      };
      changes.push(
        change({ aspect: current.name, changeType: "DELETE", system, headers: source.headers }),
      );
      if (current.name === keyAspect) keyIndex = changes.length;
    },

    finish() {
      if (changes.length === 0) return { changes, next: state };
      const next = { urn, revision: revision(state.revision + changes.length), aspects };
      return { changes, next };
    },
  };
}

/** System metadata of a write, without absent members. The server sets version and stamps. */
export function systemOf(
  sent: Partial<SystemMetadata>,
  before: AspectState | undefined,
  created: AuditStamp,
): SystemMetadata {
  const system: Writable<SystemMetadata> = {
    lastObserved: sent.lastObserved ? sent.lastObserved : created.time,
    runId: sent.runId ?? NO_RUN_ID,
  };
  const { pipelineName, registryName, registryVersion, properties } = sent;
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

/**
 * Reads entities and aspects as JSON text, assembled from the texts in the log: no value is parsed
 * between the writer and the reader.
 */

import type { AspectState, EntityState } from "../../core/entity-state.ts";
import { currentAspect } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { START } from "../../core/position.ts";
import { type ConcurrencyLimit, memorySlotOf, smallBytesMax } from "../../lib/concurrency-limit.ts";
import { slicesOf } from "../../lib/lists.ts";
import type { Entity, Model } from "../../model/model.ts";
import type { AspectReader, StoredValue } from "../../views/aspects/aspect-table.ts";
import type { Addresses } from "../address.ts";
import type { Catalog, JsonText, KeyOptions } from "../catalog.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import { readMax, responseBytesMax, tooLarge } from "./response-limit.ts";
import { noSuchAspect } from "./unknown-aspect.ts";

type Reads = Pick<
  Catalog,
  "getEntity" | "getEntities" | "getSnapshot" | "getSnapshots" | "getAspect"
>;

interface Dependencies {
  readonly model: Model;
  readonly addresses: Addresses;
  readonly states: Pick<EntityCache, "read" | "peek" | "positionOf">;
  readonly reader: Pick<AspectReader, "findValue">;
  readonly envelopes: Envelopes;
  /** Waits until the aspect view has a position. */
  readonly reached: (position: ReturnType<EntityCache["positionOf"]>) => Promise<void>;
  /** Limits the number of concurrent large reads. */
  readonly withLargeSlot: ConcurrencyLimit;
}

export type Envelopes = ReturnType<typeof createEnvelopes>;

export function createReads(dependencies: Dependencies): Reads {
  const { model, addresses, states, reader, reached, envelopes, withLargeSlot } = dependencies;

  function snapshotRecord(entity: Entity): string {
    const snapshot = model.findSnapshotOf(entity.name);
    if (snapshot === undefined) {
      throw new CatalogError("not_found", `entity type "${entity.name}" has no snapshot record`, {
        hint: "Read it at /entitiesV2",
      });
    }
    return snapshot.record;
  }

  const readOne = async (urn: string): Promise<EntityState> =>
    states.peek(urn) ?? ((await states.read([urn]))[0] as EntityState);

  /** Reads each distinct urn once and writes `"urn":<text>` members in the order of the request. */
  async function results(
    urns: readonly string[],
    text: (urn: string, state: EntityState) => string,
  ): Promise<JsonText> {
    const distinct = [...new Set(urns.map((urn) => addresses.readable(urn).urn))];
    const members: string[] = [];
    let characters = 0;
    const large = memorySlotOf(withLargeSlot);
    try {
      for (const slice of slicesOf(distinct, readMax)) {
        for (const state of await states.read(slice)) {
          const member = `${JSON.stringify(state.urn)}:${text(state.urn, state)}`;
          characters += member.length;
          if (characters > responseBytesMax && distinct.length > 1) throw tooLarge(distinct.length);
          members.push(member);
        }
        if (characters > smallBytesMax) await large.acquire(characters);
      }
      return { json: `{"results":{${members.join(",")}},"statuses":{},"errors":{}}` };
    } finally {
      large.release();
    }
  }

  const snapshotText = (urn: string, state: EntityState, aspects?: readonly string[]): string => {
    const { entity } = addresses.readable(urn);
    return `{"value":{${JSON.stringify(snapshotRecord(entity))}:${envelopes.snapshot(entity, state, aspects)}}}`;
  };

  async function findVersion(
    urn: string,
    name: string,
    version: number,
  ): Promise<Pick<StoredValue, "version" | "value"> | undefined> {
    if (version > 0) {
      const position = states.positionOf(urn);
      if (position > START) {
        const last = currentAspect(await readOne(urn), name);
        if (last?.version === version) return last;
      }
      await reached(position);
      return reader.findValue(urn, name, version);
    }
    const latest = currentAspect(await readOne(urn), name);
    if (latest === undefined || version === 0) return latest;
    const wanted = latest.version + version;
    return wanted > 0 ? findVersion(urn, name, wanted) : undefined;
  }

  async function noVersion(urn: string, name: string, version: number): Promise<CatalogError> {
    const last = (await readOne(urn)).aspects.get(name);
    if (version > 0 || !last?.removed) {
      const message = `"${name}" of "${urn}" has no version ${version}`;
      return new CatalogError("not_found", message, {
        ...(last !== undefined && { hint: `It has ${versionsUpTo(last.version)}` }),
      });
    }
    const values = versionsUpTo(last.version);
    return new CatalogError("not_found", `"${name}" of "${urn}" was deleted`, {
      hint: `Earlier values can be read by version: ${values}`,
    });
  }

  return {
    getEntity(text, aspects, options) {
      const { entity, urn } = addresses.readable(text);
      const response = (state: EntityState) => ({
        json: envelopes.entity(entity, state, aspects, options),
      });
      const cached = states.peek(urn);
      return cached === undefined ? readOne(urn).then(response) : response(cached);
    },

    getEntities: (urns, aspects, options) =>
      results(urns, (urn, state) =>
        envelopes.entity(addresses.readable(urn).entity, state, aspects, options),
      ),

    async getSnapshot(text, aspects) {
      const { entity, urn } = addresses.readable(text);
      snapshotRecord(entity);
      return { json: snapshotText(urn, await readOne(urn), aspects) };
    },

    getSnapshots: (urns, aspects) =>
      results(urns, (urn, state) => snapshotText(urn, state, aspects)),

    getAspect(text, name, version) {
      const { entity, urn } = addresses.readable(text);
      const aspect = model.findAspectOf(entity, name);
      if (aspect === undefined) throw noSuchAspect(entity, name);
      if (aspect.timeseries) {
        throw new CatalogError(
          "not_found",
          `"${name}" is a timeseries aspect: it has no versions`,
          {
            hint: "Read it with POST /aspects?action=getTimeseriesAspectValues",
          },
        );
      }
      const response = (value: string, shown: number) => ({
        json: `{"version":${shown},"aspect":{${JSON.stringify(aspect.record)}:${value}}}`,
      });
      const cached = version === 0 ? states.peek(urn) : undefined;
      const latest = cached && currentAspect(cached, name);
      if (latest !== undefined) return response(latest.value, 0);
      return (async () => {
        const found = await findVersion(urn, name, version);
        if (found === undefined) throw await noVersion(urn, name, version);
        return response(found.value, version === 0 ? 0 : found.version);
      })();
    },
  };
}

/** JSON texts of entities, cached as long as the state from which they were made. */
export function createEnvelopes({
  model,
  addresses,
  systemActor,
  now,
}: Pick<Dependencies, "model" | "addresses"> & {
  readonly systemActor: string;
  readonly now: () => number;
}) {
  const keyText = (urn: string): string => JSON.stringify(addresses.readable(urn).key);
  const aspectTexts = new WeakMap<AspectState, string>();
  const entityTexts = new WeakMap<EntityState, string>();

  /** `"name":{"name":…,"type":"VERSIONED","version":0,"value":…,"created":…,"systemMetadata":…}` */
  function member(aspect: AspectState): string {
    let text = aspectTexts.get(aspect);
    if (text === undefined) {
      text = `${envelopeHead(aspect.name)}${aspect.value},"created":{"actor":${JSON.stringify(aspect.actor)},"time":${aspect.time}},"systemMetadata":${JSON.stringify(aspect.system)}}`;
      aspectTexts.set(aspect, text);
    }
    return text;
  }

  const envelopeHead = (name: string): string => {
    const quoted = JSON.stringify(name);
    return `${quoted}:{"name":${quoted},"type":"VERSIONED","version":0,"value":`;
  };

  /** The key of an entity without a stored key follows from its urn. */
  const derivedKey = (entity: Entity, urn: string): string =>
    `${envelopeHead(entity.keyAspect)}${keyText(urn)},"created":{"actor":${JSON.stringify(systemActor)},"time":${now()}}}`;

  function keyMember(
    type: Entity,
    state: EntityState,
    names: readonly string[] | undefined,
    { keyAlways = true }: KeyOptions,
  ): readonly string[] {
    const key = currentAspect(state, type.keyAspect);
    if (!keyAlways && (key === undefined || names?.includes(type.keyAspect) === false)) return [];
    return [key === undefined ? derivedKey(type, state.urn) : member(key)];
  }

  function entity(
    type: Entity,
    state: EntityState,
    names?: readonly string[],
    options: KeyOptions = {},
  ): string {
    const whole = names === undefined;
    const known = whole ? entityTexts.get(state) : undefined;
    if (known !== undefined) return known;
    const members = [...keyMember(type, state, names, options)];
    for (const aspect of selected(type, state, names)) members.push(member(aspect));
    const text = `{"urn":${JSON.stringify(state.urn)},"entityName":${JSON.stringify(type.name)},"aspects":{${members.join(",")}}}`;
    // A whole entity always includes a stored key, so the text does not depend on the options.
    if (whole && currentAspect(state, type.keyAspect) !== undefined) entityTexts.set(state, text);
    return text;
  }

  function snapshot(type: Entity, state: EntityState, names?: readonly string[]): string {
    const key = currentAspect(state, type.keyAspect)?.value ?? keyText(state.urn);
    const union = (name: string, value: string) =>
      `{${JSON.stringify(model.aspects.get(name)?.record ?? name)}:${value}}`;
    const aspects = selected(type, state, names);
    const members = [union(type.keyAspect, key), ...aspects.map((a) => union(a.name, a.value))];
    // The snapshot of a glossary term also shows these two beside the array.
    const inlined =
      type.name === "glossaryTerm"
        ? aspects
            .filter((a) => a.name === "ownership" || a.name === "glossaryTermInfo")
            .map((a) => `,${JSON.stringify(a.name)}:${a.value}`)
        : [];
    return `{"urn":${JSON.stringify(state.urn)},"aspects":[${members.join(",")}]${inlined.join("")}}`;
  }

  return { entity, snapshot };
}

/** The aspects with a value, without the key, in registry order; all or the named ones. */
function selected(
  entity: Entity,
  state: EntityState,
  names: readonly string[] | undefined,
): readonly AspectState[] {
  const found: AspectState[] = [];
  for (const name of entity.aspects) {
    if (names !== undefined && !names.includes(name)) continue;
    const aspect = currentAspect(state, name);
    if (aspect !== undefined) found.push(aspect);
  }
  return found;
}

const versionsUpTo = (last: number): string => (last === 1 ? "version 1" : `versions 1 to ${last}`);

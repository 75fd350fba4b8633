/**
 * Encodes and decodes events as Confluent-framed Avro: the byte 0, the schema's id (4 bytes,
 * big-endian), the body. Records and fields are DataHub's (avro/events).
 *
 * Messages of clients are decoded with the writer's schema of their id, resolved to the service's
 * schema. Resolution ignores namespaces, because they differ between releases of producers.
 */
import { isUtf8 } from "node:buffer";
import avro, { type Resolver, type Schema, type Type } from "avsc";
import type { Proposal, ProposedChange } from "../catalog/catalog.ts";
import type { AuditStamp, SystemMetadata } from "../core/change.ts";
import { assert, CatalogError, messageOf } from "../core/errors.ts";
import type { PlatformEvent } from "../core/platform-event.ts";
import { boundedCache } from "../lib/bounded-cache.ts";
import { type ChangeEvent, changeLogOf } from "./change-event.ts";
import { schemaOfTopic, topics } from "./event-schemas.ts";
import { withoutNamespaces } from "./schema-names.ts";

export interface EventMessage {
  readonly topic: string;
  /** Urn, or the key of a platform event. */
  readonly key: string;
  /** The caller may modify the buffer. */
  readonly value: Buffer;
}

/** Finds schemas by their ids: the registry. */
export interface SchemaSource {
  /** The schema as JSON text; undefined for an unknown id. */
  findSchema(id: number): Promise<string | undefined>;
}

export interface EventCodec {
  /** Throws CatalogError `invalid` if the values do not fit the schema. */
  encodeChange(event: ChangeEvent): EventMessage;
  encodePlatformEvent(event: PlatformEvent): EventMessage;
  /**
   * The message of DataHubUpgradeHistory_v1; consumers wait until the last one has their version.
   */
  encodeVersion(version: string): EventMessage;
  /**
   * Decodes a message of the topic of proposals. Rejects with `malformed` for an invalid message,
   * and with errors of the schema source.
   */
  decodeProposal(value: Buffer): Promise<Proposal>;
  /**
   * Encodes the message for a rejected proposal: the error and the proposal. An unreadable proposal
   * is included as bytes: the value of an aspect with content type application/octet-stream. `key`
   * is the key of the original message.
   */
  encodeFailure(failed: {
    readonly value: Buffer;
    readonly key: string;
    readonly error: string;
  }): Promise<EventMessage>;
}

const MAGIC = 0;
const FRAME_BYTES = 5;
/** Size of the shared buffer; a larger event gets a temporary buffer. */
const SCRATCH_BYTES = 256 * 1024;
/** Maximum number of resolved schemas of writers in the cache. */
const RESOLVED_MAX = 200;

export function createEventCodec(schemas: SchemaSource): EventCodec {
  const encodeLog = createEncoder(topics.versioned, bytesAsText);
  const encodePlatform = createEncoder(topics.platformEvents, bytesAsText);
  const encodeUpgrade = createEncoder(topics.upgradeHistory, (schema) => schema);
  const encodeFailed = createEncoder(topics.failedProposals, (schema) => schema);
  const readProposal = createProposalReader(schemas);

  return {
    encodeChange(event) {
      const { timeseries, urn, aspect, position } = event.change;
      return {
        topic: timeseries ? topics.timeseries : topics.versioned,
        key: urn,
        value: encodeLog(
          changeLogOf(event, (json) => json),
          () => `change of "${aspect}" of "${urn}" at position ${position}`,
        ),
      };
    },

    encodePlatformEvent: ({ key, ...record }) => ({
      topic: topics.platformEvents,
      key: key ?? record.name,
      value: encodePlatform(record, () => `platform event "${record.name}" of "${key}"`),
    }),

    encodeVersion: (version) => ({
      topic: topics.upgradeHistory,
      key: version,
      value: encodeUpgrade({ version }, () => `version "${version}"`),
    }),

    decodeProposal: async (value) => toProposal(await readProposal(value)),

    async encodeFailure({ value, key, error }) {
      const proposal = await readProposal(value).catch((cause: unknown) => {
        if (cause instanceof CatalogError && cause.code === "malformed")
          return unreadableProposal(value);
        throw cause;
      });
      return {
        topic: topics.failedProposals,
        key: proposal.entityUrn ?? key,
        value: encodeFailed(
          { metadataChangeProposal: proposal, error },
          () => `failure of a proposal for "${key}"`,
        ),
      };
    },
  };
}

/** Replaces `bytes` by `string`, which has the same encoding: aspect values are text in memory. */
const bytesAsText = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "type" && value === "bytes" ? "string" : value,
  );

type Encode = (record: unknown, what: () => string) => Buffer;

function createEncoder(topic: string, form: (schema: Schema) => Schema): Encode {
  const { id, text } = schemaOfTopic(topic);
  const type = avro.Type.forSchema(form(JSON.parse(text) as Schema));
  const framed = (size: number): Buffer => {
    const buffer = Buffer.allocUnsafeSlow(size);
    buffer.writeUInt8(MAGIC);
    buffer.writeUInt32BE(id, 1);
    return buffer;
  };
  const scratch = framed(SCRATCH_BYTES);

  return (record, what) => {
    let end: number;
    try {
      end = type.encode(record, scratch, FRAME_BYTES);
    } catch (cause) {
      const reason = messageOf(cause);
      throw new CatalogError("invalid", `${what()} cannot be written: ${reason}`, { cause });
    }
    if (end >= 0) {
      const bytes = Buffer.allocUnsafe(end);
      scratch.copy(bytes, 0, 0, end);
      return bytes;
    }
    // A negative end is the number of missing bytes.
    const large = framed(SCRATCH_BYTES - end);
    assert(type.encode(record, large, FRAME_BYTES) === large.length, "an event has one size");
    return large;
  };
}

interface WireAspect {
  readonly value: Buffer;
  readonly contentType: string;
}

/** The decoded form of avsc: absent members are null. */
interface WireProposal {
  readonly entityType: string;
  readonly entityUrn: string | null;
  readonly entityKeyAspect: WireAspect | null;
  readonly changeType: ProposedChange;
  readonly aspectName: string | null;
  readonly aspect: WireAspect | null;
  readonly systemMetadata: Readonly<Record<string, unknown>> | null;
  readonly headers: Readonly<Record<string, string>> | null;
}

/** Replaces an unreadable proposal. */
const unreadableProposal = (value: Buffer): WireProposal => ({
  entityType: "",
  entityUrn: null,
  entityKeyAspect: null,
  changeType: "UPSERT",
  aspectName: null,
  aspect: { value, contentType: "application/octet-stream" },
  systemMetadata: null,
  headers: null,
});

function createProposalReader(schemas: SchemaSource): (value: Buffer) => Promise<WireProposal> {
  const type = avro.Type.forSchema(plainSchema(schemaOfTopic(topics.proposals).text));
  const resolvers = boundedCache<number, Resolver>(RESOLVED_MAX);

  async function findResolver(id: number): Promise<Resolver> {
    const known = resolvers.get(id);
    if (known !== undefined) return known;
    const text = await schemas.findSchema(id);
    if (text === undefined) {
      throw new CatalogError("malformed", `no schema has the id ${id}`, {
        hint: "Register the schema at this service's /schema-registry/api, and use the id that it returns",
      });
    }
    const resolver = resolve(type, text, id);
    resolvers.set(id, resolver);
    return resolver;
  }

  return async (value) => {
    if (value.length < FRAME_BYTES || value[0] !== MAGIC) {
      throw new CatalogError("malformed", "the message does not begin with 0 and a schema's id", {
        hint: "Write it with a serializer that uses a schema registry",
      });
    }
    const id = value.readUInt32BE(1);
    return decodeBody(type, value, await findResolver(id), id);
  };
}

const plainSchema = (text: string): Schema => withoutNamespaces(JSON.parse(text)) as Schema;

function resolve(type: Type, text: string, id: number): Resolver {
  try {
    return type.createResolver(avro.Type.forSchema(plainSchema(text)));
  } catch (cause) {
    throw new CatalogError(
      "malformed",
      `schema ${id} is not one of proposals: ${messageOf(cause)}`,
      {
        hint: "Write a MetadataChangeProposal; GET /schema-registry/api/subjects/MetadataChangeProposal_v1-value/versions/1 returns its schema",
        cause,
      },
    );
  }
}

function decodeBody(type: Type, value: Buffer, resolver: Resolver, id: number): WireProposal {
  let decoded: { readonly value: unknown; readonly offset: number };
  try {
    decoded = type.decode(value, FRAME_BYTES, resolver);
  } catch (cause) {
    throw unreadable(id, messageOf(cause), cause);
  }
  if (decoded.offset !== value.length) {
    throw unreadable(id, decoded.offset < 0 ? "it is too short" : "it is too long");
  }
  return decoded.value as WireProposal;
}

const unreadable = (id: number, why: string, cause?: unknown): CatalogError =>
  new CatalogError("malformed", `the message does not match its schema ${id}: ${why}`, { cause });

/** Null members become absent. */
function toProposal(wire: WireProposal): Proposal {
  return {
    entityType: wire.entityType,
    changeType: wire.changeType,
    ...(wire.entityUrn !== null && { entityUrn: wire.entityUrn }),
    ...(wire.entityKeyAspect !== null && {
      entityKeyAspect: textOf(wire.entityKeyAspect, "entityKeyAspect"),
    }),
    ...(wire.aspectName !== null && { aspectName: wire.aspectName }),
    ...(wire.aspect !== null && { aspect: textOf(wire.aspect, "aspect") }),
    ...(wire.systemMetadata !== null && { systemMetadata: presentMembers(wire.systemMetadata) }),
    ...(wire.headers !== null && { headers: { ...wire.headers } }),
  };
}

function textOf(
  { value, contentType }: WireAspect,
  field: string,
): { readonly value: string; readonly contentType: string } {
  if (!isUtf8(value)) throw new CatalogError("malformed", `the value of ${field} is not UTF-8`);
  return { value: value.toString("utf8"), contentType };
}

function presentMembers(wire: Readonly<Record<string, unknown>>): Partial<SystemMetadata> {
  const present = Object.entries(wire).flatMap(([name, value]) => {
    if (value === null) return [];
    return [[name, STAMPS.has(name) ? stampOf(value as AuditStamp) : plainOf(value)]];
  });
  return Object.fromEntries(present);
}

const STAMPS: ReadonlySet<string> = new Set(["aspectCreated", "aspectModified"]);

const stampOf = ({ time, actor }: AuditStamp): AuditStamp => ({ time, actor });

/** Copies a map into a plain object, without avsc's prototype. */
const plainOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? { ...value } : value;

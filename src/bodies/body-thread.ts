/**
 * The body thread: parses and validates one large request body at a time, so that this does not block
 * the main thread. For an endpoint that writes aspects, it returns proposals with validated values.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { ValidateFunction } from "ajv";
import { createAddresses } from "../catalog/address.ts";
import { labelled } from "../catalog/labels.ts";
import {
  checkProposals,
  requireProposalsMax,
} from "../catalog/write/proposals/checked-proposals.ts";
import { proposalsOf } from "../catalog/write/proposals/legacy-snapshots.ts";
import { createProposalValidation } from "../catalog/write/proposals/validate-proposals.ts";
import { validatedText } from "../core/decide.ts";
import { assert } from "../core/errors.ts";
import { connect, Transfer } from "../core/thread-calls.ts";
import { createBodyCompiler } from "../http/request/body/body-schemas.ts";
import { jsonTextOf, parseJsonText } from "../http/request/body/json-body.ts";
import { validationErrorOf } from "../http/response/validation-message.ts";
import { createRouteTable } from "../http/route-table.ts";
import { type Endpoint, endpointId } from "../http/schemas/endpoint.ts";
import { loadModel, modelDirectories } from "../model/load-model.ts";
import { outlineOf } from "../model/outline.ts";
import type { BodyThreadData, ComputeValueMessage, ReadBodyMessage } from "./body-messages.ts";
import { packProposals, unpackProposal } from "./packed-proposals.ts";

/**
 * Maximum number of members of a body that is cloned to the main thread: cloning more would block it.
 * It does not apply to bodies with aspects, which the main thread decodes in slices.
 */
const CLONED_MEMBERS_MAX = 100_000;

assert(parentPort !== null, "the body thread is a worker thread");
const { config, patchRules } = workerData as BodyThreadData;

const namespace = config.urnNamespace;
const model = loadModel({
  directories: modelDirectories(config.model, config.modelExtension),
  prefix: config.recordPrefix,
  namespace,
});
const limits = { depthMax: config.bodyDepthMax, membersMax: config.bodyMembersMax };
const clonedLimits = { ...limits, membersMax: Math.min(limits.membersMax, CLONED_MEMBERS_MAX) };
const validation = createProposalValidation({
  model,
  addresses: createAddresses(model, {
    namespace,
    limits: {
      bytesMax: config.urnBytesMax,
      schemaFieldBytesMax: config.schemaFieldUrnBytesMax,
    },
  }),
  namespace,
  aspectBytesMax: config.aspectBytesMax,
  jsonLimits: limits,
  patchRules,
  onContradictedKey: () => {},
});
const { endpoints } = createRouteTable({
  version: "",
  modelFingerprint: model.fingerprint,
  openApi: () => ({}),
  docs: () => ({}),
  entities: outlineOf(model),
  urnNamespace: namespace,
});
/** The functions of endpoints. Those of optional parts of the service, such as GraphQL, have none. */
const functions = new Map<string, Pick<Endpoint, "prepare" | "proposals">>(
  endpoints.map((endpoint) => [endpointId(endpoint), endpoint]),
);
const compile = createBodyCompiler();
/** By endpointId. */
const validators = new Map<string, ValidateFunction>();

function read({ endpoint: { id, name, body: schema }, body: bytes, request }: ReadBodyMessage) {
  const { prepare, proposals: proposalsIn } = functions.get(id) ?? {};
  const text = jsonTextOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // Frees the memory of the bytes now: no garbage collection may come before the text is parsed.
  bytes.buffer.transfer(0);
  const body = parseJsonText(
    text,
    schema?.type ?? "any",
    proposalsIn === undefined ? clonedLimits : limits,
  );
  prepare?.(body as Record<string, unknown>);
  if (schema !== undefined) {
    const validate = validators.get(id) ?? compile(schema);
    validators.set(id, validate);
    const [finding] = validate(body) ? [] : (validate.errors ?? []);
    if (finding !== undefined) throw validationErrorOf(name, finding);
  }
  if (proposalsIn === undefined) return { body };
  const proposals = proposalsIn(
    { ...request, body, caller: {}, wireForm: "annals", host: undefined },
    (snapshots) => proposalsOf(model, snapshots),
  );
  requireProposalsMax(proposals.length);
  const packed = packProposals(checkProposals(proposals, validation));
  return new Transfer({ proposals: packed }, [packed.bytes.buffer, packed.lengths.buffer]);
}

function compute({ proposal: packed, label, stamp, current }: ComputeValueMessage): string {
  return labelled(label, () => {
    const addressed = validation.address(unpackProposal(packed), { index: 0, count: 1 });
    const { value } = validation.validate(addressed, stamp).command;
    assert(value !== undefined, "a delete has no value to compute");
    if (typeof value !== "function") return value.text;
    const settled = value(
      current === undefined ? undefined : validatedText(current),
      () => undefined,
    );
    return settled.text;
  });
}

connect(parentPort, { read, compute });

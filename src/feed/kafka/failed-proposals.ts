/**
 * Where proposals go that were not accepted, with the cause: FailedMetadataChangeProposal_v1. Sent at
 * least once: who reads them can tell a repeat by the header `annals-source`, the place of the message
 * that the proposal came in.
 */
import type { Producer } from "kafkajs";
import type { Logger } from "../../telemetry/logger.ts";
import type { EventCodec } from "../event-codec.ts";
import type { KafkaNames } from "./feed-topics.ts";
import { isTooLarge } from "./kafka-failures.ts";

const sourceHeader = "annals-source";

export interface FailedProposal {
  readonly value: Buffer;
  readonly key: string;
  readonly error: string;
  /** `topic/partition/offset` */
  readonly source: string;
}

export type SendFailed = (failed: FailedProposal) => Promise<void>;

/** What is kept of a message that does not fit with its cause. */
const KEPT_BYTES_MAX = 100_000;
const ERROR_CHARACTERS_MAX = 10_000;

/** Rejects with what the driver rejects with; then nobody knows whether it was sent. */
export function createSendFailed(
  producer: Producer,
  names: KafkaNames,
  { codec, logger }: { codec: Pick<EventCodec, "encodeFailure">; logger?: Logger | undefined },
): SendFailed {
  async function send({ value, key, error, source }: FailedProposal): Promise<void> {
    const message = await codec.encodeFailure({ value, key, error });
    await producer.send({
      topic: names.topic(message.topic),
      messages: [{ key: message.key, value: message.value, headers: { [sourceHeader]: source } }],
    });
  }

  return async (failed) => {
    const error = failed.error.slice(0, ERROR_CHARACTERS_MAX);
    try {
      await send({ ...failed, error });
    } catch (cause) {
      if (!isTooLarge(cause)) throw cause;
      const kept = failed.value.subarray(0, KEPT_BYTES_MAX);
      const cut = `${error} (of ${failed.value.length} bytes, the first ${kept.length} are kept)`;
      await send({ ...failed, value: kept, error: cut }).catch((again: unknown) => {
        if (!isTooLarge(again)) throw again;
        // A topic that takes not even this must not keep the others waiting.
        logger?.error({ source: failed.source, cause: error }, "refused proposal is not kept");
      });
    }
  };
}

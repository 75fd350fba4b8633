/**
 * Sends rejected proposals with the cause to FailedMetadataChangeProposal_v1, at least once. The header
 * `annals-source` identifies the original message, so that consumers can detect duplicates.
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

/** Maximum size of the kept part of a message that is too large together with its cause. */
const KEPT_BYTES_MAX = 100_000;
const ERROR_CHARACTERS_MAX = 10_000;

/** Rejects with errors of the driver; then the message may be sent or not. */
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
        // If even this is rejected, the message is dropped, so that it does not block the others.
        logger?.error({ source: failed.source, cause: error }, "refused proposal is not kept");
      });
    }
  };
}

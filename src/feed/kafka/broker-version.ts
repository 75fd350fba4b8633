/**
 * Finds the release of a broker from its response to ApiVersions, which needs no login. The driver
 * sends this request, too, but in an older version, and does not expose the response.
 */
import { connect, isIP } from "node:net";
import { rootCertificates, connect as secureConnect } from "node:tls";
import type { KafkaAddress } from "./kafka-address.ts";

const ANSWER_MS_MAX = 5_000;
const API_VERSIONS = 18;
/** The first version of the request that returns features. */
const FORM = 3;
const FINALIZED_FEATURES = 2;

/** The level of metadata.version of each release, newest first. */
const releases: readonly (readonly [level: number, release: string])[] = [
  [28, "4.2"],
  [26, "4.1"],
  [22, "4.0"],
  [21, "3.9"],
  [20, "3.8"],
  [15, "3.7"],
  [1, "3.6 or older"],
];

/** `4.2 (metadata.version 29)`; "unknown" if the broker does not report it. */
export async function readBrokerVersion(
  { brokers, tls }: Pick<KafkaAddress, "brokers" | "tls">,
  certificates?: string | undefined,
): Promise<string> {
  const [broker = ""] = brokers;
  const port = Number(broker.slice(broker.lastIndexOf(":") + 1));
  const host = broker.slice(0, broker.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  const ca = certificates === undefined ? undefined : [...rootCertificates, certificates];
  const servername = isIP(host) === 0 ? host : "";
  const socket = tls ? secureConnect({ host, port, servername, ca }) : connect(port, host);
  try {
    const answer = await exchange(socket, question());
    const level = featureLevels(answer).get("metadata.version");
    if (level === undefined) return "unknown";
    const [, release = "unknown"] = releases.find(([from]) => level >= from) ?? [];
    return `${release} (metadata.version ${level})`;
  } catch {
    // The version is only informative; other requests check that the broker responds.
    return "unknown";
  } finally {
    socket.destroy();
  }
}

function question(): Buffer {
  const header = Buffer.alloc(11);
  header.writeInt16BE(API_VERSIONS, 0);
  header.writeInt16BE(FORM, 2);
  // No client's name (-1), no further fields of the header.
  header.writeInt16BE(-1, 8);
  const name = Buffer.from("annals");
  const text = Buffer.concat([Buffer.from([name.length + 1]), name]);
  const body = Buffer.concat([header, text, text, Buffer.from([0])]);
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length);
  return Buffer.concat([size, body]);
}

function exchange(socket: ReturnType<typeof connect>, sent: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let received = Buffer.alloc(0);
  socket.setTimeout(ANSWER_MS_MAX, () => reject(new Error("no answer")));
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("no answer")));
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      resolve(received.subarray(8));
    }
  });
  socket.write(sent);
  return promise;
}

/** Reads the finalized features of the cluster from the body of the response. */
function featureLevels(body: Buffer): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  let at = 2;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const skipFields = (): void => {
    for (let fields = number(); fields > 0; fields--) {
      number();
      at += number();
    }
  };
  for (let kinds = number() - 1; kinds > 0; kinds--) {
    at += 6;
    skipFields();
  }
  at += 4;
  for (let fields = number(); fields > 0; fields--) {
    const field = number();
    const end = number() + at;
    if (field === FINALIZED_FEATURES) {
      for (let features = number() - 1; features > 0; features--) {
        const length = number() - 1;
        const name = body.toString("utf8", at, at + length);
        levels.set(name, body.readInt16BE(at + length));
        at += length + 4;
        skipFields();
      }
    }
    at = end;
  }
  return levels;
}

/** Sends bytes to a port of 127.0.0.1 and returns the first `length` bytes of the response. */
import { connect } from "node:net";

export function exchange(port: number | undefined, sent: Buffer, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: port ?? 0, host: "127.0.0.1", timeout: 2_000 });
    let received = Buffer.alloc(0);
    socket.on("connect", () => socket.write(sent));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < length) return;
      resolve(received.subarray(0, length));
      socket.destroy();
    });
    socket.on("timeout", () => socket.destroy(new Error("no answer in 2 s")));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed without an answer")));
  });
}

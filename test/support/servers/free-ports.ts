/** Different ports of 127.0.0.1 that are free at the time of the call. */
import { createServer } from "node:net";

export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
      return holder;
    }),
  );
  return Promise.all(
    holders.map(async (holder) => {
      const address = holder.address();
      await new Promise((resolve) => holder.close(resolve));
      return typeof address === "object" && address !== null ? address.port : 0;
    }),
  );
}

/**
 * Where a command writes: its output to stdout, what it says about its work to stderr. A bar is
 * drawn only where stderr is a terminal, and lines go above it.
 */
import cliProgress from "cli-progress";

export interface Terminal {
  /** A line of output. Resolves when more may be written. */
  print(line: string): Promise<void>;
  /** A line about the work. */
  tell(line: string): void;
  /** `format` as cli-progress has it. */
  startBar(format: string): Bar;
}

export interface Bar {
  /** `shown` by the names in the format. */
  update(value: number, total: number, shown?: Readonly<Record<string, number>>): void;
  /** Again has no effect. */
  stop(): void;
}

export function openTerminal(): Terminal {
  const { stdout, stderr } = process;
  // The reader of a pipe may have seen enough (`annals log | head`): that is an end, not an error.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  let bars: cliProgress.MultiBar | undefined;
  return {
    print: (line) =>
      new Promise((resolve) => {
        if (stdout.write(`${line}\n`)) resolve();
        else stdout.once("drain", resolve);
      }),
    tell(line) {
      if (bars === undefined) stderr.write(`${line}\n`);
      else bars.log(`${line}\n`);
    },
    startBar(format) {
      if (!stderr.isTTY) return { update: () => {}, stop: () => {} };
      const drawn = new cliProgress.MultiBar({ format, stream: stderr, hideCursor: true, fps: 5 });
      const bar = drawn.create(1, 0);
      bars = drawn;
      return {
        update(value, total, shown) {
          bar.setTotal(total);
          bar.update(value, shown ?? {});
        },
        stop() {
          if (bars === drawn) drawn.stop();
          bars = undefined;
        },
      };
    },
  };
}

/**
 * Where a command writes: its output to stdout, messages about its work to stderr. A bar is drawn
 * only where stderr is a terminal, after one second; messages appear above it.
 */
import { styleText } from "node:util";
import type { GenericFormatter, MultiBar, SingleBar } from "cli-progress";
import { columnsOf, isColorOff } from "../../config/terminal-environment.ts";

export interface Terminal {
  /** Columns that a line of output may have; undefined for any number. */
  readonly width?: number | undefined;
  /** True if stdout is a terminal. */
  readonly isInteractive?: boolean | undefined;
  /** The text in a style, where stdout is a terminal with colors. */
  readonly styled?: (style: Style, text: string) => string;
  /** A line of output. Resolves when more may be written. */
  print(line: string): Promise<void>;
  /** A line about the work. */
  note(line: string): void;
  /** `format`: a text with `{bar}`, `{percentage}`, `{value}`, `{total}` and names of `shown`. */
  startBar(format: string): Bar;
}

type Style = "bold" | "red" | "green" | "dim";

export interface Bar {
  /** `shown` by the names in the format. */
  update(value: number, total: number, shown?: Readonly<Record<string, number>>): void;
  /** Again has no effect. */
  stop(): void;
}

/** Work that ends sooner needs no bar. */
const barAfterMs = 1_000;

const noBar: Bar = { update: () => {}, stop: () => {} };

export function openTerminal(): Terminal {
  const { stdout, stderr } = process;
  // The reader of a pipe may have seen enough (`annals log | head`): that is an end, not an error.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  let bars: MultiBar | undefined;
  return {
    width: widthOf(columnsOf() ?? (stdout.isTTY ? stdout.columns : undefined)),
    isInteractive: stdout.isTTY,
    styled: (style, text) =>
      stdout.isTTY && !isColorOff() ? styleText(style, text, { validateStream: false }) : text,
    print: (line) =>
      new Promise((resolve) => {
        if (stdout.write(`${line}\n`)) resolve();
        else stdout.once("drain", resolve);
      }),
    note(line) {
      if (bars === undefined) stderr.write(`${line}\n`);
      else bars.log(`${line}\n`);
    },
    startBar(format) {
      if (!stderr.isTTY) return noBar;
      let latest: readonly [number, number, Readonly<Record<string, number>>] = [0, 1, {}];
      let bar: SingleBar | undefined;
      let isStopped = false;
      const draw = (): void => {
        const [value, total, shown] = latest;
        bar?.setTotal(total);
        bar?.update(value, shown);
      };
      const open = async (): Promise<void> => {
        const { MultiBar } = (await import("cli-progress")).default;
        if (isStopped) return;
        const line: GenericFormatter = (_, { value, total, progress }, values) =>
          barLine(format, { ...values, value, total }, progress, stderr.columns);
        bars = new MultiBar({ format: line, stream: stderr, hideCursor: true, fps: 5 });
        bar = bars.create(1, 0, latest[2]);
        draw();
      };
      const begin = setTimeout(() => void open(), barAfterMs).unref();
      return {
        update(value, total, shown = {}) {
          latest = [value, total, shown];
          draw();
        },
        stop() {
          isStopped = true;
          clearTimeout(begin);
          if (bar !== undefined) bars?.stop();
          bar = undefined;
          bars = undefined;
        },
      };
    },
  };
}

/** A shorter bar shows nothing that the percentage does not show. */
const barMin = 5;
const barMax = 40;

/**
 * The text of a bar in one line of the terminal: `{bar}` takes the columns that the rest leaves.
 * `progress`: from 0 to 1.
 */
export function barLine(
  format: string,
  values: Readonly<Record<string, unknown>>,
  progress: number,
  columns = 80,
): string {
  const percentage = Math.floor(progress * 100);
  const all: Readonly<Record<string, unknown>> = { ...values, percentage };
  const text = format.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name === "bar" || !Object.hasOwn(all, name) ? whole : String(all[name]),
  );
  // A full line would move the cursor to the next one on some terminals.
  const room = Math.min(barMax, columns - 1 - (text.length - "{bar}".length));
  if (room < barMin) return text.replace(/\{bar\} */, "");
  const done = Math.round(progress * room);
  return text.replace("{bar}", "=".repeat(done) + "-".repeat(room - done));
}

/** Tables fit this width and every larger one. */
const widthMin = 40;

/** A terminal that does not know its width says 0. */
export const widthOf = (columns: number | undefined): number | undefined =>
  columns === undefined || columns === 0 ? undefined : Math.max(widthMin, columns);

/** Output alone: no messages about the work, and no bars. */
export const quiet = (terminal: Terminal): Terminal => ({
  ...terminal,
  note: () => {},
  startBar: () => noBar,
});

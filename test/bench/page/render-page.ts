/** The page of benchmarks (docs/benchmarks.md) from the figures of a run. */
import wrapAnsi from "wrap-ansi";
import { type Figure, formatGoal, formatNumber, formatRatio, formatValue } from "../figures.ts";
import { renderPlot, type Series } from "./render-plot.ts";

export interface Section {
  readonly title: string;
  /** Method of the section; one paragraph. */
  readonly method: string;
  readonly figures: readonly Figure[];
}

export interface Run {
  /** ISO date of the run. */
  readonly date: string;
  readonly commit: string;
  readonly machine: readonly (readonly [name: string, value: string])[];
  readonly seconds: number;
}

/** A figure that another catalog reached on a machine of this size. */
export interface Compared {
  readonly what: string;
  readonly theirs: string;
  /** The name of the figure of Annals. */
  readonly figure: string;
}

/** Of the lines of a page. */
const COLUMNS = 100;
/** Records of the logs that are compared with other catalogs. */
const comparedSize = 100_000;

export function renderPage(
  run: Run,
  sections: readonly Section[],
  compared: readonly Compared[],
): string {
  return [
    "# Benchmarks",
    "`npm run bench -- --report` writes this page. Figures of different machines are not comparable.",
    wrap(
      "Each ratio divides a figure by a baseline of the same run: a bare HTTP server (Fastify) that parses the same body, or returns the same text, under the same load.",
    ),
    table(["Machine", ""], machineRows(run)),
    ...sections.flatMap(({ title, method, figures }) => [
      `## ${title}`,
      wrap(method),
      figures.some(({ size }) => size !== undefined) ? sizesTable(figures) : figuresTable(figures),
    ]),
    "## Other catalogs",
    wrap(
      `Figures of other catalogs are from separate measurements on a machine of this size, with about as many entities as a log of ${formatNumber(comparedSize)} records.`,
    ),
    comparison(sections, compared),
  ]
    .map((block) => `${block}\n`)
    .join("\n");
}

const machineRows = ({ date, commit, machine, seconds }: Run) => [
  ["Date", date],
  ["Commit", commit],
  ...machine,
  ["Duration of the run", `${Math.round(seconds / 60)} minutes`],
];

const figuresTable = (figures: readonly Figure[]): string =>
  table(
    ["Figure", "Measured", "Ratio", "Goal", "Note"],
    figures.map((figure) => [
      figure.name,
      formatValue(figure),
      figure.ratio === undefined ? "" : formatRatio(figure.ratio),
      formatGoal(figure),
      figure.note ?? "",
    ]),
  );

/** One column for each size. */
function sizesTable(figures: readonly Figure[]): string {
  const sizes = [...new Set(figures.map(({ size }) => size ?? 0))];
  const rows = [...Map.groupBy(figures, ({ name }) => name)].map(([name, own]) => [
    name,
    ...sizes.map((size) => {
      const figure = own.find((one) => one.size === size);
      return figure === undefined ? "" : formatValue(figure);
    }),
    own.map(formatGoal).find((goal) => goal !== "") ?? "",
  ]);
  return table(["Records in the log", ...sizes.map(formatNumber), "Goal"], rows);
}

function comparison(sections: readonly Section[], compared: readonly Compared[]): string {
  const figures = sections.flatMap((section) => section.figures);
  return table(
    ["", "Other catalog", "Annals", "Figure above"],
    compared.map(({ what, theirs, figure }) => {
      const own = figures.find(
        ({ name, size = comparedSize }) => name === figure && size === comparedSize,
      );
      return [what, theirs, own === undefined ? "" : formatValue(own), figure];
    }),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const wrap = (prose: string): string => wrapAnsi(prose, COLUMNS);

const escaped = (cell: string): string => cell.replaceAll("|", "\\|");

/** CPU time against size, one line for each figure in microseconds; undefined for a single size. */
export function renderCosts(figures: readonly Figure[]): string | undefined {
  const costs = figures.filter(({ unit, size }) => unit === "us" && size !== undefined);
  if (new Set(costs.map(({ size }) => size)).size < 2) return undefined;
  const series = [...Map.groupBy(costs, ({ name }) => name)].map(
    ([name, own]): Series => ({
      name,
      points: own.map(({ size = 1, value }) => ({ x: size, y: value })),
    }),
  );
  return renderPlot(series, {
    ...{ title: "Cost of a request against the size of the catalog" },
    ...{ x: "records in the log", y: "CPU time of the service, µs" },
  });
}

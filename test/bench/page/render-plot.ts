/** A plot with two logarithmic axes, as SVG. */

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

interface Labels {
  readonly title: string;
  readonly x: string;
  readonly y: string;
}

const [width, height] = [860, 430];
const plot = { left: 80, right: 580, top: 70, bottom: 370 };
const colours = ["#2563eb", "#059669", "#d97706", "#9333ea", "#dc2626"];

export function renderPlot(series: readonly Series[], labels: Labels): string {
  const points = series.flatMap((one) => one.points);
  const x = axis(
    points.map((point) => point.x),
    plot.left,
    plot.right,
  );
  const y = axis(
    points.map((point) => point.y),
    plot.bottom,
    plot.top,
  );
  const elements = [
    text(plot.left, 28, labels.title, `font-size="16" font-weight="600"`),
    ...x.powers.flatMap((power) => [
      line(
        [
          [x.at(power), plot.top],
          [x.at(power), plot.bottom],
        ],
        "#e5e7eb",
      ),
      text(x.at(power), plot.bottom + 20, shorten(power), `text-anchor="middle"`),
    ]),
    ...y.powers.flatMap((power) => [
      line(
        [
          [plot.left, y.at(power)],
          [plot.right, y.at(power)],
        ],
        "#e5e7eb",
      ),
      text(plot.left - 8, y.at(power) + 4, shorten(power), `text-anchor="end"`),
    ]),
    text((plot.left + plot.right) / 2, height - 14, labels.x, `text-anchor="middle"`),
    text(plot.left, plot.top - 14, labels.y),
    ...series.flatMap(({ name, points }, n) => {
      const colour = colours[n % colours.length] ?? "";
      const at = points.map((point): Point => [x.at(point.x), y.at(point.y)]);
      return [
        line(at, colour, 2),
        ...at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4" fill="${colour}"/>`),
        `<circle cx="${plot.right + 20}" cy="${plot.top + n * 22}" r="4" fill="${colour}"/>`,
        text(plot.right + 32, plot.top + n * 22 + 4, name),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#111827">
<title>${escaped(labels.title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${elements.join("\n")}
</svg>
`;
}

type Point = readonly [x: number, y: number];

/** An axis between the powers of ten around the values. */
function axis(values: readonly number[], from: number, to: number) {
  const lowest = Math.floor(Math.log10(Math.min(...values)));
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    powers: Array.from({ length: highest - lowest + 1 }, (_, n) => 10 ** (lowest + n)),
    at: (value: number): number =>
      Math.round(from + ((Math.log10(value) - lowest) / (highest - lowest)) * (to - from)),
  };
}

const line = (points: readonly Point[], colour: string, strokeWidth = 1): string =>
  `<polyline points="${points.map((point) => point.join(",")).join(" ")}" fill="none" stroke="${colour}" stroke-width="${strokeWidth}"/>`;

const text = (x: number, y: number, content: string, attributes = ""): string =>
  `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;

const escaped = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const shorten = (power: number): string => power.toLocaleString("en", { maximumFractionDigits: 6 });

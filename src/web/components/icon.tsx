/** Line icons of 16 units, drawn with the color of the text. */

const paths = new Map<string, string>([
  ["home", "M2.5 7.5 8 3l5.5 4.5V13a.5.5 0 0 1-.5.5H3a.5.5 0 0 1-.5-.5zM6.5 13.5v-4h3v4"],
  ["search", "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zm3.3-1.2 3.2 3.2"],
  ["browse", "M2.5 3.5h4v4h-4zm7 0h4v4h-4zm-7 7h4v3h-4zm7 0h4v3h-4z"],
  ["runs", "M3.5 3v10l9-5z"],
  ["log", "M3 4h10M3 8h10M3 12h6"],
  ["views", "M2.5 12.5v-4h3v4zm4-9h3v9h-3zm4 3h3v6h-3z"],
  ["access", "M5 9.5a2.5 2.5 0 1 1 2.3-3.4H13v2h-1.5V10h-2V8.1H7.3A2.5 2.5 0 0 1 5 9.5z"],
  ["menu", "M2.5 4.5h11M2.5 8h11m-11 3.5h11"],
  [
    "sun",
    "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5V3m0 10v1.5M1.5 8H3m10 0h1.5M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1",
  ],
  ["moon", "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z"],
  ["system", "M2.5 3h11v7.5h-11zM6 13.5h4"],
  [
    "help",
    "M6 6a2 2 0 1 1 2.6 1.9c-.4.1-.6.4-.6.8v.6m0 2v.2M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z",
  ],
  ["close", "m4 4 8 8m0-8-8 8"],
  ["chevron", "m6 4 4 4-4 4"],
  ["external", "M6.5 3.5h-3v9h9v-3M9 3h4v4m0-4L7.5 8.5"],
  ["edit", "m3 13 .5-2.5L10.5 3.5l2 2-7 7z"],
  ["copy", "M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z"],
  ["download", "M8 2.5v7m-3-3 3 3 3-3m-8 6h10"],
  ["clock", "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12zm0-9.5V8l2.5 1.5"],
  ["plus", "M8 3.5v9M3.5 8h9"],
  ["table", "M2.5 3h11v10h-11zm0 3.5h11M6.5 6.5V13"],
  ["chart", "M2.5 2.5v11h11M5.5 11V8m3 3V5m3 6V7"],
  ["dashboard", "M2.5 3h11v10h-11zM8 3v10M8 8h5.5"],
  [
    "job",
    "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0-8v2m0 8v2M2 8h2m8 0h2M3.8 3.8l1.4 1.4m5.6 5.6 1.4 1.4m0-8.4-1.4 1.4m-5.6 5.6-1.4 1.4",
  ],
  ["flow", "M2.5 3h4v3h-4zm7 7h4v3h-4zM4.5 6v5.5h5"],
  ["folder", "M2 4.5h4.5L8 6h6v7H2z"],
  ["user", "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-5 6a5 5 0 0 1 10 0"],
  [
    "group",
    "M6 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm-4 5.5a4 4 0 0 1 8 0m0-9.3a2 2 0 0 1 0 3.6M11.5 9a4 4 0 0 1 2.5 4",
  ],
  ["tag", "M2.5 2.500h5l6 6-5 5-6-6zM5.5 5.500v.1"],
  ["domain", "m8 2 5.5 3v6L8 14l-5.5-3V5zm0 6 5.5-3M8 8v6M8 8 2.5 5"],
  ["term", "M3.5 2.500h8a1 1 0 0 1 1 1v10h-8a1 1 0 0 1-1-1zm0 9h9M6 5.500h4"],
  ["product", "M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM5.2 3.500l5.6 3.100v2.5"],
  [
    "model",
    "M8 4.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zm-5 10a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zm10 0a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM7.3 4.300l-3.6 7.400m5-7.4 3.6 7.400M4.5 13h7",
  ],
  ["document", "M4 2h5.500L12.5 5v9H4zm5 0v3.500h3.500M6 8.500h4.500M6 11h4.5"],
  [
    "platform",
    "M3 4.500c0-1.1 2.2-2 5-2s5 .9 5 2-2.2 2-5 2-5-.9-5-2zm0 0v7c0 1.1 2.2 2 5 2s5-.9 5-2v-7M3 8c0 1.1 2.2 2 5 2s5-.9 5-2",
  ],
  ["entity", "M8 2.5 13.5 8 8 13.5 2.5 8z"],
  ["column", "M6 2.500h4v11H6z"],
  ["key", "M5.5 10a2.5 2.5 0 1 1 2.3-3.500H13.500v2H12V10h-2V8.500H7.800A2.5 2.5 0 0 1 5.5 10z"],
  ["play", "M4.5 3v10l8-5z"],
  ["pause", "M5 3.500v9m6-9v9"],
  ["undo", "M3 6h6.500a3.5 3.5 0 0 1 0 7H6M3 6l3-3M3 6l3 3"],
  [
    "link",
    "M6.5 9.5 9.5 6.500M7.5 5 9 3.500a2.5 2.5 0 0 1 3.5 3.500L11 8.500m-6-1L3.5 9A2.5 2.5 0 0 0 7 12.500L8.5 11",
  ],
]);

export function Icon({ name }: { readonly name: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={paths.get(name) ?? paths.get("entity") ?? ""}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

const iconsOfTypes = new Map<string, string>([
  ["dataset", "table"],
  ["chart", "chart"],
  ["dashboard", "dashboard"],
  ["dataJob", "job"],
  ["dataFlow", "flow"],
  ["container", "folder"],
  ["corpuser", "user"],
  ["corpGroup", "group"],
  ["tag", "tag"],
  ["domain", "domain"],
  ["glossaryTerm", "term"],
  ["glossaryNode", "folder"],
  ["dataProduct", "product"],
  ["dataPlatform", "platform"],
  ["dataPlatformInstance", "platform"],
  ["document", "document"],
  ["schemaField", "column"],
  ["dataProcessInstance", "play"],
]);

const iconOfType = (type: string): string =>
  iconsOfTypes.get(type) ?? (type.startsWith("ml") ? "model" : "entity");

/** A color of its own for each text, as a hue. */
export function hueOf(text: string): number {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hash;
}

interface GlyphProps {
  readonly type: string;
  readonly large?: boolean;
}

/** The icon of an entity type on a square of its color. */
export const TypeGlyph = ({ type, large = false }: GlyphProps) => (
  <span
    className={large ? "glyph large" : "glyph"}
    style={{ "--hue": hueOf(type) } as React.CSSProperties}
  >
    <Icon name={iconOfType(type)} />
  </span>
);

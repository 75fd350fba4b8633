/**
 * Applies the house rules to files that it is given as text. Pure, so that it can be shown bad
 * files; tidy.test.ts reads the real ones.
 */
import { posix } from "node:path";
import {
  adapterMayImport,
  directions,
  drivers,
  emptyNames,
  fileLinesMax,
  firstWords,
  keptNames,
  longFiles,
  mayOpenAdapters,
  nodeDrivers,
  pageColumnsMax,
  registries,
  replacedWords,
  replacements,
  sharedTypeNames,
  smallFileLinesMax,
  testedExports,
  textRules,
  topLevel,
} from "./tree-rules.ts";

export interface SourceFile {
  /** From the project's folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** `src/core/decide.ts:12: …, so …` */
export type Finding = string;

export function tidy(file: SourceFile): readonly Finding[] {
  return [
    ...checkName(file),
    ...checkShape(file),
    ...checkText(file),
    ...checkWords(file),
    ...checkImports(file),
  ];
}

/** Files that comments name are among these paths; `core/urn.ts` and `urn.ts` name `src/core/urn.ts`. */
export function checkMentions(file: SourceFile, paths: readonly string[]): readonly Finding[] {
  return file.text.split("\n").flatMap((line, n) => {
    if (!/^\s*(\/\/|\/?\*)/.test(line)) return [];
    const named = line.matchAll(/(?<![\w*./-])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.ts\b/g);
    return [...named].flatMap(([name]) =>
      paths.some((path) => path === name || path.endsWith(`/${name}`))
        ? []
        : [`${file.path}:${n + 1}: names "${name}", which is not there`],
    );
  });
}

/** Links of a page to other pages, and to their headings, as GitHub names these. */
export function checkLinks(
  page: SourceFile,
  textOf: (path: string) => string | undefined,
): readonly Finding[] {
  const links = page.text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
  return [...links].flatMap(([, to = "", heading]) => {
    const path = to === "" ? page.path : posix.join(posix.dirname(page.path), to);
    const text = to === "" ? page.text : textOf(path);
    if (text === undefined) return [`${page.path}: leads to "${to}", which is not there`];
    if (heading === undefined || headingsOf(text).has(heading)) return [];
    return [`${page.path}: leads to "${path}#${heading}", which is no heading`];
  });
}

/** Lines of a page that are too long, and words that the glossary replaces. Code and tables may be long. */
export function checkProse({ path, text }: SourceFile): readonly Finding[] {
  let inCode = false;
  return text.split("\n").flatMap((line, n) => {
    const fence = line.trimStart().startsWith("```");
    if (fence) inCode = !inCode;
    if (fence || inCode || line.startsWith("    ")) return [];
    const place = `${path}:${n + 1}`;
    const [word] = replacedWords.exec(line.replaceAll(/`[^`]*`/g, "")) ?? [];
    return [
      ...(line.length > pageColumnsMax && !line.startsWith("|")
        ? [`${place}: has ${line.length} columns of at most ${pageColumnsMax}`]
        : []),
      ...(word === undefined ? [] : [`${place}: "${word}": use a word of docs/glossary.md`]),
    ];
  });
}

/** Exported functions, classes and constants of sources that no other source imports. */
export function checkExports(files: readonly SourceFile[]): readonly Finding[] {
  const sources = files.filter(({ path }) => !path.startsWith("test/"));
  const imported = new Set(sources.flatMap(importedNames));
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !imported.has(`${path}#${name}`) && !imported.has(path))
      .filter((name) => !/Max$/.test(name) && !testedExports.has(`${path}#${name}`))
      .map((name) => `${path}: exports "${name}", which no other source imports`),
  );
}

/** `path#name` of each named import; the path alone of a file that is imported whole. */
function importedNames({ path, text }: SourceFile): readonly string[] {
  const targetOf = (from: string): string => posix.join(posix.dirname(path), from);
  const named = text.matchAll(
    /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"|\{([^{}]*)\} = (?:\(\s*)?await import\(\s*"(\.[^"]+)"/gm,
  );
  const whole = text.matchAll(
    /^(?:import|export) (?:type )?\* (?:as \w+ )?from "(\.[^"]+)"|(?<!= (?:\(\s*)?await )\bimport\(\s*"(\.[^"]+)"|new URL\(\s*"([^"]+\.ts)"/gm,
  );
  return [
    ...[...named].flatMap(([, names = "", from = "", lateNames = names, lateFrom = from]) =>
      lateNames
        .split(",")
        .map(
          (one) =>
            one
              .trim()
              .replace(/^type /, "")
              .split(/\s|:/)[0],
        )
        .map((name) => `${targetOf(lateFrom)}#${name}`),
    ),
    ...[...whole].map(([, all, late, module]) => targetOf(all ?? late ?? module ?? "")),
  ];
}

/** Types, interfaces and classes that several files export under one name. */
export function checkTypeNames(files: readonly SourceFile[]): readonly Finding[] {
  const exporters = new Map<string, string[]>();
  for (const { path, text } of files) {
    if (!/^(src|projections)\//.test(path) || /^src\/(web|client)\//.test(path)) continue;
    for (const [, name = ""] of text.matchAll(/^export (?:interface|type|class) (\w+)/gm)) {
      exporters.set(name, [...(exporters.get(name) ?? []), path]);
    }
  }
  return [...exporters].flatMap(([name, paths]) =>
    paths.length === 1 || sharedTypeNames.has(name)
      ? []
      : [`${name}: is exported by ${paths.join(" and ")}: give each a name of its own`],
  );
}

const headingsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replaceAll(/```.*?```/gs, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );

export function checkTopLevel(names: readonly string[]): readonly Finding[] {
  return names
    .filter((name) => !name.startsWith(".") && !topLevel.includes(name))
    .map((name) => `${name}: does not belong at the top`);
}

export function checkPackage(
  packageJson: {
    readonly version: string;
    readonly [dependencies: string]: unknown;
  },
  changelog: string,
): readonly Finding[] {
  const pinned = ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
    Object.entries(packageJson[kind] ?? {})
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))
      .map(([name, version]) => `package.json: "${name}" is "${version}": pin one version`),
  );
  const told = changelog.includes(`## [${packageJson.version}]`);
  return told ? pinned : [...pinned, `CHANGELOG.md: has no section "## [${packageJson.version}]"`];
}

function checkName({ path }: SourceFile): readonly Finding[] {
  const parts = path.split("/").map((part) => part.replace(/\..*$/, ""));
  const empty = parts.find((part) => emptyNames.includes(part));
  if (empty !== undefined) return [`${path}: "${empty}" says nothing: name what it holds`];
  const kebab = parts.every((part) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(part));
  return kebab ? [] : [`${path}: file names are kebab-case`];
}

function checkShape({ path, text }: SourceFile): readonly Finding[] {
  if (path.startsWith("test/")) return [];
  const findings: Finding[] = [];
  const lines = text.split("\n").length - 1;
  if (lines > fileLinesMax && !longFiles.has(path)) {
    findings.push(`${path}: has ${lines} lines of at most ${fileLinesMax}: it is two files`);
  }
  if (!/^(#!.*\n)?\/[*/]/.test(text)) {
    findings.push(`${path}:1: opens without saying what the file is for`);
  }
  return findings;
}

function checkText({ path, text }: SourceFile): readonly Finding[] {
  const lines = text.split("\n");
  const rules = textRules.filter(
    ({ except = [] }) => !except.some((place) => path.startsWith(place)),
  );
  return lines.flatMap((line, at) =>
    rules
      .filter(({ pattern, unlessExplained }) => {
        if (!pattern.test(line)) return false;
        return !(unlessExplained && (isComment(line) || isComment(lines[at - 1] ?? "")));
      })
      .map(
        ({ pattern, instead }) =>
          `${path}:${at + 1}: ${pattern.exec(line)?.[0].trim()}: ${instead}`,
      ),
  );
}

/** Titles of tests and their groups. */
const titles = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*["`][^"`]*/g;

/** Replaced words in identifiers, comments and strings, and first words of comments; in tests, in titles. */
function checkWords({ path, text }: SourceFile): readonly Finding[] {
  if (path.startsWith("test/")) {
    return [...text.matchAll(titles)].flatMap(([title]) => {
      const [word] = replacedWords.exec(title) ?? [];
      return word === undefined ? [] : [`${path}: the title of a test has "${word}"`];
    });
  }
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const place = `${path}:${at + 1}`;
    const findings: Finding[] = [];
    const [word] = replacedWords.exec(wordsOf(line)) ?? [];
    if (word !== undefined) {
      const instead = replacements[word.toLowerCase()] ?? "a word of docs/glossary.md";
      findings.push(`${place}: "${word}": write ${instead}`);
    }
    const [first] = firstWords.exec(beginningOfComment(line, lines[at - 1] ?? "")) ?? [];
    if (first !== undefined) {
      findings.push(`${place}: a comment begins with "${first}": say what the code does`);
    }
    return findings;
  });
}

/** Splits identifiers into words: `toldNumber`, `TOLD_MAX` → `told Number`, `TOLD MAX`. */
function wordsOf(line: string): string {
  const kept = keptNames.reduce(
    (rest, { name }) => rest.replaceAll(new RegExp(name, "g"), ""),
    line,
  );
  return kept.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

/** The text of a line that begins a comment; empty for other lines. */
function beginningOfComment(line: string, before: string): string {
  const [, opening, text = ""] = /^\s*(\/\*\*?|\*|\/\/)\s*(.*)$/.exec(line) ?? [];
  if (opening === undefined) return "";
  if (opening === "*") return /^\s*\/\*\*?\s*$/.test(before) ? text : "";
  return opening === "//" && /^\s*\/\//.test(before) ? "" : text;
}

const isComment = (line: string): boolean => /\/\/|^\s*\/?\*/.test(line);

/**
 * Groups of files that import each other, types included. Each finding names the files of one group;
 * loading a module with `import()` or in a thread is no dependency here.
 */
export function checkCycles(files: readonly SourceFile[]): readonly Finding[] {
  const targets = new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text)
        .filter(({ dynamic, from }) => !dynamic && from.startsWith("."))
        .map(({ from }) => posix.join(posix.dirname(path), from)),
    ]),
  );
  // A file that imports nothing of the rest is in no cycle; neither is one once its imports are gone.
  for (let before = -1; before !== targets.size; ) {
    before = targets.size;
    for (const [path, of] of targets) {
      if (!of.some((target) => targets.has(target))) targets.delete(path);
    }
  }
  return [...targets.keys()].flatMap((path) => {
    const cycle = cycleFrom(path, targets);
    return cycle === undefined
      ? []
      : [`${cycle.join(" → ")}: move what they share into one of them`];
  });
}

/**
 * Small files that only one file of their folder imports, and no test: they belong into it, unless it would
 * become too long.
 */
export function checkSmallFiles(files: readonly SourceFile[]): readonly Finding[] {
  const importers = new Map<string, { readonly path: string; readonly dynamic: boolean }[]>();
  for (const { path, text } of files) {
    for (const { from, dynamic } of importsOf(text)) {
      const target = posix.join(posix.dirname(path), from);
      importers.set(target, [...(importers.get(target) ?? []), { path, dynamic }]);
    }
  }
  const lines = new Map(files.map(({ path, text }) => [path, text.split("\n").length - 1]));
  return files.flatMap(({ path }) => {
    const [importer, ...others] = importers.get(path) ?? [];
    const own = lines.get(path) ?? 0;
    if (path.startsWith("test/") || own > smallFileLinesMax) return [];
    if (importer === undefined || others.length > 0) return [];
    if (importer.dynamic || posix.dirname(importer.path) !== posix.dirname(path)) return [];
    // A module that starts a thread runs at once: its parts are loaded before it.
    if (importers.get(importer.path)?.some(({ dynamic }) => dynamic)) return [];
    if (own + (lines.get(importer.path) ?? 0) > fileLinesMax) return [];
    if (registries.some((begins) => path.startsWith(begins))) return [];
    return [`${path}: has ${own} lines for ${importer.path} alone: move them into it`];
  });
}

/** The shortest cycle through the file, from its smallest path on; undefined for a larger path. */
function cycleFrom(
  start: string,
  targets: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const ways = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [path, way] of ways) {
    for (const target of targets.get(path) ?? []) {
      if (target === start) return [...way, start];
      if (target > start && !ways.has(target)) ways.set(target, [...way, target]);
    }
  }
  return undefined;
}

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
  /** Loaded with `import()` or in a thread. */
  readonly dynamic: boolean;
  readonly line: number;
}

function checkImports({ path, text }: SourceFile): readonly Finding[] {
  return importsOf(text).flatMap(({ from, typeOnly, line }) => {
    const target = from.startsWith(".") ? posix.join(posix.dirname(path), from) : from;
    const place = `${path}:${line}`;
    const technology = technologyOf(target);
    if (
      technology !== undefined &&
      technology !== technologyOf(path) &&
      !mayOpenAdapters.some((opener) => path.startsWith(opener))
    ) {
      return [`${place}: imports the adapter ${target}: go through its port`];
    }
    if (sameRoom(path, target)) return [];
    return allowedIn(path).some((allowed) => allows(allowed, target, typeOnly))
      ? []
      : [`${place}: imports "${target}"${typeOnly ? " (types)" : ""}, which its folder may not`];
  });
}

/** Static and dynamic imports, and modules that a worker is started with. */
function importsOf(text: string): readonly Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?[^"';]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|new URL\(\s*"(\.[^"]+\.ts)"/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    from: match[2] ?? match[3] ?? match[4] ?? match[5] ?? "",
    typeOnly: match[1] !== undefined,
    dynamic: match[4] !== undefined || match[5] !== undefined,
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/** `src/log/sqlite/schema.ts` and `src/views/graph/sqlite/schema.ts` → `sqlite` */
function technologyOf(path: string): string | undefined {
  const technology = /^src\/(?:views\/)?[^/]+\/([^/]+)\//.exec(path)?.[1];
  return technology !== undefined && technology in drivers ? technology : undefined;
}

const keyOf = (path: string): string | undefined =>
  Object.keys(directions)
    .filter((key) => path.startsWith(key))
    .sort((a, b) => b.length - a.length)[0];

/** The folder under src/ or src/views/, or the first folder. */
const roomOf = (path: string): string =>
  /^(src\/views\/[^/]+|src\/[^/]+|[^/]+)\//.exec(path)?.[1] ?? path;

const sameRoom = (path: string, target: string): boolean =>
  roomOf(path) === roomOf(target) && !target.startsWith("node:");

function allowedIn(path: string): readonly string[] {
  const technology = technologyOf(path);
  if (technology === undefined) return directions[keyOf(path) ?? ""] ?? [];
  return [...adapterMayImport, ...(drivers[technology] ?? [])];
}

function allows(allowed: string, target: string, typeOnly: boolean): boolean {
  if (allowed.startsWith("type ")) return typeOnly && target === allowed.slice("type ".length);
  if (allowed === "node:") return target.startsWith("node:") && !nodeDrivers.includes(target);
  if (allowed.endsWith("/")) return target.startsWith(allowed);
  return target === allowed || target.startsWith(`${allowed}/`);
}

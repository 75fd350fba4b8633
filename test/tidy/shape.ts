/**
 * Measures sources: lines of functions, methods of interfaces, files of folders. Pure, like tidier.ts.
 *
 * A factory returns methods that share state, so its lines count without those of the functions that
 * it contains: each function is short, and so is the code around it.
 */
import { posix } from "node:path";
import { parseSync, Visitor } from "vite";
import type { Finding, SourceFile } from "./tidier.ts";
import {
  folderFilesMax,
  functionLinesMax,
  interfaceMethodsMax,
  largeFolders,
  largeInterfaces,
  longFunctions,
} from "./tree-rules.ts";

/** Functions with too many lines of their own, and interfaces with too many methods. */
export function checkParts({ path, text }: SourceFile): readonly Finding[] {
  const lineAt = linesOf(text);
  const findings: Finding[] = [];
  const open: { inner: number }[] = [];
  const enter = () => void open.push({ inner: 0 });
  const leave = ({ start, end, id }: FunctionNode) => {
    const lines = lineAt(end) - lineAt(start) + 1;
    const own = lines - (open.pop()?.inner ?? 0);
    const around = open.at(-1);
    if (around !== undefined && lines > 2) around.inner += lines;
    const name = `${path}#${id?.name ?? ""}`;
    if (own > functionLinesMax && !longFunctions.some(({ begins }) => name.startsWith(begins))) {
      findings.push(`${path}:${lineAt(start)}: has ${own} lines of at most ${functionLinesMax}`);
    }
  };
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    TSInterfaceDeclaration({ id, body, start }) {
      const count = body.body.filter(({ type }) => type === "TSMethodSignature").length;
      if (count > interfaceMethodsMax && !largeInterfaces.has(`${path}#${id.name}`)) {
        findings.push(
          `${path}:${lineAt(start)}: ${id.name} has ${count} methods of at most ${interfaceMethodsMax}`,
        );
      }
    },
  }).visit(parseSync(path, text).program);
  return findings;
}

interface FunctionNode {
  readonly start: number;
  readonly end: number;
  readonly id?: { readonly name: string } | null;
}

/** Folders with too many files of their own. */
export function checkFolders(paths: readonly string[]): readonly Finding[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > folderFilesMax)
    .filter(([folder]) => ![...largeFolders.keys()].some((begins) => folder.startsWith(begins)))
    .map(([folder, count]) => `${folder}: has ${count} files of at most ${folderFilesMax}`);
}

/** Returns the line of an offset, counted from 1. */
function linesOf(text: string): (offset: number) => number {
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/**
 * Extracts the values at all annotated paths of an aspect in one walk: a schema with many columns is
 * walked once, not once for each annotation.
 */
import { jsonObject } from "../../src/lib/json.ts";

/** Returns the values at each path, by the path's index. Absent and null members have no value. */
type Extract = (value: unknown) => readonly (readonly unknown[] | undefined)[];

type Found = (unknown[] | undefined)[];

/** A node of the tree of paths; paths share their common beginnings. */
interface Branch {
  /** Indexes of the paths that end here. */
  readonly ends: number[];
  readonly names: Map<string, Branch>;
  items: Branch | undefined;
}

/** Takes paths of annotated-places.ts with `wholeMaps`. */
export function compileExtract(paths: readonly (readonly string[])[]): Extract {
  const root = createBranch();
  paths.forEach((path, number) => {
    let branch = root;
    for (const component of path) branch = step(branch, component);
    branch.ends.push(number);
  });
  const walk = compileWalk(root);
  return (value) => {
    const found: Found = new Array(paths.length);
    walk(value, found);
    return found;
  };
}

const createBranch = (): Branch => ({ ends: [], names: new Map(), items: undefined });

function step(branch: Branch, component: string): Branch {
  if (component === "*") {
    branch.items ??= createBranch();
    return branch.items;
  }
  const next = branch.names.get(component) ?? createBranch();
  branch.names.set(component, next);
  return next;
}

type Walk = (value: unknown, found: Found) => void;

function compileWalk({ ends, names, items }: Branch): Walk {
  const steps = [...names].map(([name, branch]) => ({ name, walk: compileWalk(branch) }));
  const each = items === undefined ? undefined : compileWalk(items);
  return (value, found) => {
    for (const number of ends) {
      const some = found[number];
      if (some === undefined) found[number] = [value];
      else some.push(value);
    }
    if (Array.isArray(value)) {
      if (each === undefined) return;
      for (const item of value) each(item, found);
    } else if (steps.length > 0 && jsonObject(value)) {
      for (const { name, walk } of steps) {
        // Safe lookup: inherited members are functions, which have no values.
        const inner = value[name];
        if (inner !== undefined && inner !== null) walk(inner, found);
      }
    }
  };
}

/** Properties of patches under random members and operations, against a simple model. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatch, type PatchRules, parsePatch } from "../../src/core/patch/patch.ts";

const rules: PatchRules = {
  keyed: {
    arrays: {
      owners: { keys: ["owner", "type"], apart: ["attribution␟source"] },
      names: [],
    },
  },
};
const stamp = { time: 0, actor: "urn:li:corpuser:mira" };

interface Owner {
  owner: string;
  type: string;
  attribution?: { source: string };
  note?: number;
}

const owner = fc
  .record({
    owner: fc.constantFrom("urn:li:corpuser:a", "urn:li:corpuser:b", "a/b~c", "urn:li:corpGroup:g"),
    type: fc.constantFrom("DATAOWNER", "NONE", "CUSTOM"),
    source: fc.constantFrom("", "urn:li:x:1", "urn:li:x:2"),
    note: fc.nat(9),
  })
  .map(
    ({ source, ...rest }): Owner => (source === "" ? rest : { ...rest, attribution: { source } }),
  );
const identity = (value: Owner) =>
  JSON.stringify([value.owner, value.type, value.attribution?.source ?? ""]);
const owners = fc.uniqueArray(owner, { selector: identity, maxLength: 12 });

const escaped = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
const pathOf = (...keys: string[]) => `/owners/${keys.map(escaped).join("/")}`;

const apply = (current: object | undefined, operations: object[]) =>
  applyPatch(current as never, parsePatch(JSON.stringify(operations), rules, "keyed"), stamp) as {
    owners: Owner[];
    names?: string[];
  };

test("adding a new member and removing it again gives the original", () => {
  fc.assert(
    fc.property(owners, owner, (members, added) => {
      fc.pre(!members.some((m) => m.owner === added.owner && m.type === added.type));
      const path = pathOf(added.owner, added.type);
      const current = { owners: members };
      const there = apply(current, [{ op: "add", path, value: added }]);
      expect(there.owners).toEqual([...members, added]);
      expect(apply(there, [{ op: "remove", path }])).toEqual(current);
    }),
  );
});

test("adding twice equals adding once, and adding one by one equals adding all at once", () => {
  fc.assert(
    fc.property(owners, owners, (members, added) => {
      const current = { owners: members };
      const operations = added.map((value) => {
        return { op: "add", path: pathOf(value.owner, value.type), value };
      });
      const once = apply(current, operations);
      expect(apply(once, operations)).toEqual(once);
      expect(operations.reduce((value, one) => apply(value, [one]), current)).toEqual(once);
    }),
  );
});

test("a list set from its map by key has the same members", () => {
  fc.assert(
    fc.property(owners, (members) => {
      const map: Record<string, Record<string, Owner[]>> = {};
      for (const member of members) {
        const types = map[member.owner] ?? {};
        map[member.owner] = types;
        types[member.type] = [...(types[member.type] ?? []), member];
      }
      const grouped = Object.values(map).flatMap((types) => Object.values(types).flat());
      const set = apply({ owners: members }, [{ op: "add", path: "/owners", value: map }]);
      expect(set.owners).toEqual(grouped);
      expect(new Set(set.owners.map(identity))).toEqual(new Set(members.map(identity)));
      // Adding group by group to an empty value gives the same list.
      const groups = Object.entries(map).map(([key, types]) => {
        return { op: "add", path: pathOf(key), value: types };
      });
      expect(apply(undefined, groups).owners ?? []).toEqual(grouped);
    }),
  );
});

test("plain texts can be added from a map and by path", () => {
  const names = fc.uniqueArray(
    fc.string({ minLength: 1 }).filter((text) => !/^(-|__proto__)$/.test(text)),
  );
  fc.assert(
    fc.property(names, (texts) => {
      const adds = texts.map((text) => ({ op: "add", path: `/names/${escaped(text)}`, value: {} }));
      const removes = texts.map((text) => ({ op: "remove", path: `/names/${escaped(text)}` }));
      fc.pre(!texts.some((text, i) => text === "constructor" && texts[i + 1] === "prototype"));
      expect(apply({ names: [] }, adds)).toEqual({ names: texts });
      expect(apply({ names: texts }, removes)).toEqual({ names: [] });
    }),
  );
});

/** The same operations on a plain list, which is scanned for each of them. */
function simple(members: Owner[], op: string, keys: string[], value: Owner): Owner[] {
  const inGroup = (m: Owner) => keys.every((key, i) => [m.owner, m.type][i] === key);
  if (op === "remove") return members.filter((member) => !inGroup(member));
  const source = (m: Owner) => m.attribution?.source ?? "";
  const like = (m: Owner) =>
    inGroup(m) && (keys.length === 2 || m.type === value.type) && source(m) === source(value);
  const gone = (m: Owner) =>
    identity(m) === identity(value) || (op === "add" ? like(m) : inGroup(m));
  const at = members.findIndex(gone);
  if (at < 0) return [...members, value];
  return members.flatMap((m, i) => (i === at ? [value] : gone(m) ? [] : [m]));
}

test("random operations have the same result on keyed members and on a plain list", () => {
  const operation = fc.record({
    op: fc.constantFrom("add", "replace", "remove"),
    value: owner,
    depth: fc.constantFrom(1, 2),
  });
  fc.assert(
    fc.property(owners, fc.array(operation, { maxLength: 15 }), (members, operations) => {
      let expected = members;
      const patch = operations.map(({ op, value, depth }) => {
        const keys = [value.owner, value.type].slice(0, depth);
        expected = simple(expected, op, keys, value);
        return { op, path: pathOf(...keys), value };
      });
      expect(apply({ owners: members }, patch).owners).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

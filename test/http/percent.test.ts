import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { decodeOnce } from "../../src/http/request/percent.ts";

/** Text in the form of Node.js for unencoded bytes: one character per byte. */
const raw = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
const text = fc.string({ unit: "grapheme" }).filter((s) => s.isWellFormed());

describe("decodeOnce", () => {
  test.each([
    ["urn%3Ali%3Atag%3Aa", "urn:li:tag:a"],
    ["a%2Fb", "a/b"],
    ["a%252Cb", "a%2Cb"],
    ["a%25252Cb", "a%252Cb"],
    ["100%", "100%"],
    ["%", "%"],
    ["%%41", "%A"],
    ["a%zzb", "a%zzb"],
    ["a%4", "a%4"],
    ["a%4gb%41", "a%4gbA"],
    ["caf%C3%A9", "café"],
    ["caf%c3%a9%zz", "café%zz"],
    ["a+b", "a+b"],
    ["%00", "\u0000"],
    ["", ""],
  ])("%s decodes to %s", (given, expected) => {
    expect(decodeOnce(given, false)).toBe(expected);
  });

  test("decodes raw bytes as UTF-8, also beside escapes", () => {
    expect(decodeOnce(raw("größe"), false)).toBe("größe");
    expect(decodeOnce(`${raw("日本")}%2F%zz`, false)).toBe("日本/%zz");
    expect(decodeOnce("日本%2F", false)).toBe("日本/");
  });

  test("decodes + as a blank only in the form encoding", () => {
    expect(decodeOnce("a+b%2Bc", true)).toBe("a b+c");
    expect(decodeOnce("a+b%2Bc", false)).toBe("a+b+c");
  });

  test.each(["%ff", "a%C3", "%ED%A0%80", "%C0%AF", raw("é").slice(0, 1)])(
    "rejects %j, which is not UTF-8",
    (given) => {
      expect(() => decodeOnce(given, false)).toThrowError(
        expect.objectContaining({ code: "malformed", message: expect.stringContaining("UTF-8") }),
      );
    },
  );

  test("inverts encodeURIComponent", () => {
    fc.assert(
      fc.property(text, (s) => {
        expect(decodeOnce(encodeURIComponent(s), false)).toBe(s);
        expect(decodeOnce(encodeURIComponent(encodeURIComponent(s)), false)).toBe(
          encodeURIComponent(s),
        );
      }),
    );
  });

  test("returns raw text without escapes unchanged", () => {
    fc.assert(
      fc.property(text, (s) => {
        const plain = s.replaceAll("%", "");
        expect(decodeOnce(raw(plain), false)).toBe(plain);
      }),
    );
  });

  test("returns well-formed text or rejects, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, form) => {
        try {
          expect(decodeOnce(Buffer.from(bytes).toString("latin1"), form).isWellFormed()).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(CatalogError);
        }
      }),
    );
  });
});

/** The encryption of stored secrets: only unchanged texts with a known key are decrypted. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretCipher } from "../../src/auth/tokens/secret-cipher.ts";

const keyOf = (id: string) => ({
  id,
  secret: Buffer.from(`${id} of thirty-two characters or more`),
});
const fileOf = (...ids: readonly string[]) => {
  const keys = ids.map(keyOf);
  const [current = keyOf("none")] = keys;
  return { file: "", current, find: (id: string) => keys.find((key) => key.id === id) };
};
const cipher = createSecretCipher(fileOf("a"));

test("a text is decrypted to itself, and encrypted differently each time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const encrypted = cipher.encrypt(text);
      expect(cipher.decrypt(encrypted)).toBe(text.toWellFormed());
      expect(cipher.encrypt(text)).not.toBe(encrypted);
    }),
  );
});

test("a changed text, and one of another key, are rejected without the secret", () => {
  const encrypted = cipher.encrypt("open sesame");
  const changed = encrypted.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  for (const bad of [changed, encrypted.slice(0, 40), "open sesame", ""]) {
    expect(() => cipher.decrypt(bad)).toThrow(/cannot be decrypted/);
  }
  expect(() => createSecretCipher(fileOf("b")).decrypt(encrypted)).toThrow(/"a" is not in/);
});

test("after a rotation the old key decrypts, and the new one encrypts", () => {
  const rotated = createSecretCipher(fileOf("b", "a"));
  expect(rotated.decrypt(cipher.encrypt("kept"))).toBe("kept");
  expect(rotated.encrypt("new")).toContain(":b:");
});

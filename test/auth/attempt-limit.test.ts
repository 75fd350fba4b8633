/** The limit of failed attempts to sign in, and the hashes of passwords. */
import { describe, expect, test } from "vitest";
import { createAttemptLimit } from "../../src/auth/rate-limits.ts";
import { createPasswordHashes } from "../../src/auth/sign-in/password-hash.ts";

const MINUTES = 60_000;

function limit() {
  let now = 0;
  const attempts = createAttemptLimit(() => now);
  return { attempts, pass: (ms: number) => (now += ms) };
}

describe("attempts", () => {
  test("attempts of one user are rejected after ten, from any address, until ten minutes have passed", () => {
    const { attempts, pass } = limit();
    const take = (i: number) => attempts.take({ user: "a", address: `198.51.100.${i}` });
    for (let i = 0; i < 10; i++) take(i);
    expect(() => take(11)).toThrow(expect.objectContaining({ code: "rate_limited" }));
    attempts.take({ user: "b", address: "198.51.100.1" });
    pass(10 * MINUTES);
    take(12);
  });

  test("attempts from one address are rejected after fifty, for any user", () => {
    const { attempts } = limit();
    const take = (user: string) => attempts.take({ user, address: "2001:db8::1" });
    for (let i = 0; i < 50; i++) take(`user ${i}`);
    expect(() => take("another")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    // Addresses of one host.
    expect(() => attempts.take({ user: "other", address: "2001:db8::2" })).toThrow();
  });

  test("successful attempts do not count", () => {
    const { attempts } = limit();
    for (let i = 0; i < 100; i++) attempts.take({ user: "a", address: "::1" })();
    attempts.take({ user: "a", address: "::1" });
  });
});

describe("a hash", () => {
  const cheap = { ln: 4, r: 8, p: 1 };

  test("a hash differs each time, names its parameters, and matches its password only", async () => {
    const hashes = createPasswordHashes(cheap);
    const [one, other] = [await hashes.hash("correct horse"), await hashes.hash("correct horse")];
    expect(one).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(other);
    expect(await hashes.verify("correct horse", one)).toBe(true);
    expect(await hashes.verify("correct horsf", one)).toBe(false);
    expect(await hashes.verify("correct horse", undefined)).toBe(false);
    expect(await hashes.verify("password", "XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg=")).toBe(
      false,
    );
  });

  test("a hash with older parameters still matches, and is outdated", async () => {
    const hash = await createPasswordHashes(cheap).hash("correct horse");
    const hashes = createPasswordHashes({ ...cheap, ln: 5 });
    expect(await hashes.verify("correct horse", hash)).toBe(true);
    expect(hashes.outdated(hash)).toBe(true);
    expect(hashes.outdated(await hashes.hash("correct horse"))).toBe(false);
  });

  test("the number of hashes computed at the same time is bounded", async () => {
    const hashes = createPasswordHashes(cheap);
    const all = Array.from({ length: 60 }, () => hashes.hash("correct horse"));
    const results = await Promise.allSettled(all);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(52);
    await hashes.hash("correct horse");
  });
});

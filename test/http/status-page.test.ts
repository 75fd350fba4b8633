import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { statusPage } from "../../src/http/docs/status-page.ts";
import type { ParkedEntity, ServiceStatus } from "../../src/jobs/operations.ts";
import { someJob, someStatus } from "./recording-operations.ts";

const empty = { jobs: [], jobsTotal: 0, parked: [], parkedTotal: 0 };
const page = (status: ServiceStatus, rest: Partial<Parameters<typeof statusPage>[0]> = {}) =>
  statusPage({ status, ...empty, ...rest });
const html = (...given: Parameters<typeof page>): string => page(...given).html ?? "";

/** The texts of the cells of each row of a section's table. */
function rowsOf(text: string, section: string): readonly (readonly string[])[] {
  const [, own = ""] = new RegExp(`<section id="${section}">(.*?)</section>`, "s").exec(text) ?? [];
  const rows = own.match(/<tr>.*?<\/tr>/gs) ?? [];
  return rows.map((row) =>
    (row.match(/<t[hd][^>]*>.*?<\/t[hd]>/gs) ?? []).map((cell) =>
      cell.replace(/<[^>]*>/g, "").trim(),
    ),
  );
}

const parked: ParkedEntity = {
  ...{ view: "graph", urn: "urn:li:tag:<script>alert(1)</script>", position: position(4_711) },
  ...{ reason: 'a "record" & more', time: 1_772_409_000_000, waiting: 3 },
};

test("the status page shows log, views, jobs and parked records", () => {
  const running = { ...someJob, state: "running", ended: undefined, counts: someJob.counts };
  const text = html(someStatus, {
    jobs: [{ ...running, state: "running", started: 1_772_409_540_000 }],
    ...{ jobsTotal: 7, parked: [parked], parkedTotal: 1 },
  });
  expect(text).toContain("Version 0.1.0, up for 1 min 26 s; as of 2026-03-02 00:00:00 UTC");
  expect(text).toContain("At position <b>126</b>, 479.2 kB on disk, growing by 13/s.");
  const [heads, aspects] = rowsOf(text, "views");
  const shown = Object.fromEntries((heads ?? []).map((head, i) => [head, aspects?.[i]]));
  expect(shown).toEqual({
    ...{ View: "aspects", State: "catching up", Position: "120", "Lag, records": "6" },
    ...{ "Lag, seconds": "0.3", Rate: "1,234/s", Parked: "0", "Verified up to": "–" },
    ...{ Generation: "2", Size: "1.1 MB" },
  });
  expect(rowsOf(text, "jobs")[1]?.slice(0, 6)).toEqual([
    ...["node:7", "truncate", "running", "3 of 3, 0/s 3 of 3, 0/s", "2026-03-01 23:59:00 UTC"],
    "1 min 0 s",
  ]);
  expect(text).toContain("the newest 1 of 7");
  expect(text).toContain('<progress max="3" value="3">');
  expect(rowsOf(text, "parked")[1]?.slice(2, 5)).toEqual(["4,711", "2026-03-01 23:50:00 UTC", "3"]);
});

test("the status page shows the progress and the rate of a rebuild", () => {
  const { aspects } = someStatus.views;
  if (aspects === undefined) throw new Error("no view");
  const rebuild = { position: position(90_000), head: position(120_000), recordsPerSecond: 15_432 };
  const text = html({ ...someStatus, views: { aspects: { ...aspects, rebuild } } });
  const [, [, state] = []] = rowsOf(text, "views");
  expect(state).toBe("catching up; rebuilt up to 90,000 of 120,000, 15,432/s");
});

test("the status page shows failures", () => {
  const { aspects } = someStatus.views;
  if (aspects === undefined) throw new Error("no view");
  const text = html({
    ...someStatus,
    ok: false,
    log: { ...someStatus.log, error: "the log is <full>" },
    views: {
      graph: { ...aspects, stalled: true },
      timeseries: { ...aspects, stale: true },
      search: { ...aspects, error: "no room", verifiedPosition: position(9), differences: 2 },
    },
  });
  expect(text).toContain("<title>Annals: not healthy</title>");
  expect(text).toContain("the log is &lt;full&gt;");
  const rows = rowsOf(text, "views");
  expect(rows[1]?.[1]).toBe("stalled");
  expect(rows[2]?.[1]).toBe("built with another model");
  expect([rows[3]?.[1], rows[3]?.[7]]).toEqual(["no room", "9 (2 differences)"]);
  expect(html(someStatus, { unread: "it is damaged" })).toContain("cannot be read: it is damaged");
});

test("the status page runs no script and loads empty, whatever values it shows", () => {
  const { contentSecurityPolicy = "", keep } = page(someStatus);
  const text = html(someStatus, {
    parked: [parked],
    jobs: [{ ...someJob, request: { urn: "<img src=x onerror=alert(1)>" }, error: "<b>" }],
  });
  expect(text).not.toMatch(/<script|<img|<link|\bon\w+=[^&]*>|javascript:|https?:/i);
  const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  expect(contentSecurityPolicy).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(text).not.toMatch(/\sstyle=/);
  expect(text).toContain('<meta http-equiv="refresh" content="5">');
  expect(keep).toBe(false);
});

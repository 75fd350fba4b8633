/**
 * The page at /status: log, views and jobs. One HTML text without scripts or external resources, which
 * reloads itself every few seconds.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { doneOf } from "../../core/job-counts.ts";
import type { Job, ParkedEntity, ServiceStatus, ViewStatus } from "../../jobs/operations.ts";
import type { ApiResponse } from "../schemas/endpoint.ts";
import { escaped } from "./docs-text.ts";

export interface StatusShown {
  readonly status: ServiceStatus;
  /** Newest first. */
  readonly jobs: readonly Job[];
  readonly jobsTotal: number;
  readonly parked: readonly ParkedEntity[];
  readonly parkedTotal: number;
  /** Error that prevents reading jobs and parked records from the log. */
  readonly unread?: string | undefined;
}

const refreshSeconds = 5;

const style = readFileSync(new URL("./status.css", import.meta.url), "utf8");
const hash = createHash("sha256").update(style).digest("base64");
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function statusPage(shown: StatusShown): ApiResponse {
  return { html: render(shown), contentSecurityPolicy, keep: false };
}

function render(shown: StatusShown): string {
  const { status, jobs, jobsTotal, parked, parkedTotal, unread } = shown;
  const { ok, version, time, uptimeSeconds } = status;
  const verdict = ok ? '<span class="well">healthy</span>' : '<span class="ill">not healthy</span>';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${refreshSeconds}">
<title>Annals: ${ok ? "healthy" : "not healthy"}</title>
<style>${style}</style>
</head>
<body>
<h1>Annals is ${verdict}</h1>
<p class="faint">Version ${escaped(version)}, up for ${span(uptimeSeconds)}; as of ${instant(time)}, refreshed every ${refreshSeconds} seconds.</p>
<main>
${renderLog(status)}
${renderViews(status)}
${unread === undefined ? `${renderJobs(jobs, jobsTotal, time)}\n${renderParked(parked, parkedTotal)}` : `<p class="ill text">Jobs and parked records cannot be read: ${escaped(unread)}</p>`}
</main>
</body>
</html>
`;
}

function renderLog({ log }: ServiceStatus): string {
  return `<section id="log"><h2>Log</h2>
<p>At position <b>${whole(log.position)}</b>, ${size(log.bytes)} on disk, growing by ${rate(log.recordsPerSecond)}.</p>
${log.error === undefined ? "" : `<p class="ill text">${escaped(log.error)}</p>`}</section>`;
}

const viewHeads = [
  ...["View", "State", "Position", "Lag, records", "Lag, seconds", "Rate", "Parked"],
  ...["Verified up to", "Generation", "Size"],
];

function renderViews({ views }: ServiceStatus): string {
  const rows = Object.entries(views).map(([name, view]) => {
    const numbers = [
      whole(view.position),
      whole(view.lagRecords),
      view.lagSeconds.toFixed(1),
      rate(view.recordsPerSecond),
      whole(view.parked),
      verified(view),
      view.generation === undefined ? "–" : whole(view.generation),
      size(view.bytes),
    ];
    return `<tr><td>${escaped(name)}</td><td class="text">${stateOf(view)}${rebuildOf(view)}</td>${numbers.map((text) => `<td class="number">${text}</td>`).join("")}</tr>`;
  });
  return section("views", "Views", viewHeads, rows, "There are no views.");
}

function stateOf({ error, stalled, stale, lagRecords }: ViewStatus): string {
  if (error !== undefined) return `<span class="ill">${escaped(error)}</span>`;
  if (stalled) return '<span class="ill">stalled</span>';
  if (stale === true) return '<span class="ill">built with another model</span>';
  return lagRecords === 0
    ? '<span class="well">up to date</span>'
    : '<span class="well">catching up</span>';
}

function rebuildOf({ rebuild }: ViewStatus): string {
  if (rebuild === undefined) return "";
  const { position, head, recordsPerSecond } = rebuild;
  return `; rebuilt up to ${whole(position)} of ${whole(head)}, ${rate(recordsPerSecond)}`;
}

function verified({ verifiedPosition, differences = 0 }: ViewStatus): string {
  if (verifiedPosition === undefined) return "–";
  const position = whole(verifiedPosition);
  if (differences === 0) return position;
  return `${position} <span class="ill">(${whole(differences)} ${differences === 1 ? "difference" : "differences"})</span>`;
}

const jobHeads = ["Job", "Kind", "State", "Progress", "Started", "Duration", "Actor", "Request"];
/** Requests are JSON; longer ones are truncated. */
const requestCharactersMax = 200;

function renderJobs(jobs: readonly Job[], total: number, now: number): string {
  const rows = jobs.map((job) => {
    const { id, kind, state, started, ended, actor, error } = job;
    const outcome =
      state === "failed" ? `<span class="ill">failed</span> ${escaped(error ?? "")}` : state;
    const request = (JSON.stringify(job.request) ?? "").slice(0, requestCharactersMax);
    const took = ((ended ?? now) - started) / 1_000;
    const texts = [
      escaped(id),
      escaped(kind),
      outcome,
      progressOf(job),
      instant(started),
      span(took),
    ];
    const cells = [...texts, escaped(actor), escaped(request)];
    return `<tr>${cells.map((cell) => `<td class="text">${cell}</td>`).join("")}</tr>`;
  });
  const title = `Jobs${total > jobs.length ? `, the newest ${jobs.length} of ${whole(total)}` : ""}`;
  return section("jobs", title, jobHeads, rows, "There are no jobs yet.");
}

function progressOf({ counts, perSecond }: Job): string {
  const { total } = counts;
  const done = doneOf(counts);
  if (total === 0) return whole(done);
  const text = `${whole(done)} of ${whole(total)}, ${rate(perSecond)}`;
  return `<progress max="${total}" value="${Math.min(done, total)}">${text}</progress> ${text}`;
}

const parkedHeads = ["View", "Entity", "Position", "Since", "Waiting records", "Cause"];

function renderParked(parked: readonly ParkedEntity[], total: number): string {
  const rows = parked.map(({ view, urn, position, time, waiting, reason }) => {
    const cells = [view, urn, whole(position), instant(time), whole(waiting), reason];
    return `<tr>${cells.map((cell) => `<td class="text">${escaped(cell)}</td>`).join("")}</tr>`;
  });
  const title = `Parked${total > parked.length ? `, the first ${parked.length} of ${whole(total)}` : ""}`;
  return section("parked", title, parkedHeads, rows, "Nothing is parked.");
}

function section(
  id: string,
  title: string,
  heads: readonly string[],
  rows: readonly string[],
  empty: string,
): string {
  const body =
    rows.length === 0
      ? `<p class="faint">${empty}</p>`
      : `<div class="scroll"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`;
  return `<section id="${id}"><h2>${escaped(title)}</h2>${body}</section>`;
}

const whole = (count: number): string => count.toLocaleString("en");
const instant = (millis: number): string =>
  new Date(millis)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
const rate = (perSecond: number): string =>
  `${perSecond < 10 && perSecond > 0 ? perSecond.toFixed(1) : whole(Math.round(perSecond))}/s`;

function size(bytes: number | undefined): string {
  if (bytes === undefined) return "–";
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

function span(seconds: number): string {
  const total = Math.max(0, seconds);
  if (total < 60) return `${total.toFixed(1)} s`;
  const minutes = Math.floor(total / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(total % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

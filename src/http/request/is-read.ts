/** Requests that change nothing: their responses may fail at any point. */
import { ReadBodyHolder } from "../hooks/large-bodies.ts";
import type { Endpoint } from "../schemas/endpoint.ts";

/** `body`: as the framework has it after parsing. */
export function isRead({ method, writes, reads, changes }: Endpoint, body: unknown): boolean {
  if (method === "GET" || method === "HEAD") return true;
  const parsed = body instanceof ReadBodyHolder ? body.read.body : body;
  return reads !== undefined && writes !== true && changes?.(parsed) !== true;
}

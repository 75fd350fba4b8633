/** Schemas of arguments that several tools share. */
import { z } from "zod";

export const urn = z
  .string()
  .max(8_192)
  .describe("Urn of an entity, such as urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)");

export const entityTypes = z
  .array(z.string().max(200))
  .max(100)
  .optional()
  .describe(
    'Entity types, such as "dataset", "dashboard", "dataJob", "glossaryTerm"; all if absent',
  );

export const start = z.int().min(0).max(10_000).default(0).describe("Number of results to skip");

export const count = (standard: number, max: number) =>
  z.int().min(1).max(max).default(standard).describe(`Maximum number of results, ${max} at most`);

export const maxCharacters = z
  .int()
  .min(100)
  .max(1_000_000)
  .default(8_000)
  .describe("Longer values are replaced by their size and beginning");

export const isoTimeText = z.string().max(60);

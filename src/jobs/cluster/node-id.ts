/** The node id: names a data directory in the ids of its jobs, `<node_id>:<number>` (interface 2.5). */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { keepText } from "../../config/secret-text.ts";
import { CatalogError } from "../../core/errors.ts";

const NODE_ID = /^[\w-]{1,100}$/;
/** 22 characters in base64url, as the node ids of Elasticsearch. */
const NODE_ID_BYTES = 16;

/** Reads or creates the id of a data directory. A copy of the directory is the same node. */
export function nodeId(data: string): string {
  const file = join(data, "node.id");
  const { text } = keepText(file, newNodeId);
  if (NODE_ID.test(text)) return text;
  throw new CatalogError("invalid", `the file "${file}" holds no id of a node`, {
    hint: "The id has letters, digits, - and _; without the file, the next start creates one",
  });
}

/** An id that does not begin with "-", which commands would read as a flag. */
export function newNodeId(): string {
  const id = randomBytes(NODE_ID_BYTES).toString("base64url");
  return id.startsWith("-") ? newNodeId() : id;
}

// An import of node:http would load all that its exports need, including fetch: 80 ms and 10 MB.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** The reason phrase of HTTP for a status; undefined for a status that it does not define. */
export const statusText = (status: number): string | undefined => STATUS_CODES[status];

import { searchOn } from "./elasticsearch-search.ts";

await searchOn("opensearch");

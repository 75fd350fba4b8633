import { searchOn } from "./elasticsearch-search.ts";

await searchOn("elasticsearch");

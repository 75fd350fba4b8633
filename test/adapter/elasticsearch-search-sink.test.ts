import { searchSinkOn } from "./elasticsearch-search.ts";

await searchSinkOn("elasticsearch");

import { timeseriesOn } from "./elasticsearch-timeseries.ts";

await timeseriesOn("opensearch");

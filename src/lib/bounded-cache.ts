/** A cache of a bounded number of entries; the one used longest ago is evicted first. */
import { LRUCache } from "lru-cache";

/** `max` of the library would allocate all entries at once, in every thread, at each start. */
export const boundedCache = <K extends {}, V extends {}>(max: number): LRUCache<K, V> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });

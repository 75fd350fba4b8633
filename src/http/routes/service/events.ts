/** /openapi/v1/events/poll: events of DataHub's topics, for clients without Kafka. */
import type { Catalog, ChangeEntry } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position } from "../../../core/position.ts";
import type { EventTexts } from "../../../feed/event-texts.ts";
import { topics } from "../../../feed/topic-names.ts";
import { dayMs } from "../../../lib/calendar.ts";
import { atLeast } from "../../request/parameters.ts";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

export interface EventsOptions {
  readonly texts: EventTexts;
}

type Query = {
  readonly topic: string;
  readonly offsetId?: string;
  readonly limit?: number;
  readonly pollTimeoutSeconds?: number;
  readonly lookbackWindowDays?: number;
};

type Kind = Parameters<Catalog["pollChanges"]>[0]["kind"];

const kinds: Readonly<Record<string, Kind>> = {
  [topics.versioned]: "versioned",
  [topics.timeseries]: "timeseries",
  [topics.platformEvents]: "events",
};

const OFFSET = /^\d{1,15}$/;

export const eventsRoutes = ({ texts }: EventsOptions): readonly Endpoint[] => [
  {
    method: "GET",
    kind: "page",
    group: "changes",
    path: "/openapi/v1/events/poll",
    name: "pollEvents",
    parameters: [
      query.string("topic", "Topic of the events", { required: true, values: Object.keys(kinds) }),
      query.string(
        "offsetId",
        "Offset of the previous response. When absent, only events from now on are returned",
      ),
      query.long(
        "limit",
        "Maximum number of changes whose events are returned, 1 to 5,000; 100 when absent. Fewer if they are large",
      ),
      query.long(
        "pollTimeoutSeconds",
        "Seconds to wait while there are no events; 10 when absent, which is the maximum",
      ),
      query.long(
        "lookbackWindowDays",
        "Without an offset: number of days before now at which to start",
      ),
    ],
    async handle({ parameters, signal, caller }, { catalog, now }) {
      const asked = parameters as Query;
      const { limit, pollTimeoutSeconds, lookbackWindowDays: days } = asked;
      atLeast({ pollTimeoutSeconds, lookbackWindowDays: days }, 0);
      const {
        changes,
        events: platformEvents,
        position,
      } = await catalog.pollChanges(
        {
          kind: kindOf(asked.topic),
          after: offsetOf(asked.offsetId),
          limit,
          since: days === undefined ? undefined : now() - days * dayMs,
          waitMs: pollTimeoutSeconds === undefined ? undefined : pollTimeoutSeconds * 1_000,
          signal: signal?.(),
        },
        caller,
      );
      const values = [
        ...changes.map((one: ChangeEntry) => texts.change(one)),
        ...platformEvents.map((one) => texts.platformEvent(one)),
      ];
      const events = values.map((value) => ({ contentType: "application/json", value }));
      const offsetId = String(position);
      return { json: JSON.stringify({ offsetId, count: events.length, events }), keep: false };
    },
  },
];

function kindOf(topic: string): Kind {
  const kind = Object.hasOwn(kinds, topic) ? kinds[topic] : undefined;
  if (kind !== undefined) return kind;
  throw new CatalogError("malformed", `unknown topic "${topic.slice(0, 120)}"`, {
    hint: `There are ${Object.keys(kinds).join(", ")}`,
  });
}

function offsetOf(text: string | undefined): Position | undefined {
  if (text === undefined || text === "") return undefined;
  if (OFFSET.test(text)) return position(Number(text));
  throw new CatalogError("malformed", `offsetId is "${text.slice(0, 60)}"`, {
    hint: "Send the offset of the previous response",
  });
}

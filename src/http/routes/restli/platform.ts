/** /platform: platform events of clients. */
import type { PlatformEvent } from "../../../catalog/catalog.ts";
import {
  actionOf,
  complete,
  type Endpoint,
  integer,
  objectWith,
  type Resource,
  text,
} from "../../schemas/endpoint.ts";

export const platformResource: Resource = {
  name: "platform",
  implementation: "platform.PlatformResource",
  about: "Send events of your own to the subscribers of PlatformEvent_v1.",
};

interface Produced {
  readonly name: string;
  readonly key?: string;
  readonly event: PlatformEvent;
}

const producePlatformEvent: Endpoint = {
  ...actionOf("/platform"),
  name: "producePlatformEvent",
  body: objectWith(["name", "event"], {
    name: text("Name of the event, 1 to 255 characters"),
    key: text("Key of the message in Kafka; the name when absent"),
    event: complete({
      header: complete({
        timestampMillis: integer("Epoch milliseconds"),
      }),
      name: text("Name in the record, mostly the same"),
      payload: complete({
        value: text("Text of at most 1,000,000 bytes"),
        contentType: text("application/json, for which the text is checked, or any other"),
      }),
    }),
  }),
  writes: true,
  async handle(request, { catalog }) {
    const { name, key = name, event } = request.body as Produced;
    const { header, payload } = event;
    const { position } = await catalog.producePlatformEvent(
      {
        ...{ name: event.name, key },
        header: { timestampMillis: header.timestampMillis },
        payload: { contentType: payload.contentType, value: payload.value },
      },
      request.caller,
    );
    return { position };
  },
};

export const platformRoutes: readonly Endpoint[] = [producePlatformEvent];

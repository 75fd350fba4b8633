/** /platform: platform events of clients. */
import type { PlatformEvent } from "../../../catalog/catalog.ts";
import { complete, type Endpoint, objectWith, type Resource } from "../../schemas/endpoint.ts";

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
  method: "POST",
  kind: "action",
  path: "/platform",
  name: "producePlatformEvent",
  summary: "Send an event to the subscribers of PlatformEvent_v1",
  about:
    "Answers when the event is in the log; subscribers get it from there, in Kafka and from `/openapi/v1/events/poll`. No entity changes. With token authentication it needs the privilege Produce Platform Event.",
  body: objectWith(["name", "event"], {
    name: { type: "string", description: "Name of the event, 1 to 255 characters" },
    key: { type: "string", description: "Key of the message in Kafka; the name when absent" },
    event: complete({
      header: complete({
        timestampMillis: { type: "integer", description: "Epoch milliseconds" },
      }),
      name: { type: "string", description: "Name in the record, mostly the same" },
      payload: complete({
        value: { type: "string", description: "Text of at most 1,000,000 bytes" },
        contentType: {
          type: "string",
          description: "application/json, for which the text is checked, or any other",
        },
      }),
    }),
  }),
  writes: true,
  errors: [
    {
      code: "malformed",
      when: "the body is not JSON, or a parameter is missing or of the wrong type",
    },
    { code: "forbidden", when: "the caller lacks the privilege Produce Platform Event" },
    {
      code: "invalid",
      when: "a name, the key or the content type is empty or too long, the time is negative, or the payload is not JSON",
    },
    { code: "too_large", when: "the payload or the body is larger than allowed" },
    { code: "unavailable", when: "the log cannot be written now; try again later" },
  ],
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

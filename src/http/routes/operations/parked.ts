/** Routes of parked entities. */
import type { ParkedEntity, ParkedQuery } from "../../../jobs/operations.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import { urn } from "../../schemas/schemas.ts";
import { action, pageForm } from "./operation-forms.ts";

const viewName = text("`aspects`, `timeseries`, `graph` or `search`");
const listParked: Endpoint = {
  ...action,
  name: "listParked",
  body: {
    type: "object",
    properties: {
      view: viewName,
      ...pageForm("200"),
    },
  },
  async handle({ body }, { operations }) {
    const {
      view,
      start = 0,
      count: wanted = 20,
    } = body as {
      view?: string;
      start?: number;
      count?: number;
    };
    const page = { view, start, count: Math.min(wanted, parkedPageMax) };
    const { total, entities } = await operations.listParked(page);
    return valueResponse({ start, count: entities.length, total, parked: entities });
  },
};

const parkedPageMax = 200;

const oneParked = { ...action, body: complete({ view: viewName, urn }) } as const;

const parkedResponse = (parked: ParkedEntity | undefined): ApiResponse =>
  valueResponse({ parked: parked !== undefined, ...(parked !== undefined && { entity: parked }) });

const retryParked: Endpoint = {
  ...oneParked,
  name: "retryParked",
  writes: true,
  handle: async ({ body }, { operations }) =>
    parkedResponse(await operations.retryParked(body as ParkedQuery)),
};

const dropParked: Endpoint = {
  ...oneParked,
  name: "dropParked",
  writes: true,
  handle: async ({ body, caller }, { operations }) =>
    parkedResponse(await operations.dropParked(body as ParkedQuery, caller)),
};

export const parkedRoutes: readonly Endpoint[] = [listParked, retryParked, dropParked];

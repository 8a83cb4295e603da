import * as calls from "../../db/api/recompute.js";
import { environmentQuery, MIB, placeIn } from "./parameters.js";
import { customersQuery, differenceList, placeOfJob, preview } from "./recomputes.js";
import { adminRoute } from "./route.js";
import { newPreview, storable } from "./submitted-snapshot.js";

const NOT_FOUND = { 404: ["PREVIEW_NOT_FOUND"] };

/** Queues a preview of a snapshot that is not deployed, and deploys nothing. */
export const createPreviewRoute = adminRoute({
  operation: "create_preview",
  method: "POST",
  path: "/projects/:project/previews",
  summary: "Queue a preview of what a snapshot would change, without deploying it",
  query: environmentQuery,
  body: { schema: newPreview, bytesMax: 8 * MIB, submission: "preview" },
  answers: { 202: preview },
  refusals: { 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"], 429: ["QUOTA_EXCEEDED"] },
  answer: async ({ deps, credentials, params, query: { env }, body, ctx }) => {
    const place = placeIn(params, env);
    const { environment } = place;
    const document = await calls.createPreview(deps.sql, credentials, place, {
      ...(await storable(deps.sql, credentials, { operation: "create_preview", environment }, body.snapshot)),
      sample: body.sample ?? null,
    });
    ctx.set("Location", placeOfJob(place, "previews", document));
    return { status: 202, document };
  },
});

/** A preview with how far it has come and what came of it so far. */
export const getPreviewRoute = adminRoute({
  operation: "get_preview",
  method: "GET",
  path: "/projects/:project/previews/:preview",
  summary: "A preview, with its progress and what came of it so far",
  query: environmentQuery,
  answers: { 200: preview },
  refusals: NOT_FOUND,
  answer: async ({ deps, credentials, params, query: { env } }) => ({
    status: 200,
    document: await calls.getPreview(deps.sql, credentials, placeIn(params, env), params["preview"]!),
  }),
});

/** The customers that it would change. A page of large differences is short, and nextCursor goes on all the same. */
export const listPreviewCustomersRoute = adminRoute({
  operation: "list_preview_customers",
  method: "GET",
  path: "/projects/:project/previews/:preview/customers",
  summary: "The customers that the snapshot of a preview would change, the most telling first",
  query: customersQuery,
  answers: { 200: differenceList },
  refusals: NOT_FOUND,
  answer: async ({ deps, credentials, params, query: { env, order, ...page } }) => {
    const place = placeIn(params, env);
    return {
      status: 200,
      document: await calls.listPreviewCustomers(deps.sql, credentials, place, params["preview"]!, order, page),
    };
  },
});

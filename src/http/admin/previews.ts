import { environmentQuery, MIB } from "./parameters.js";
import { customersQuery, differenceList, placeOfJob, preview } from "./recomputes.js";
import { adminRoute } from "./route.js";
import { newPreview, storable } from "./submitted-snapshot.js";

const NOT_FOUND = { 404: ["PREVIEW_NOT_FOUND"] };

/** Previews of snapshots that are not deployed; they deploy nothing. */
export const previewRoutes = [
  adminRoute({
    operation: "create_preview",
    method: "POST",
    path: "/projects/:project/previews",
    summary: "Queue a preview of what a snapshot would change, without deploying it",
    query: environmentQuery,
    body: { schema: newPreview, bytesMax: 8 * MIB, submission: "preview" },
    answers: { 202: preview },
    refusals: { 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ deps, credentials, call, at, body, ctx }) => {
      const operation = { operation: "create_preview", environment: at.environment };
      const { snapshot, hash } = await storable(deps.sql, credentials, operation, body.snapshot);
      const document = await call("create_preview", at, snapshot, hash, body.sample);
      ctx.set("Location", placeOfJob(at, "previews", document));
      return { status: 202, document };
    },
  }),
  adminRoute({
    operation: "get_preview",
    method: "GET",
    path: "/projects/:project/previews/:preview",
    summary: "A preview, with its progress and what came of it so far",
    query: environmentQuery,
    answers: { 200: preview },
    refusals: NOT_FOUND,
    passes: ({ at, params }) => [at, params["preview"]!],
  }),
  // A page of large differences is short, and nextCursor goes on all the same.
  adminRoute({
    operation: "list_preview_customers",
    method: "GET",
    path: "/projects/:project/previews/:preview/customers",
    summary: "The customers that the snapshot of a preview would change, the most telling first",
    query: customersQuery,
    answers: { 200: differenceList },
    refusals: NOT_FOUND,
    passes: ({ at, params, query }) => [at, params["preview"]!, query.order === "customerId", query],
  }),
];

import Type, { type Static } from "typebox";
import * as calls from "../../db/calls-recomputes.js";
import { ApiError } from "../errors.js";
import { environmentQuery, KIB, listQuery, nameText, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { differenceList, recompute, recomputeList, RECOMPUTE_STATUSES } from "./schemas-recompute.js";

const newRecompute = Type.Object(
  {
    customerId: Type.Optional(nameText),
    all: Type.Optional(Type.Literal(true)),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: "^[^\\u0000]*$",
        description: "must be the id of a dry run",
        examples: ["rec_5f0c2a9e7b1d4c3a5f0c"],
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false, minProperties: 1 },
);
const nothing = Type.Object({}, { additionalProperties: false });

/** `?env=&limit=&cursor=&order=`, for the customers of a recompute or a preview. */
export const customersQuery = Type.Object(
  { ...listQuery.properties, order: Type.Enum(["weight", "customerId"], { default: "weight" }) },
  { additionalProperties: false },
);

const NOT_FOUND = { 404: ["RECOMPUTE_NOT_FOUND"] };

/** Queues a recompute; it is done when those before it are. */
export const createRecompute = adminRoute({
  operation: "create_recompute",
  method: "POST",
  path: "/projects/:project/recomputes",
  summary: "Queue a recompute of one customer or of all, or a dry run of it",
  query: environmentQuery,
  body: { schema: newRecompute, bytesMax: 16 * KIB },
  answers: { 202: recompute },
  refusals: { ...NOT_FOUND, 409: ["RECOMPUTE_NOT_A_DRY_RUN"], 429: ["QUOTA_EXCEEDED"] },
  answer: async ({ deps, credentials, params, query: { env }, body, ctx }) => {
    const place = placeIn(params, env);
    const document = await calls.createRecompute(deps.sql, credentials, place, scopeOf(body), body.dryRun ?? false);
    ctx.set("Location", placeOfJob(place, "recomputes", document));
    return { status: 202, document };
  },
});

/** The recomputes and dry runs of an environment; previews are not among them. */
export const listRecomputes = adminRoute({
  operation: "list_recomputes",
  method: "GET",
  path: "/projects/:project/recomputes",
  summary: "The recomputes and dry runs of an environment, the newest first",
  query: Type.Object(
    {
      ...listQuery.properties,
      limit: Type.Integer({ ...listQuery.properties.limit, default: 20 }),
      status: Type.Optional(Type.Enum([...RECOMPUTE_STATUSES])),
    },
    { additionalProperties: false },
  ),
  answers: { 200: recomputeList },
  answer: async ({ deps, credentials, params, query: { env, status, ...page } }) => ({
    status: 200,
    document: await calls.listRecomputes(deps.sql, credentials, placeIn(params, env), status, page),
  }),
});

/** A recompute with how far it has come and what came of it so far. */
export const getRecompute = adminRoute({
  operation: "get_recompute",
  method: "GET",
  path: "/projects/:project/recomputes/:recompute",
  summary: "A recompute, with its progress and what came of it so far",
  query: environmentQuery,
  answers: { 200: recompute },
  refusals: NOT_FOUND,
  answer: async ({ deps, credentials, params, query: { env } }) => ({
    status: 200,
    document: await calls.getRecompute(deps.sql, credentials, placeIn(params, env), params["recompute"]!),
  }),
});

/** The customers that it changes, with what changes. A page of large differences is short, and nextCursor goes on all the same. */
export const listRecomputeCustomers = adminRoute({
  operation: "list_recompute_customers",
  method: "GET",
  path: "/projects/:project/recomputes/:recompute/customers",
  summary: "The customers that a recompute changes, the most telling first",
  query: customersQuery,
  answers: { 200: differenceList },
  refusals: NOT_FOUND,
  answer: async ({ deps, credentials, params, query: { env, order, ...page } }) => {
    const place = placeIn(params, env);
    const id = params["recompute"]!;
    return {
      status: 200,
      document: await calls.listRecomputeCustomers(deps.sql, credentials, place, id, order, page),
    };
  },
});

/** Puts a recompute that was given up back into the queue; it goes on where it ended. */
export const retryRecompute = adminRoute({
  operation: "retry_recompute",
  method: "POST",
  path: "/projects/:project/recomputes/:recompute/retry",
  summary: "Go on with a recompute that was given up",
  query: environmentQuery,
  body: { schema: nothing, bytesMax: KIB },
  answers: { 202: recompute },
  refusals: { ...NOT_FOUND, 409: ["RECOMPUTE_NOT_DEAD"], 429: ["QUOTA_EXCEEDED"] },
  answer: async ({ deps, credentials, params, query: { env } }) => ({
    status: 202,
    document: await calls.retryRecompute(deps.sql, credentials, placeIn(params, env), params["recompute"]!),
  }),
});

/** Where what was queued can be looked at. @param document the job. */
export function placeOfJob(
  { project, environment }: Readonly<{ project: string; environment: string }>,
  list: "recomputes" | "previews",
  document: string,
): string {
  const { id } = JSON.parse(document) as { id: string };
  return `/projects/${encodeURIComponent(project)}/${list}/${id}?env=${environment}`;
}

/** The one scope that was chosen. Throws VALIDATION_ERROR where there is none, or more than one. */
function scopeOf({ customerId, all, from }: Static<typeof newRecompute>): calls.RecomputeOf {
  const [first, second] = Object.entries({ customerId, all, from })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  const fix = "Send exactly one of `customerId`, `all` and `from`.";
  if (first === undefined)
    throw new ApiError(400, "VALIDATION_ERROR", { message: "The body does not say what to recompute.", fix });
  if (second !== undefined) {
    const message = `\`${first}\` and \`${second}\` exclude each other.`;
    throw new ApiError(400, "VALIDATION_ERROR", { message, field: second, fix });
  }
  return from === undefined ? { customerId: customerId ?? null } : { from };
}

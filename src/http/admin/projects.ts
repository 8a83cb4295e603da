import Type from "typebox";
import { newCredential } from "../request/credentials.js";
import { adminRoute } from "./route.js";
import { count, countOf, environment, exact, instant, listOf, mapOf, named, orNull, versionName } from "./schemas.js";
import { displayName, environmentQuery, KIB, pageQuery } from "./parameters.js";
import { quartiles } from "./journeys.js";
import { pastQuery, requestedInstant } from "./time-travel.js";

export const createdProject = named("CreatedProject", {
  project: exact({ slug: Type.String(), name: Type.String(), createdAt: instant }),
  keys: exact(
    { test: Type.String({ examples: ["svc_test_…"] }), live: Type.String({ examples: ["svc_live_…"] }) },
    { description: "The ingestion keys. They cannot be retrieved again." },
  ),
});

const activeVersion = exact({
  activeVersion: orNull(versionName, "Null before the first deploy."),
  activatedAt: orNull(instant),
});

export const project = named("Project", {
  slug: Type.String(),
  name: Type.String(),
  createdAt: instant,
  environments: exact({ test: activeVersion, live: activeVersion }),
});

export const overview = named("Overview", {
  environment,
  configVersion: orNull(versionName, "The active version."),
  customers: count,
  customersDue: count,
  customersSetAside: count,
  events: exact({
    accepted: count,
    pending: countOf("Operations that wait for evaluation."),
    ahead: countOf("Those of them whose time is in the future."),
  }),
  lifecycle: Type.Array(exact({ state: Type.String(), customers: count, everEntered: count })),
  segments: Type.Array(exact({ segment: Type.String(), members: count })),
  webhooks: exact({ delivered: count, pending: count, failed: count }, { description: "Deliveries by status." }),
  emissions: mapOf(count, "Number of emissions by type."),
});

export const population = named(
  "Population",
  "The customers of an environment at an instant: states, segments and health.",
  {
    environment,
    at: instant,
    recomputedAt: orNull(
      instant,
      "When the last recompute of all customers ended, or now while one is under way, if that is after `at`; otherwise null. A recompute keeps only " +
        "the last membership of a segment and the present score, so segments and health then count only customers whose record begins at or before `at`.",
    ),
    customers: countOf("Customers that existed at `at`."),
    lifecycle: Type.Array(exact({ state: Type.String(), customers: count })),
    segments: Type.Array(exact({ segment: Type.String(), members: count })),
    health: exact({
      scored: countOf("Customers with a health score."),
      average: orNull(Type.Number()),
      quartiles: orNull(quartiles),
      bands: mapOf(count, "Customers by health band."),
    }),
  },
);

const newProject = exact({
  name: displayName,
  slug: Type.String({
    pattern: "^[a-z0-9][a-z0-9-]{0,62}$",
    description: "must be 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen",
  }),
});

/** Projects, and figures of an environment. */
export const projectRoutes = [
  adminRoute("list_projects", "GET /projects", {
    summary: "List the projects of the organization",
    query: pageQuery,
    answers: { 200: listOf(project) },
  }),
  adminRoute("create_project", "POST /projects", {
    summary: "Create a project with its two environments and a key for each",
    body: { schema: newProject, bytesMax: 16 * KIB },
    answers: { 201: createdProject },
    refusals: { 409: ["SLUG_TAKEN"] },
    answer: async ({ call, body }) => {
      const test = newCredential("test");
      const live = newCredential("live");
      const project = await call("create_project", body, { test, live });
      return { project: JSON.parse(project) as object, keys: { test: test.text, live: live.text } };
    },
  }),
  adminRoute("get_project", "GET /projects/:project", {
    summary: "Get a project with the active versions of its environments",
    answers: { 200: project },
  }),
  adminRoute("get_overview", "GET /projects/:project/overview", {
    summary: "Get the figures of an environment: customers, events, segments, deliveries",
    answers: { 200: overview },
    // Reads all emissions and deliveries.
    scan: true,
  }),
  adminRoute("get_population", "GET /projects/:project/population", {
    summary: "Count the customers of an environment by state, segment and health at an instant, by the present records",
    query: exact({ ...environmentQuery.properties, ...pastQuery }),
    answers: { 200: population },
    // Reads the logs of all customers.
    scan: true,
    passes: ({ at, query }) => [at, requestedInstant(query.at)],
  }),
];

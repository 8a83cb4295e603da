import Type from "typebox";
import { newApiKey } from "../request/credentials.js";
import { displayName, environmentQuery, KIB, pageQuery } from "./parameters.js";
import { adminRoute } from "./route.js";
import { count, environmentName, exact, instant, listOf, mapOf, orNull, version } from "./schemas-common.js";

export const createdProject = exact(
  {
    project: exact({ slug: Type.String(), name: Type.String(), createdAt: instant }),
    keys: exact(
      { test: Type.String({ examples: ["svc_test_…"] }), live: Type.String({ examples: ["svc_live_…"] }) },
      { description: "The ingestion keys. They are shown here and nowhere else, ever." },
    ),
  },
  { title: "CreatedProject" },
);

const activeVersion = exact({
  activeVersion: orNull(version, "Null before the first deploy."),
  activatedAt: orNull(instant),
});

export const project = exact(
  {
    slug: Type.String(),
    name: Type.String(),
    createdAt: instant,
    environments: exact({ test: activeVersion, live: activeVersion }),
  },
  { title: "Project" },
);

const projectList = listOf(project);

export const overview = exact(
  {
    environment: environmentName,
    configVersion: orNull(version, "The active version."),
    customers: count,
    customersDue: count,
    customersSetAside: count,
    events: exact({
      accepted: count,
      pending: Type.Integer({ minimum: 0, description: "Operations that wait for evaluation." }),
      ahead: Type.Integer({ minimum: 0, description: "Those of them that occur later than now." }),
    }),
    lifecycle: Type.Array(exact({ state: Type.String(), customers: count, everEntered: count })),
    segments: Type.Array(exact({ segment: Type.String(), members: count })),
    webhooks: exact({ delivered: count, pending: count, failed: count }, { description: "Deliveries by status." }),
    emissions: mapOf(count, "How many of each type."),
  },
  { title: "Overview" },
);

const newProject = Type.Object(
  {
    name: displayName,
    slug: Type.String({
      pattern: "^[a-z0-9][a-z0-9-]{0,62}$",
      description: "must be 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen",
    }),
  },
  { additionalProperties: false },
);

/** Projects, and an environment in numbers. */
export const projectRoutes = [
  adminRoute({
    operation: "list_projects",
    method: "GET",
    path: "/projects",
    summary: "The projects of the organization",
    query: pageQuery,
    answers: { 200: projectList },
    passes: ({ query }) => [query],
  }),
  // The keys are in this answer and nowhere else, ever.
  adminRoute({
    operation: "create_project",
    method: "POST",
    path: "/projects",
    summary: "Create a project with its two environments and a key for each",
    body: { schema: newProject, bytesMax: 16 * KIB },
    answers: { 201: createdProject },
    refusals: { 409: ["SLUG_TAKEN"] },
    answer: async ({ call, body }) => {
      const test = newApiKey("test");
      const live = newApiKey("live");
      const project = await call("create_project", body, { test, live });
      return {
        status: 201,
        document: { project: JSON.parse(project) as object, keys: { test: test.text, live: live.text } },
      };
    },
  }),
  adminRoute({
    operation: "get_project",
    method: "GET",
    path: "/projects/:project",
    summary: "A project with what is active in its environments",
    answers: { 200: project },
    passes: ({ params }) => [params["project"]!],
  }),
  adminRoute({
    operation: "get_overview",
    method: "GET",
    path: "/projects/:project/overview",
    summary: "An environment in numbers",
    query: environmentQuery,
    answers: { 200: overview },
    passes: ({ at }) => [at],
  }),
];

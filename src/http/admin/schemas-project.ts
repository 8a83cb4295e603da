import Type from "typebox";
import { count, environmentName, exact, instant, listOf, orNull, version } from "./schemas-common.js";

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

export const projectList = listOf(project);

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
    emissions: Type.Object({}, { additionalProperties: count, description: "How many of each type." }),
  },
  { title: "Overview" },
);

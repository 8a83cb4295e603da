import type { Route } from "../route.js";
import { deployConfig, listConfigVersions } from "./config-versions.js";
import { getBacklog, getCustomer, getTimeline, listCustomers, releaseCustomer, releaseCustomers } from "./customers.js";
import { createProject, getOverview } from "./projects.js";
import type { AdminDeps } from "./route.js";
import { listSchemaViolations } from "./schema-violations.js";
import { getSegment } from "./segments.js";
import { createWebhook, listDeliveries, listWebhooks } from "./webhooks.js";
import { whoami } from "./whoami.js";

export type { AdminDeps } from "./route.js";

/** The administrative API. Who may do what is decided in the database (iam.required_role). */
export function adminRoutes(deps: AdminDeps): Route[] {
  return [
    whoami,
    createProject,
    getOverview,
    deployConfig,
    listConfigVersions,
    listCustomers,
    getCustomer,
    getTimeline,
    getBacklog,
    releaseCustomer,
    releaseCustomers,
    getSegment,
    listSchemaViolations,
    createWebhook,
    listWebhooks,
    listDeliveries,
  ].map((bind) => bind(deps));
}

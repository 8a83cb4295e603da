import type { Route } from "../route.js";
import { askLanguageModel } from "./ai.js";
import { eraseCustomer, exportCustomer } from "./customer-data.js";
import { getBacklog, getCustomer, getTimeline, listCustomers, releaseCustomer, releaseCustomers } from "./customers.js";
import { organizationRoutes } from "./organization/routes.js";
import { getDiagnostics } from "./diagnostics.js";
import { getExplanation, getHealth } from "./explanations.js";
import { listActivations, promoteConfig, rollbackConfig } from "./activations.js";
import { deployConfig, diffConfigVersions, getConfigVersion, listConfigVersions } from "./config-versions.js";
import { createKey, listKeys, revokeKey, rotateKey } from "./keys.js";
import { createProject, getOverview, getProject, listProjects } from "./projects.js";
import { listEvents, streamEvents } from "./events.js";
import { getJourney } from "./journeys.js";
import { createPreview, getPreview, listPreviewCustomers } from "./previews.js";
import { createRecompute, getRecompute, listRecomputeCustomers, listRecomputes, retryRecompute } from "./recomputes.js";
import { Places } from "./places.js";
import type { AdminDeps } from "./route.js";
import { listRuleExecutions } from "./rule-executions.js";
import { listSchemaViolations } from "./schema-violations.js";
import { getSegment } from "./segments.js";
import { getDelivery, getEmission, listDeliveries, resendDeliveries, resendDelivery } from "./deliveries.js";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "./webhooks.js";
import { whoami } from "./whoami.js";

export type { AdminDeps } from "./route.js";

/** How many connections administration has for itself: none of it, however long it hangs, takes one of ingestion's. */
export const ADMINISTRATION_CONNECTIONS = 8;

const WAITING_MAX = 1_000;
const WAIT_MS_MAX = 10_000;

/** The administrative API. Who may do what is decided in the database (iam.operations). */
export function adminRoutes(deps: AdminDeps): Route[] {
  const places = new Places({
    places: ADMINISTRATION_CONNECTIONS,
    placesEach: ADMINISTRATION_CONNECTIONS - 2,
    waitingMax: WAITING_MAX,
    each: WAITING_MAX / 2,
    waitMsMax: WAIT_MS_MAX,
  });
  const bound = { ...deps, places };
  return [
    whoami,
    ...organizationRoutes,
    listProjects,
    createProject,
    getProject,
    getOverview,
    listKeys,
    createKey,
    rotateKey,
    revokeKey,
    deployConfig,
    listConfigVersions,
    getConfigVersion,
    promoteConfig,
    rollbackConfig,
    diffConfigVersions,
    listActivations,
    createRecompute,
    listRecomputes,
    getRecompute,
    listRecomputeCustomers,
    retryRecompute,
    createPreview,
    getPreview,
    listPreviewCustomers,
    listCustomers,
    getCustomer,
    getTimeline,
    getBacklog,
    getHealth,
    getExplanation,
    exportCustomer,
    eraseCustomer,
    releaseCustomer,
    releaseCustomers,
    getJourney,
    getSegment,
    askLanguageModel,
    listEvents,
    streamEvents,
    listRuleExecutions,
    listSchemaViolations,
    getDiagnostics,
    createWebhook,
    listWebhooks,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    rotateWebhookSecret,
    testWebhook,
    listDeliveries,
    getDelivery,
    resendDelivery,
    resendDeliveries,
    getEmission,
  ].map((bind) => bind(bound));
}

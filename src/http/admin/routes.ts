import type { Route } from "../route.js";
import { askLanguageModel } from "./ai.js";
import {
  deployConfig,
  diffConfigVersions,
  getConfigVersion,
  listActivations,
  listConfigVersions,
  promoteConfig,
  rollbackConfig,
} from "./config-versions.js";
import { eraseCustomer, exportCustomer } from "./customer-data.js";
import { getBacklog, getCustomer, getTimeline, listCustomers, releaseCustomer, releaseCustomers } from "./customers.js";
import { getDelivery, getEmission, listDeliveries, resendDeliveries, resendDelivery } from "./deliveries.js";
import { getDiagnostics, listSchemaViolations } from "./diagnostics.js";
import { listEvents, streamEvents } from "./events.js";
import { getExplanation, getHealth } from "./explanations.js";
import { getJourney } from "./journeys.js";
import { createKey, listKeys, revokeKey, rotateKey } from "./keys.js";
import { listAuditLog } from "./organization/audit-log.js";
import {
  createInvitation,
  createPasswordReset,
  listInvitations,
  revokeInvitation,
} from "./organization/invitations.js";
import { listMembers, removeMember, updateMember } from "./organization/members.js";
import { listOrganizations, whoami } from "./organization/organizations.js";
import { createToken, listTokens, revokeToken } from "./organization/tokens.js";
import { Semaphore } from "../semaphore.js";
import { createPreview, getPreview, listPreviewCustomers } from "./previews.js";
import { createProject, getOverview, getProject, listProjects } from "./projects.js";
import { createRecompute, getRecompute, listRecomputeCustomers, listRecomputes, retryRecompute } from "./recomputes.js";
import type { AdminDeps } from "./route.js";
import { listRuleExecutions } from "./rule-executions.js";
import { getSegment } from "./segments.js";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "./webhooks.js";

/** The organization itself: people, invitations, headless tokens, audit log. */
const organizationRoutes = [
  listOrganizations,
  listMembers,
  updateMember,
  removeMember,
  createPasswordReset,
  listInvitations,
  createInvitation,
  revokeInvitation,
  listTokens,
  createToken,
  revokeToken,
  listAuditLog,
];

export type { AdminDeps } from "./route.js";

/** How many connections administration has for itself: none of it, however long it hangs, takes one of ingestion's. */
export const ADMINISTRATION_CONNECTIONS = 8;

const WAITING_MAX = 1_000;
const WAIT_MS_MAX = 10_000;

/** The administrative API. Who may do what is decided in the database (iam.operations). */
export function adminRoutes(deps: AdminDeps): Route[] {
  const calls = new Semaphore({
    places: ADMINISTRATION_CONNECTIONS,
    placesEach: ADMINISTRATION_CONNECTIONS - 2,
    waitingMax: WAITING_MAX,
    each: WAITING_MAX / 2,
    waitMsMax: WAIT_MS_MAX,
  });
  const bound = { ...deps, calls };
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

import type { Route } from "../route.js";
import { askLanguageModelRoute } from "./ai.js";
import {
  deployConfigRoute,
  diffConfigVersionsRoute,
  getConfigVersionRoute,
  listActivationsRoute,
  listConfigVersionsRoute,
  promoteConfigRoute,
  rollbackConfigRoute,
} from "./config-versions.js";
import { eraseCustomerRoute, exportCustomerRoute } from "./customer-data.js";
import {
  getBacklogRoute,
  getCustomerRoute,
  getTimelineRoute,
  listCustomersRoute,
  releaseCustomerRoute,
  releaseCustomersRoute,
} from "./customers.js";
import {
  getDeliveryRoute,
  getEmissionRoute,
  listDeliveriesRoute,
  resendDeliveriesRoute,
  resendDeliveryRoute,
} from "./deliveries.js";
import { getDiagnosticsRoute, listSchemaViolationsRoute } from "./diagnostics.js";
import { listEventsRoute, streamEventsRoute } from "./events.js";
import { getExplanationRoute, getHealthRoute } from "./explanations.js";
import { getJourneyRoute } from "./journeys.js";
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from "./keys.js";
import { listAuditLogRoute } from "./organization/audit-log.js";
import {
  createInvitationRoute,
  createPasswordResetRoute,
  listInvitationsRoute,
  revokeInvitationRoute,
} from "./organization/invitations.js";
import { listMembersRoute, removeMemberRoute, updateMemberRoute } from "./organization/members.js";
import { listOrganizationsRoute, whoamiRoute } from "./organization/organizations.js";
import { createTokenRoute, listTokensRoute, revokeTokenRoute } from "./organization/tokens.js";
import { Semaphore } from "../semaphore.js";
import { createPreviewRoute, getPreviewRoute, listPreviewCustomersRoute } from "./previews.js";
import { createProjectRoute, getOverviewRoute, getProjectRoute, listProjectsRoute } from "./projects.js";
import {
  createRecomputeRoute,
  getRecomputeRoute,
  listRecomputeCustomersRoute,
  listRecomputesRoute,
  retryRecomputeRoute,
} from "./recomputes.js";
import type { AdminDeps } from "./route.js";
import { listRuleExecutionsRoute } from "./rule-executions.js";
import { getSegmentRoute } from "./segments.js";
import {
  createWebhookRoute,
  deleteWebhookRoute,
  getWebhookRoute,
  listWebhooksRoute,
  rotateWebhookSecretRoute,
  testWebhookRoute,
  updateWebhookRoute,
} from "./webhooks.js";

/** The organization itself: people, invitations, headless tokens, audit log. */
const organizationRoutes = [
  listOrganizationsRoute,
  listMembersRoute,
  updateMemberRoute,
  removeMemberRoute,
  createPasswordResetRoute,
  listInvitationsRoute,
  createInvitationRoute,
  revokeInvitationRoute,
  listTokensRoute,
  createTokenRoute,
  revokeTokenRoute,
  listAuditLogRoute,
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
    whoamiRoute,
    ...organizationRoutes,
    listProjectsRoute,
    createProjectRoute,
    getProjectRoute,
    getOverviewRoute,
    listKeysRoute,
    createKeyRoute,
    rotateKeyRoute,
    revokeKeyRoute,
    deployConfigRoute,
    listConfigVersionsRoute,
    getConfigVersionRoute,
    promoteConfigRoute,
    rollbackConfigRoute,
    diffConfigVersionsRoute,
    listActivationsRoute,
    createRecomputeRoute,
    listRecomputesRoute,
    getRecomputeRoute,
    listRecomputeCustomersRoute,
    retryRecomputeRoute,
    createPreviewRoute,
    getPreviewRoute,
    listPreviewCustomersRoute,
    listCustomersRoute,
    getCustomerRoute,
    getTimelineRoute,
    getBacklogRoute,
    getHealthRoute,
    getExplanationRoute,
    exportCustomerRoute,
    eraseCustomerRoute,
    releaseCustomerRoute,
    releaseCustomersRoute,
    getJourneyRoute,
    getSegmentRoute,
    askLanguageModelRoute,
    listEventsRoute,
    streamEventsRoute,
    listRuleExecutionsRoute,
    listSchemaViolationsRoute,
    getDiagnosticsRoute,
    createWebhookRoute,
    listWebhooksRoute,
    getWebhookRoute,
    updateWebhookRoute,
    deleteWebhookRoute,
    rotateWebhookSecretRoute,
    testWebhookRoute,
    listDeliveriesRoute,
    getDeliveryRoute,
    resendDeliveryRoute,
    resendDeliveriesRoute,
    getEmissionRoute,
  ].map((bind) => bind(bound));
}

import { Semaphore } from "../semaphore.js";
import { askLanguageModelRoute } from "./ai.js";
import { backtestRoutes } from "./backtests.js";
import { configRoutes } from "./config-versions.js";
import { customerDataRoutes } from "./customer-data.js";
import { customerRoutes, dueRoutes, journeyRoutes, releaseRoutes, segmentRoutes } from "./customers.js";
import { deliveryRoutes, emissionRoutes } from "./deliveries.js";
import { diagnosticsRoutes } from "./diagnostics.js";
import { eventRoutes } from "./events.js";
import { explanationRoutes } from "./explanations.js";
import { historyRoutes } from "./history.js";
import { journeyFunnelRoutes } from "./journeys.js";
import { keyRoutes } from "./keys.js";
import { invitationRoutes, organizationRoutes, tokenRoutes } from "./organization.js";
import { projectRoutes } from "./projects.js";
import { quarantineRoutes } from "./quarantine.js";
import { recomputeRoutes } from "./recomputes.js";
import type { AdminDeps, OperationRoute } from "./route.js";
import { ruleExecutionRoutes } from "./rule-executions.js";
import { signalRoutes } from "./signals.js";
import { FAIRLY } from "./slow-work.js";
import { traitRoutes } from "./traits.js";
import { transitionRoutes, trendRoutes } from "./trends.js";
import { webhookRoutes } from "./webhooks.js";

/** The number of connections for administration. They are separate, so that administrative calls that hang take none from ingestion. */
export const ADMINISTRATION_CONNECTIONS = 8;

const WAITING_MAX = 1_000;

/** The administrative API. The database (iam.operations) decides who may do what. */
export function adminRoutes(deps: AdminDeps): OperationRoute[] {
  const calls = new Semaphore({
    places: ADMINISTRATION_CONNECTIONS,
    placesEach: ADMINISTRATION_CONNECTIONS - 2,
    placesOfGroup: ADMINISTRATION_CONNECTIONS - 1,
    waitingMax: WAITING_MAX,
    each: WAITING_MAX / 2,
    waitMsMax: 10_000,
  });
  const scans = new Semaphore({
    ...FAIRLY,
    places: ADMINISTRATION_CONNECTIONS / 2,
    placesEach: ADMINISTRATION_CONNECTIONS / 4,
    reason: "Too many whole environments are being read.",
  });
  return [
    ...organizationRoutes,
    ...invitationRoutes,
    ...tokenRoutes,
    ...projectRoutes,
    ...trendRoutes,
    ...keyRoutes,
    ...configRoutes,
    ...recomputeRoutes,
    ...backtestRoutes,
    ...customerRoutes,
    ...historyRoutes,
    ...traitRoutes,
    ...dueRoutes,
    ...explanationRoutes,
    ...customerDataRoutes,
    ...releaseRoutes,
    ...journeyRoutes,
    ...journeyFunnelRoutes,
    ...segmentRoutes,
    askLanguageModelRoute,
    ...eventRoutes,
    ...quarantineRoutes,
    ...ruleExecutionRoutes,
    ...emissionRoutes,
    ...signalRoutes,
    ...transitionRoutes,
    ...diagnosticsRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
  ].map((bind) => bind({ ...deps, calls, scans }));
}

import type { ConsolePage } from "./console-page.js";
import { activatePage, previewPage, versionPage } from "./pages/version.js";
import { auditLogPage } from "./pages/audit-log.js";
import { backtestPage } from "./pages/backtest.js";
import { beginRecomputePage, recomputePage, recomputesPage } from "./pages/recomputes.js";
import { operationsPage } from "./pages/operations.js";
import { customerPage } from "./pages/customer.js";
import { customersPage } from "./pages/customers.js";
import { healthPage } from "./pages/health.js";
import { rulePage, rulesPage } from "./pages/rules.js";
import { segmentPage } from "./pages/segment.js";
import { segmentsPage } from "./pages/segments.js";
import { signalsPage } from "./pages/signals.js";
import { journeyPage, journeysPage } from "./pages/journeys.js";
import { journeyRunsPage } from "./pages/journey-runs.js";
import { lifecyclePage } from "./pages/lifecycle.js";
import { transitionsPage } from "./pages/transitions.js";
import { todayPage } from "./pages/today.js";
import { deliveriesPage } from "./pages/deliveries.js";
import { deliveryPage, resendPage } from "./pages/delivery.js";
import { emissionPage, emissionsPage } from "./pages/emissions.js";
import { eventPage, eventsPage } from "./pages/events.js";
import { invitationPage, memberPage, membersPage } from "./pages/members.js";
import { keyPage, keysPage } from "./pages/keys.js";
import { modelPage } from "./pages/model.js";
import { settingsPage } from "./pages/settings.js";
import { tokenPage, tokensPage } from "./pages/tokens.js";
import { quarantinePage, quarantinedPage } from "./pages/quarantine.js";
import { violationsPage } from "./pages/violations.js";
import { webhookPage } from "./pages/webhook.js";

/** The pages of the console, in the order of the navigation; the first is the start page. */
export const PAGES: readonly ConsolePage[] = [
  todayPage,
  customersPage,
  customerPage,
  lifecyclePage,
  transitionsPage,
  journeysPage,
  journeyPage,
  journeyRunsPage,
  segmentsPage,
  segmentPage,
  healthPage,
  rulesPage,
  rulePage,
  signalsPage,
  deliveriesPage,
  webhookPage,
  deliveryPage,
  resendPage,
  modelPage,
  versionPage,
  activatePage,
  previewPage,
  backtestPage,
  eventsPage,
  eventPage,
  violationsPage,
  quarantinePage,
  quarantinedPage,
  emissionsPage,
  emissionPage,
  operationsPage,
  recomputesPage,
  recomputePage,
  beginRecomputePage,
  auditLogPage,
  settingsPage,
  membersPage,
  memberPage,
  invitationPage,
  keysPage,
  keyPage,
  tokensPage,
  tokenPage,
];

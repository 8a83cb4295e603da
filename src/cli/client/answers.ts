// What the service answers, by the schemas that it publishes. These are types alone: nothing of the server is loaded for them.
import type { Static } from "typebox";

import type { Explanation } from "../../engine/conditions/leaf.js";
import type { backtest } from "../../http/admin/backtests.js";
import type * as config from "../../http/admin/config-versions.js";
import type * as customers from "../../http/admin/customers.js";
import type * as deliveries from "../../http/admin/deliveries.js";
import type { finding, violation } from "../../http/admin/diagnostics.js";
import type { listedEmission } from "../../http/admin/emissions.js";
import type { event } from "../../http/admin/events.js";
import type { customerExplanation, healthExplanation } from "../../http/admin/explanations.js";
import type { journeyFunnel } from "../../http/admin/journeys.js";
import type { changedKey, createdKey, key, rotatedKey } from "../../http/admin/keys.js";
import type * as invitations from "../../http/admin/organization/invitations.js";
import type * as organizations from "../../http/admin/organization/organizations.js";
import type { trends } from "../../http/admin/trends.js";
import type { createdProject, overview, population, project } from "../../http/admin/projects.js";
import type { difference, preview, recompute } from "../../http/admin/recomputes.js";
import type { quarantined } from "../../http/admin/quarantine.js";
import type { ruleExecution } from "../../http/admin/rule-executions.js";
import type { listedSignal } from "../../http/admin/signals.js";
import type * as webhooks from "../../http/admin/webhooks.js";
import type { ExplainedParts } from "../../words/explanation.js";

export type CustomerState = Static<typeof customers.customerState>;
export type ListedCustomer = Static<typeof customers.listedCustomer>;
export type Backlog = Static<typeof customers.backlog>;
export type Emission = Static<typeof customers.emission>;
export type ListedEmission = Static<typeof listedEmission>;
export type RaisedSignal = Static<typeof listedSignal>;
export type JourneyFunnel = Static<typeof journeyFunnel>;
export type EmissionDetail = Static<typeof deliveries.emissionDetail>;
export type LifecycleTransition = Static<typeof customers.transition>;
export type HealthScoreChange = Static<typeof customers.scoreChange>;
export type Journey = Static<typeof customers.journey>;
export type SegmentMember = Static<typeof customers.segmentMember>;
export type SegmentStatistics = Static<typeof customers.statistics>;
export type Event = Static<typeof event>;
export type Quarantined = Static<typeof quarantined>;
export type RuleExecution = Static<typeof ruleExecution>;

export type { Explanation };

/** What is said of the state that an explanation is about. */
export type ExplainedState = Omit<Static<typeof customerExplanation>, keyof ExplainedParts>;
/** Why a customer stands where it does: each part of the model with the conditions that are consulted now. */
export type ExplainedCustomer = ExplainedState & ExplainedParts;
export type ExplainedHealth = Omit<Static<typeof healthExplanation>, "factors"> & { factors: ExplainedParts["health"] };

export type Organization = Static<typeof organizations.organization>;
/** In whose name requests are made. */
export type Whoami = Static<typeof organizations.actor>;
export type ChangedOrganization = Static<typeof organizations.changedOrganization>;
export type Member = Static<typeof organizations.member>;
export type AccessToken = Static<typeof organizations.token>;
export type CreatedAccessToken = Static<typeof organizations.createdToken>;
export type Usage = Static<typeof organizations.usage>;
export type AuditEntry = Static<typeof organizations.auditEntry>;
export type PasswordReset = Static<typeof invitations.passwordReset>;
export type Invitation = Static<typeof invitations.invitation>;
export type CreatedInvitation = Static<typeof invitations.createdInvitation>;
export type Project = Static<typeof project>;
export type CreatedProject = Static<typeof createdProject>;
export type Overview = Static<typeof overview>;
export type Population = Static<typeof population>;
export type Trends = Static<typeof trends>;
export type Finding = Static<typeof finding>;
export type SchemaViolation = Static<typeof violation>;
export type Key = Static<typeof key>;
export type ChangedKey = Static<typeof changedKey>;
export type CreatedKey = Static<typeof createdKey>;
export type RotatedKey = Static<typeof rotatedKey>;

export type ConfigVersion = Static<typeof config.listedVersion>;
export type ConfigVersionWithSnapshot = Static<typeof config.versionWithSnapshot>;
export type ConfigDiff = Static<typeof config.versionDiff>;
export type Activation = Static<typeof config.activation>;
export type ConfigCheck = Static<typeof config.configCheck>;
export type DeployedVersion = Static<typeof config.deployed>;
export type ActivatedVersion = Static<typeof config.activated>;

type Recompute = Static<typeof recompute>;
type Preview = Static<typeof preview>;
/** A recompute, a dry run or a preview, with what only one of them has. */
export type RecomputeJob = Omit<Recompute, "customerId"> &
  Partial<Pick<Recompute, "customerId">> &
  Partial<Pick<Preview, "sample" | "hash">>;
export type BacktestJob = Static<typeof backtest>;
/** What changes about one customer. */
export type JobDifference = Static<typeof difference>;

export type Webhook = Static<typeof webhooks.webhook>;
export type WebhookDetail = Static<typeof webhooks.webhookDetail>;
export type CreatedWebhook = Static<typeof webhooks.createdWebhook>;
export type RotatedWebhook = Static<typeof webhooks.rotatedWebhook>;
export type WebhookTest = Static<typeof webhooks.webhookTest>;
export type Delivery = Static<typeof deliveries.delivery>;
export type ResentDeliveries = Static<typeof deliveries.resent>;

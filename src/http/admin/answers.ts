// The types of the administrative API's answers, from its schemas. Only types, so that importing them loads nothing of the server.

import type { Static } from "typebox";
import type { Explanation } from "../../engine/conditions/leaf.js";
import type { backtest } from "./backtests.js";
import type * as config from "./config-versions.js";
import type * as customers from "./customers.js";
import type * as deliveries from "./deliveries.js";
import type { finding, violation } from "./diagnostics.js";
import type * as events from "./events.js";
import type { customerExplanation, healthExplanation } from "./explanations.js";
import type { historyEntry } from "./history.js";
import type * as journeys from "./journeys.js";
import type { changedKey, createdKey, key, rotatedKey } from "./keys.js";
import type * as organization from "./organization.js";
import type { createdProject, overview, population, project } from "./projects.js";
import type { difference, preview, recompute } from "./recomputes.js";
import type { quarantined, releasedOperations } from "./quarantine.js";
import type * as rules from "./rule-executions.js";
import type { listedSignal } from "./signals.js";
import type * as trends from "./trends.js";
import type * as webhooks from "./webhooks.js";
import type { ExplainedParts } from "../../words/explanation.js";

/** A page of a list. */
export interface ListPage<Item> {
  data: Item[];
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null;
}

export type CustomerState = Static<typeof customers.customerState>;
export type ListedCustomer = Static<typeof customers.listedCustomer>;
export type DueCustomer = Static<typeof customers.dueCustomer>;
export type Backlog = Static<typeof customers.backlog>;
export type Cause = Static<typeof customers.cause>;
export type HistoryEntry = Static<typeof historyEntry>;
export type Emission = Static<typeof customers.emission>;
export type ListedEmission = Static<typeof deliveries.listedEmission>;
export type EmissionDetail = Static<typeof deliveries.emissionDetail>;
export type ListedSignal = Static<typeof listedSignal>;
export type LifecycleTransition = Static<typeof customers.transition>;
export type ListedTransition = Static<typeof trends.listedTransition>;
export type TransitionTimes = Static<typeof trends.transitionTimes>;
export type HealthScoreChange = Static<typeof customers.scoreChange>;
export type JourneyDetail = Static<typeof customers.journeyDetail>;
export type JourneyFunnel = Static<typeof journeys.journeyFunnel>;
export type JourneyCounts = Static<typeof journeys.journeyCounts>;
export type JourneyTimes = Static<typeof journeys.journeyTimes>;
export type ListedRun = Static<typeof journeys.listedRun>;
export type SegmentMember = Static<typeof customers.segmentMember>;
export type PastMembers = Static<typeof customers.pastMembers>;
export type SegmentMembers = Static<typeof customers.segmentMembers>;
export type SegmentStatistics = Static<typeof customers.statistics>;
export type Event = Static<typeof events.listedEvent>;
export type EventDetail = Static<typeof events.eventDetail>;
export type Quarantined = Static<typeof quarantined>;
export type ReleasedOperations = Static<typeof releasedOperations>;
export type RuleExecution = Static<typeof rules.ruleExecution>;
export type RuleCounts = Static<typeof rules.ruleCounts>["rules"][number];

export type { Explanation };

/** The members of an explanation that describe the explained state. */
export type ExplainedState = Omit<Static<typeof customerExplanation>, keyof ExplainedParts>;
/** Explains a customer's state: each part of the model with the conditions that are evaluated in that state. */
export type ExplainedCustomer = ExplainedState & ExplainedParts;
export type ExplainedHealth = Omit<Static<typeof healthExplanation>, "factors"> & { factors: ExplainedParts["health"] };

export type Organization = Static<typeof organization.organization>;
/** The user and organization of the token. */
export type Whoami = Static<typeof organization.actor>;
export type ChangedOrganization = Static<typeof organization.changedOrganization>;
export type Member = Static<typeof organization.member>;
export type AccessToken = Static<typeof organization.token>;
export type CreatedAccessToken = Static<typeof organization.createdToken>;
export type Usage = Static<typeof organization.usage>;
export type AuditEntry = Static<typeof organization.auditEntry>;
export type PasswordReset = Static<typeof organization.passwordReset>;
export type Invitation = Static<typeof organization.invitation>;
export type CreatedInvitation = Static<typeof organization.createdInvitation>;
export type Project = Static<typeof project>;
export type CreatedProject = Static<typeof createdProject>;
export type Overview = Static<typeof overview>;
export type PopulationAt = Static<typeof population>;
export type Trends = Static<typeof trends.trends>;
export type TrendSeries = Trends["series"][number];
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

export type Recompute = Static<typeof recompute>;
export type Preview = Static<typeof preview>;
/** A recompute, a dry run or a preview; members that only some of them have are optional. */
export type RecomputeOrPreview = Omit<Recompute, "customerId"> &
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
export type DeliveryDetail = Static<typeof deliveries.deliveryDetail>;
export type DeliveryAttempt = Static<typeof deliveries.deliveryAttempt>;
export type ResentDeliveries = Static<typeof deliveries.resent>;

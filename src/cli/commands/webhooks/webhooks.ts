import type { Webhook, WebhookDetail } from "../../../http/admin/answers.js";
import { checkDurationOption } from "../../core/values.js";
import type { Context, Options, OptionValues } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import type { Out } from "../../output/out.js";
import { formatNumber, printable } from "../../../words/text.js";

/** Members that every answer with a webhook must have. */
export const WEBHOOK_MEMBERS = ["id", "url", "eventTypes", "maxEventAge", "maxConcurrency", "maxPerSecond"] as const;

type WebhookLimits = Pick<Webhook, "maxEventAge" | "maxConcurrency" | "maxPerSecond">;

type WebhookSettings = WebhookLimits &
  Pick<Webhook, "url" | "eventTypes"> &
  Partial<Pick<Webhook, "include" | "format">>;

const NONE = "none";

/** Options for the content and the format of deliveries. */
export const contentOptions = {
  format: {
    type: "text",
    choices: ["json", "slack", "teams"],
    describe: "How deliveries are written: json, or as messages for an incoming webhook of slack or teams",
  },
  include: {
    type: "list",
    describe:
      "What else to include about the customer: name, owner, renewal, url, facts, traits.<name>, separated by commas; none for nothing",
  },
} as const satisfies Options;

/** The same as members of a request; options that were not given are absent. */
export function readContent(given: OptionValues<typeof contentOptions>): Partial<Pick<Webhook, "include" | "format">> {
  const names = given.include.flatMap((list) => list.split(",")).map((name) => name.trim());
  const include = names.length === 1 && names[0] === NONE ? [] : names;
  return {
    ...(names.length === 0 ? {} : { include }),
    ...(given.format === undefined ? {} : { format: given.format }),
  };
}

/** Where the chats receive messages, which refuse anything else. */
const CHATS = [
  ["slack", /^https:\/\/hooks\.slack\.com\//],
  ["teams", /^https:\/\/[\w.-]+\.(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)[:/]/],
] as const;

/** Warns if a webhook includes members that its format cannot show, or sends to a chat in no format of it. */
export function warnOfFormat(out: Out, { url, include = [], format = "json" }: Readonly<WebhookSettings>): void {
  const [chat] = CHATS.find(([, address]) => address.test(url)) ?? [];
  if (format === "json" && chat !== undefined) {
    out.note(`warning: ${chat} refuses deliveries in the format json; change it with --format ${chat}`);
  }
  if (include.length === 0 || format === "json") return;
  const names = printable(include.join(", "));
  out.note(`warning: messages in the format ${format} do not contain ${names}: include has no effect on them`);
}

/** Options that limit the load on a receiver. */
export const limitOptions = {
  maxEventAge: {
    type: "text",
    describe: "Leave out emissions that happened longer ago, such as 7d; none for no limit",
  },
  maxConcurrency: { type: "integer", min: 1, max: 100, describe: "Maximum of concurrent deliveries" },
  maxPerSecond: { type: "text", describe: "Maximum of deliveries per second, 1 to 1000; none for no limit" },
} as const satisfies Options;

/** The limits as members of a request; those that were not given are absent. @throws {UsageError} */
export function readLimits(given: OptionValues<typeof limitOptions>): Partial<WebhookLimits> {
  const { maxEventAge, maxConcurrency, maxPerSecond } = given;
  if (maxEventAge !== NONE) checkDurationOption("--max-event-age", maxEventAge, ", or none");
  const perSecond = /^\d{1,4}$/.test(maxPerSecond ?? "") ? Number(maxPerSecond) : 0;
  if (maxPerSecond !== undefined && maxPerSecond !== NONE && (perSecond < 1 || perSecond > 1000)) {
    const fix = "give a whole number from 1 to 1000, or none";
    throw new UsageError(`--max-per-second is ${JSON.stringify(maxPerSecond)}`, fix);
  }
  return {
    ...(maxEventAge === undefined ? {} : { maxEventAge: maxEventAge === NONE ? null : maxEventAge }),
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(maxPerSecond === undefined ? {} : { maxPerSecond: maxPerSecond === NONE ? null : perSecond }),
  };
}

/** A webhook's settings by label. */
export function settingsInWords(webhook: Readonly<WebhookSettings>): Record<string, string> {
  const { url, eventTypes, ...limits } = webhook;
  return {
    URL: printable(url),
    Events: printable(eventTypes.join(", ")),
    Include: printable(includeInWords(webhook)),
    Format: printable(formatInWords(webhook)),
    Limits: limitsInWords(limits),
  };
}

/** What a delivery includes about the customer: `name, url`, `none`. */
export function includeInWords({ include = [] }: Readonly<Pick<WebhookSettings, "include">>): string {
  return include.join(", ") || NONE;
}

/** The format; `json` if the service is too old to know formats. */
export function formatInWords({ format = "json" }: Readonly<Pick<WebhookSettings, "format">>): string {
  return format;
}

/** `7d old at most, 10 at once, 50 per second`. */
export function limitsInWords({ maxEventAge, maxConcurrency, maxPerSecond }: Readonly<WebhookLimits>): string {
  return [
    ...(maxEventAge === null ? [] : [`${printable(maxEventAge)} old at most`]),
    `${formatNumber(maxConcurrency)} at once`,
    ...(maxPerSecond === null ? [] : [`${formatNumber(maxPerSecond)} per second`]),
  ].join(", ");
}

/** `enabled`, or since when it fails, or why it is disabled. */
export function statusInWords(out: Out, { disabledAt, disabledReason, failingSince }: Webhook): string {
  if (disabledAt === null) return failingSince === null ? "enabled" : `failing since ${out.at(failingSince)}`;
  const reason = printable(disabledReason ?? "unknown");
  return /^disabled/i.test(reason) ? reason : `disabled: ${reason}`;
}

/** A webhook with the number of its pending deliveries. */
export async function getWebhook({ api }: Context, webhookId: string): Promise<WebhookDetail> {
  return (await api.get<WebhookDetail>(["webhooks", webhookId], [...WEBHOOK_MEMBERS, "pending"])).data;
}

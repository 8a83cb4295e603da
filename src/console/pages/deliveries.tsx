import type { Delivery, Trends, Webhook, WebhookDetail } from "../../http/admin/answers.js";
import { formatNumber, percent, plural } from "../../words/text.js";
import { type ConsolePage, queryParam } from "../console-page.js";
import { address, Ago, Empty, PageLinks, Text, TextLink } from "../parts.js";
import { Table, type TableColumn } from "../tables.js";
import { firstDay } from "../trends.js";

const PATH = "deliveries";
/** Webhooks per page; each takes a request. */
const LIMIT = "20";

/** All webhooks, each with its status and how well it receives deliveries. */
export const deliveriesPage: ConsolePage = {
  path: PATH,
  section: "Deliveries",
  inService: true,
  async answer({ ask, query, presentation }) {
    const [{ data, nextCursor }, trends] = await Promise.all([
      ask("webhooks", { limit: LIMIT, cursor: queryParam(query, "cursor") }),
      ask("trends", { what: "deliveries", from: firstDay(7, presentation) }),
    ]);
    const webhooks = await Promise.all(data.map(({ id }) => ask("webhooks/:webhook", { webhook: id })));
    return {
      title: "Deliveries",
      body:
        webhooks.length === 0 && !query.has("cursor") ? (
          <Empty>
            There is no webhook yet, so nothing is delivered. An administrator adds one with{" "}
            <code>svc webhooks create</code>.
          </Empty>
        ) : (
          <>
            <Table name="Webhooks" rows={webhooks} columns={columnsWith(trends)} />
            <p class="hint">
              Latency and accepted attempts cover the last 24 hours, and at most the 1,000 attempts for the newest
              emissions.
            </p>
            <PageLinks path={PATH} query={query} next={nextCursor} />
          </>
        ),
    };
  },
};

const columnsWith = (trends: Trends): TableColumn<WebhookDetail>[] => [
  ["Webhook", (webhook) => <WebhookLink webhook={webhook} />],
  ["Status", (webhook) => <WebhookStatus webhook={webhook} />],
  ["Delivered in 7 days", ({ id }) => <Delivered webhookId={id} trends={trends} />, "number"],
  [
    "Attempts accepted",
    ({ lastDay: { accepted, attempts } }) =>
      attempts === 0 ? <span class="faint">no attempts</span> : percent(accepted / attempts),
    "number",
  ],
  ["Latency", (webhook) => <Latency webhook={webhook} />, "number"],
  ["Waiting", (webhook) => <PendingDeliveries webhook={webhook} />, "number"],
];

function WebhookLink({ webhook: { id, url, eventTypes } }: { webhook: WebhookDetail }) {
  return (
    <>
      <TextLink href={webhookHref(id)} text={url} />
      <br />
      <span class="faint">
        <EventTypes of={eventTypes} />
      </span>
    </>
  );
}

/** The share of finished deliveries that arrived. */
function Delivered({ webhookId, trends }: { webhookId: string; trends: Trends }) {
  const outcomes = outcomesOf(trends, webhookId);
  const delivered = outcomes.reduce((sum, day) => sum + day.delivered, 0);
  const finished = outcomes.reduce((sum, day) => sum + day.failed, delivered);
  if (finished === 0) return <span class="faint">nothing finished</span>;
  return (
    <>
      <span class={delivered < finished ? "warning" : undefined}>{percent(delivered / finished)}</span>{" "}
      <a href={`${webhookHref(webhookId, { days: "7" })}#days`}>of {formatNumber(finished)}</a>
    </>
  );
}

export function Latency({ webhook: { lastDay } }: { webhook: WebhookDetail }) {
  const { medianLatencyMs, p95LatencyMs } = lastDay;
  if (medianLatencyMs === null || p95LatencyMs === null) return <span class="faint">unknown</span>;
  return (
    <>
      {formatNumber(medianLatencyMs)}
      {"\u00a0"}ms{" "}
      <span class="faint">
        95{"\u00a0"}% within {formatNumber(p95LatencyMs)}
        {"\u00a0"}ms
      </span>
    </>
  );
}

/** The number of pending deliveries, with a link to them. */
export function PendingDeliveries({ webhook: { id, pending, oldestPendingAt } }: { webhook: WebhookDetail }) {
  if (pending === 0) return <>none</>;
  return (
    <>
      <a href={webhookHref(id, { status: "pending" })}>
        {pending >= PENDING_MAX ? `${plural(PENDING_MAX, "delivery", "deliveries")} or more` : formatNumber(pending)}
      </a>
      {oldestPendingAt === null ? null : (
        <>
          {" "}
          <span class="faint">
            oldest <Ago iso={oldestPendingAt} />
          </span>
        </>
      )}
    </>
  );
}

/** The API counts pending deliveries up to this number. */
const PENDING_MAX = 10_000;

export function webhookHref(id: string, more: Record<string, string> = {}): string {
  return address("webhook", { id, ...more });
}

export function deliveryHref(webhook: string, id: string): string {
  return address("delivery", { webhook, id });
}

/** The event types that a webhook receives. */
export function EventTypes({ of }: { of: readonly string[] }) {
  return of.includes("*") ? <>everything</> : <Text>{of.join(", ")}</Text>;
}

/** Whether a webhook is enabled, failing or disabled. */
export function WebhookStatus({ webhook }: { webhook: Webhook }) {
  const { disabledAt, disabledReason, failingSince } = webhook;
  if (disabledAt !== null) {
    return (
      <>
        <span class="critical">disabled</span>{" "}
        <span class="faint">
          <Ago iso={disabledAt} />
          {disabledReason === null ? null : (
            <>
              : <Text>{disabledReason}</Text>
            </>
          )}
        </span>
      </>
    );
  }
  if (failingSince === null) return <span class="good">enabled</span>;
  return (
    <>
      <span class="warning">failing</span>{" "}
      <span class="faint">
        no attempt has succeeded since <Ago iso={failingSince} />
      </span>
    </>
  );
}

const STATUS = { delivered: "good", failed: "critical", pending: "warning" } as const;

export function DeliveryStatus({ status }: Pick<Delivery, "status">) {
  return <span class={STATUS[status]}>{status}</span>;
}

/** Outcomes of the deliveries to a webhook by period. */
export function outcomesOf(trends: Trends, webhookId: string) {
  const valuesOf = (metric: string) =>
    trends.series.find((series) => series.webhookId === webhookId && series.metric === metric)?.values ?? [];
  const [delivered, failed] = [valuesOf("delivered"), valuesOf("failed")];
  return trends.periods.map((day, n) => ({ day, delivered: delivered[n] ?? 0, failed: failed[n] ?? 0 }));
}

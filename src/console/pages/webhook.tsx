import type { Delivery, DeliveryAttempt, ListPage, Trends, WebhookDetail } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, percent, plural, printable } from "../../words/text.js";
import { DeliveryDays } from "../charts/delivery-days.js";
import { type ConsolePage, queryParam, hasAnyParam, expectedRefusal, type Visit } from "../console-page.js";
import { Ago, At, Customer, Empty, FoundList, PageLinks, ProblemNote, Section, Text, TextLink } from "../parts.js";
import { Choose, InputField, FilterForm } from "../forms.js";
import { OuterSpace } from "../list-page.js";
import { type TableColumn, FactList, Table } from "../tables.js";
import { firstDay } from "../trends.js";
import {
  Latency,
  PendingDeliveries,
  DeliveryStatus,
  deliveryHref,
  EventTypes,
  outcomesOf,
  webhookHref,
  WebhookStatus,
} from "./deliveries.js";

const PATH = "webhook";
const LIMIT = "50";
const SPANS = [7, 30];

/** A webhook and its deliveries. */
export const webhookPage: ConsolePage = {
  path: PATH,
  list: "deliveries",
  inService: true,
  async answer(visit) {
    const { ask, query, presentation } = visit;
    const id = query.get("id") ?? "";
    const days = SPANS.find((span) => String(span) === query.get("days")) ?? 30;
    const [webhook, found, trends] = await Promise.all([
      ask("webhooks/:webhook", { webhook: id }),
      listOf(visit, id),
      ask("trends", { what: "deliveries", from: firstDay(days, presentation) }),
    ]);
    const isWrong = found instanceof ApiError;
    return {
      title: printable(webhook.url),
      ...(isWrong ? { status: found.status } : { customerIds: found.data.map(({ customerId }) => customerId) }),
      body: (
        <>
          <Head webhook={webhook} />
          <Days webhook={webhook} trends={trends} days={days} />
          <Section id="deliveries" title="Deliveries">
            <Filters query={query} webhook={webhook} />
            {isWrong ? <ProblemNote error={found} /> : <List webhookId={id} query={query} page={found} />}
          </Section>
        </>
      ),
    };
  },
};

const FILTERS = ["status", "eventType", "search"];

/** The form of ids of emissions, which are also those of deliveries. */
const DELIVERY_ID = /^emi_[0-9a-f]{16}$/;

/** The page of the list that the query asks for, or the error for an invalid query. */
async function listOf({ ask, query }: Visit, webhook: string): Promise<ListPage<Delivery> | ApiError> {
  const search = queryParam(query, "search");
  const [status, eventType] = [queryParam(query, "status"), queryParam(query, "eventType")];
  try {
    if (search !== undefined && DELIVERY_ID.test(search)) {
      const delivery = await ask("webhooks/:webhook/deliveries/:delivery", { webhook, delivery: search });
      return { data: [delivery], nextCursor: null };
    }
    // An id may begin or end with a space.
    const customer = search === undefined ? undefined : query.get("search")!;
    const filters = { status, eventType, customer, limit: LIMIT, cursor: queryParam(query, "cursor") };
    return await ask("webhooks/:webhook/deliveries", { webhook, ...filters });
  } catch (error) {
    const refused = expectedRefusal(error, "DELIVERY_NOT_FOUND");
    return refused.code === "DELIVERY_NOT_FOUND" ? { data: [], nextCursor: null } : refused;
  }
}

function Head({ webhook }: { webhook: WebhookDetail }) {
  const { id, eventTypes, include, format, createdAt, lastDay } = webhook;
  return (
    <FactList
      of={{
        Status: <WebhookStatus webhook={webhook} />,
        Waiting: <PendingDeliveries webhook={webhook} />,
        "Attempts in 24 hours":
          lastDay.attempts === 0
            ? "none"
            : `${percent(lastDay.accepted / lastDay.attempts)} of the last ${formatNumber(lastDay.attempts)} accepted`,
        Latency: <Latency webhook={webhook} />,
        Receives: <EventTypes of={eventTypes} />,
        Format: format,
        "Customer data sent":
          format !== "json" ? (
            "its name and its page"
          ) : include.length === 0 ? (
            "only its id"
          ) : (
            <Text>{`its id, ${include.join(", ")}`}</Text>
          ),
        Id: <Text>{id}</Text>,
        Since: <At iso={createdAt} />,
      }}
    />
  );
}

/** Outcomes of the deliveries by day. */
function Days({ webhook: { id }, trends, days }: { webhook: WebhookDetail; trends: Trends; days: number }) {
  const outcomes = outcomesOf(trends, id);
  return (
    <Section id="days" title={`Finished in ${days} days`}>
      {outcomes.every(({ delivered, failed }) => delivered + failed === 0) ? (
        <p class="faint">Nothing was delivered or given up.</p>
      ) : (
        <DeliveryDays days={outcomes} />
      )}
      <nav class="pages" aria-label="Period">
        {SPANS.map((span) => (
          <a
            href={`${webhookHref(id, { days: String(span) })}#days`}
            aria-current={span === days ? "true" : undefined}
            key={span}
          >
            {span} days
          </a>
        ))}
      </nav>
    </Section>
  );
}

function Filters({ query, webhook }: { query: URLSearchParams; webhook: WebhookDetail }) {
  return (
    <FilterForm
      path={`${PATH}#deliveries`}
      hidden={{ id: webhook.id }}
      all={hasAnyParam(query, FILTERS) && <a href={webhookHref(webhook.id)}>All deliveries</a>}
    >
      <Choose label="Status" name="status" query={query} choices={["pending", "delivered", "failed"]} />
      <InputField label="Event type" name="eventType" query={query} />
      <InputField label="Customer's or delivery's id" name="search" query={query} type="search" />
    </FilterForm>
  );
}

function List(props: { webhookId: string; query: URLSearchParams; page: ListPage<Delivery> }) {
  const { webhookId, query, page } = props;
  const { data, nextCursor } = page;
  return (
    <>
      <FoundList
        list={page}
        limit={Number(LIMIT)}
        none={
          <Empty>
            {hasAnyParam(query, FILTERS)
              ? "No deliveries to this webhook match these filters."
              : "Nothing has been sent to this webhook yet."}
            <OuterSpace of={query} names={["search"]} />
          </Empty>
        }
      >
        <Table name="List of deliveries" rows={data} columns={columnsOf(webhookId)} />
      </FoundList>
      <PageLinks path={PATH} query={query} next={nextCursor} />
    </>
  );
}

const columnsOf = (webhookId: string): TableColumn<Delivery>[] => [
  ["When", ({ createdAt }) => <At iso={createdAt} />],
  ["Event type", ({ id, eventType }) => <TextLink href={deliveryHref(webhookId, id)} text={eventType} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Status", (delivery) => <Status of={delivery} />],
  [
    "Last answer",
    ({ lastAttempt }) =>
      lastAttempt === null ? <span class="faint">none</span> : <AttemptOutcome attempt={lastAttempt} />,
  ],
];

function Status({ of: { status, attempts, nextAttemptAt } }: { of: Delivery }) {
  return (
    <>
      <DeliveryStatus status={status} />{" "}
      <span class="faint">
        {attempts === 0 ? null : `after ${plural(attempts, "attempt")}`}
        {nextAttemptAt === null ? null : (
          <>
            {attempts === 0 ? "" : ", "}next <Ago iso={nextAttemptAt} />
          </>
        )}
      </span>
    </>
  );
}

/** The outcome of an attempt: the status of the answer, or why there was none. */
export function AttemptOutcome({ attempt: { statusCode, error, latencyMs } }: { attempt: DeliveryAttempt }) {
  const isAccepted = statusCode !== null && statusCode >= 200 && statusCode <= 299;
  return (
    <>
      <span class={isAccepted ? undefined : "critical"}>
        {statusCode === null ? <Text>{error ?? "no answer"}</Text> : `HTTP ${statusCode}`}
      </span>{" "}
      <span class="faint">{formatNumber(latencyMs)} ms</span>
    </>
  );
}

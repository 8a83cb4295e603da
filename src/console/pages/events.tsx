import type { Event, EventDetail } from "../../http/admin/answers.js";
import {
  queryParams,
  type ConsolePage,
  expectedRefusal,
  queryParam,
  hasAnyParam,
  type Visit,
} from "../console-page.js";
import {
  address,
  At,
  Customer,
  Empty,
  eventHref,
  Document,
  Payload,
  Section,
  customerAsOfHref,
  Text,
  TextLink,
} from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, FilterForm, InputField } from "../forms.js";
import { FactList, type TableColumn } from "../tables.js";
import { printable } from "../../words/text.js";
import { usePresentation } from "../presentation.js";
import { History } from "./customer/history.js";

const LIST = "events";
const LIMIT = "50";
const TAIL_SECONDS = 5;

/** The newest events. */
export const eventsPage: ConsolePage = {
  path: LIST,
  section: "Events",
  async answer(visit) {
    const { ask, query } = visit;
    const isTail = query.get("tail") === "1";
    // A tail always shows the first page.
    const cursor = isTail ? undefined : queryParam(query, "cursor");
    const view = listView({
      path: LIST,
      title: "Events",
      query,
      filters: <Filters visit={visit} isTail={isTail} />,
      found: await ask("events", { ...queryParams(query, FILTERS), limit: LIMIT, cursor }).catch(expectedRefusal),
      limit: LIMIT,
      none: hasAnyParam(query, FILTERS)
        ? "No events match these filters."
        : "There are no events yet. One appears as soon as a backend sends it.",
      columns: COLUMNS,
      isOnePart: isTail,
    });
    return isTail && view.status === undefined ? { ...view, refreshSeconds: TAIL_SECONDS } : view;
  },
};

const FILTERS = ["type", "customer", "status", "since"] as const;

function Filters({ visit: { query, model, isService }, isTail }: { visit: Visit; isTail: boolean }) {
  const other = new URLSearchParams(
    FILTERS.flatMap((name) => (queryParam(query, name) ? [[name, query.get(name)!]] : [])),
  );
  if (!isTail) other.set("tail", "1");
  return (
    <>
      <FilterForm
        path={LIST}
        hidden={{ tail: isTail ? "1" : undefined }}
        all={hasAnyParam(query, FILTERS) && <a href={LIST}>All events</a>}
      >
        <InputField label="Name" name="type" query={query} list="names" />
        <datalist id="names">
          {Object.keys(model?.events ?? {}).map((name) => (
            <option value={name} key={name} />
          ))}
        </datalist>
        <InputField label="Customer's id" name="customer" query={query} />
        <Choose label="Status" name="status" query={query} choices={["processed", "pending"]} />
        <InputField label="Since" name="since" query={query} placeholder="24h or 2026-03-01" maxLength={64} />
      </FilterForm>
      <nav class="pages" aria-label="Events">
        {isTail ? <span role="status">This page reloads every {TAIL_SECONDS} seconds.</span> : null}
        <a href={address(LIST, other)}>{isTail ? "Stop" : "Live tail"}</a>
        <a href="violations">Schema violations</a>
        {isService ? <a href="quarantine">Quarantine</a> : null}
      </nav>
    </>
  );
}

const COLUMNS: TableColumn<Event>[] = [
  ["Occurred", ({ occurredAt }) => <At iso={occurredAt} />],
  ["Event", ({ eventId, event }) => <TextLink href={eventHref(eventId)} text={event} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Properties", ({ properties }) => <Payload value={properties} />],
  ["Status", ({ status }) => <EventStatus status={status} />],
];

function EventStatus({ status }: Pick<Event, "status">) {
  return <span class={status === "pending" ? "warning" : "faint"}>{status}</span>;
}

/** An event, and what it caused. */
export const eventPage: ConsolePage = {
  path: "event",
  list: LIST,
  async answer({ ask, query }) {
    const event = await ask("events/:event", { event: query.get("id") ?? "" });
    const { customerId, properties, caused, status } = event;
    return {
      title: printable(event.event),
      customerIds: [customerId],
      body: (
        <>
          <Head event={event} />
          <Section id="properties" title="Properties">
            {Object.keys(properties).length === 0 ? <p class="faint">none</p> : <Document of={properties} />}
          </Section>
          <Section id="caused" title="What it caused">
            {caused.length > 0 ? (
              <History entries={caused.map((entry) => ({ ...entry, cause: null }))} />
            ) : (
              <Empty>
                {status === "pending"
                  ? "It is waiting to be evaluated."
                  : "It caused no change of state or health, no run of a rule and no emission."}
              </Empty>
            )}
          </Section>
        </>
      ),
    };
  },
};

function Head({ event }: { event: EventDetail }) {
  const { eventId, event: name, customerId, occurredAt, acceptedAt, status } = event;
  return (
    <FactList
      of={{
        Customer: <Customer id={customerId} />,
        Occurred: (
          <>
            <At iso={occurredAt} />:{" "}
            <a href={customerAsOfHref(customerId, occurredAt, eventId, usePresentation().now)}>
              the customer as of that instant
            </a>
          </>
        ),
        Accepted: <At iso={acceptedAt} />,
        Status: <EventStatus status={status} />,
        "Same name": (
          <>
            <a href={address("events", { type: name })}>
              all <Text>{name}</Text>
            </a>
            , <a href={address("events", { type: name, customer: customerId })}>those of this customer</a>
          </>
        ),
        Id: eventId,
      }}
    />
  );
}

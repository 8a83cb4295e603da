import type { Event } from "../../http/admin/answers.js";
import { allGiven, type ConsolePage, given, isAnyGiven, expectedRefusal, type Visit } from "../console-page.js";
import { address, At, Customer, eventHref, Payload, TextLink } from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, InputField, FilterForm } from "../forms.js";
import { type TableColumn } from "../tables.js";

const PATH = "events";
const LIMIT = "50";
const TAIL_SECONDS = 5;

/** What comes in? The newest events. */
export const eventsPage: ConsolePage = {
  path: PATH,
  section: "Events",
  async answer(visit) {
    const { ask, query } = visit;
    const isTail = query.get("tail") === "1";
    // A tail is always the first part.
    const cursor = isTail ? undefined : given(query, "cursor");
    const view = listView({
      path: PATH,
      title: "Events",
      query,
      filters: <Head visit={visit} isTail={isTail} />,
      found: await ask("events", { ...allGiven(query, FILTERS), limit: LIMIT, cursor }).catch(expectedRefusal),
      limit: LIMIT,
      none: isAnyGiven(query, FILTERS)
        ? "No event is like this."
        : "There are no events yet. One appears as soon as a backend sends it.",
      columns: COLUMNS,
      isOnePart: isTail,
    });
    return isTail && view.status === undefined ? { ...view, refreshSeconds: TAIL_SECONDS } : view;
  },
};

const FILTERS = ["type", "customer", "status", "since"] as const;

function Head({ visit: { query, model, isService }, isTail }: { visit: Visit; isTail: boolean }) {
  const other = new URLSearchParams(FILTERS.flatMap((name) => (given(query, name) ? [[name, query.get(name)!]] : [])));
  if (!isTail) other.set("tail", "1");
  return (
    <>
      <FilterForm
        path={PATH}
        hidden={{ tail: isTail ? "1" : undefined }}
        all={isAnyGiven(query, FILTERS) && <a href={PATH}>All events</a>}
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
        {isTail ? <span role="status">The page loads itself again every {TAIL_SECONDS} seconds.</span> : null}
        <a href={address(PATH, other)}>{isTail ? "Stop" : "Live tail"}</a>
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

export function EventStatus({ status }: Pick<Event, "status">) {
  return <span class={status === "pending" ? "warning" : "faint"}>{status}</span>;
}

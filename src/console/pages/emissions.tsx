import type { ListedEmission } from "../../http/admin/answers.js";
import { allGiven, type ConsolePage, given, isAnyGiven, expectedRefusal } from "../console-page.js";
import { At, CauseLink, Customer, emissionHref, Payload, TextLink } from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, InputField, FilterForm } from "../forms.js";
import { type TableColumn } from "../tables.js";

const PATH = "emissions";
const LIMIT = "50";

/** What was said of customers: the newest emissions. */
export const emissionsPage: ConsolePage = {
  path: PATH,
  section: "Emissions",
  async answer({ ask, query }) {
    const of = { ...allGiven(query, FILTERS), limit: LIMIT, cursor: given(query, "cursor") };
    return listView({
      path: PATH,
      title: "Emissions",
      query,
      filters: <Filters query={query} />,
      found: await ask("emissions", of).catch(expectedRefusal),
      limit: LIMIT,
      none: isAnyGiven(query, FILTERS)
        ? "No emission is like this."
        : "Nothing was emitted yet. An emission comes of each change of a customer, and of rules.",
      columns: COLUMNS,
    });
  },
};

const FILTERS = ["eventType", "source", "customer", "since"] as const;
const SOURCES = ["lifecycle", "journey", "segment", "health", "rule", "signal"];

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={PATH} all={isAnyGiven(query, FILTERS) && <a href={PATH}>All emissions</a>}>
      <InputField label="Type" name="eventType" query={query} placeholder="customer.activated" />
      <Choose label="Source" name="source" query={query} choices={SOURCES} />
      <InputField label="Customer's id" name="customer" query={query} />
      <InputField label="Since" name="since" query={query} placeholder="24h or 2026-03-01" maxLength={64} />
    </FilterForm>
  );
}

const COLUMNS: TableColumn<ListedEmission>[] = [
  ["Happened", ({ timestamp }) => <At iso={timestamp} />],
  ["Type", ({ id, eventType }) => <TextLink href={emissionHref(id)} text={eventType} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Source", ({ source }) => source],
  ["By", ({ cause }) => <CauseLink cause={cause} />],
  ["Details", ({ metadata }) => <Payload value={metadata} />],
];

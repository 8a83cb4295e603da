import type { ListedCustomer } from "../../http/admin/answers.js";
import { ApiError, invalidField } from "../../http/errors.js";
import { csvLines } from "../../words/csv.js";
import { objectFromTexts } from "../../words/json-text.js";
import { formatNumber } from "../../words/text.js";
import {
  queryParams,
  type ConsolePage,
  queryParam,
  hasAnyParam,
  expectedRefusal,
  type Visit,
} from "../console-page.js";
import type { DisplayedTraits } from "../presentation.js";
import { displayedTraits, displayedColumns, displayedMembers } from "../displayed-traits.js";
import { partNames } from "../model.js";
import { address, Ago, Customer, Tags, TextLink, without } from "../parts.js";
import { listView } from "../list-page.js";
import { type ListPart, readOn } from "../read-on.js";
import { Choose, InputField, FilterForm, OneOf } from "../forms.js";
import type { TableColumn } from "../tables.js";

const PATH = "customers";
const LIMIT = "50";

const SORTS = [
  { value: "", text: "id" },
  { value: "lastEvent", text: "longest inactive" },
  { value: "lastEvent-reverse", text: "last seen" },
  { value: "health", text: "lowest health" },
  { value: "health-reverse", text: "highest health" },
];

/** All customers, filtered and sorted. */
export const customersPage: ConsolePage = {
  path: PATH,
  section: "Customers",
  async answer(visit) {
    const { query, model } = visit;
    const found = await pageOf(visit);
    return listView({
      path: PATH,
      title: "Customers",
      query,
      filters: <Filters visit={visit} />,
      found,
      limit: LIMIT,
      none: <NoCustomers isFiltered={isFiltered(query)} hasModel={model !== null} />,
      columns: [...COLUMNS, ...displayedColumns(model)],
      below: found instanceof ApiError || found.data.length === 0 ? null : <Download query={query} />,
    });
  },
  async *csv(visit) {
    const columns = displayedMembers(visit.model);
    // Sent with the first rows, so that nothing was sent if the query is refused.
    let heading = csvLines([[...CSV_COLUMNS, ...columns]]);
    let cursor: string | undefined;
    let rows = 0;
    do {
      const { data, nextCursor } = await search(visit, { limit: CSV_LIMIT, cursor });
      const shown = await displayedTraits(
        visit,
        data.map(({ customerId }) => customerId),
      );
      const lines = data.slice(0, CSV_ROWS_MAX - rows).map((customer) => {
        const known = shown.get(customer.customerId) ?? {};
        return [...cellsOf(customer, known), ...columns.map((member) => known[member] ?? null)];
      });
      yield heading + csvLines(lines);
      heading = "";
      rows += data.length;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined && rows < CSV_ROWS_MAX);
  },
};

const CSV_ROWS_MAX = 100_000;
/** The largest page of the list. */
const CSV_LIMIT = "200";
const CSV_COLUMNS = [
  ...["customer", "name", "state", "state since", "health", "band", "health a week ago"],
  ...["signals", "segments", "last event", "set aside"],
];

function cellsOf(customer: ListedCustomer, { name }: DisplayedTraits) {
  const { customerId, lifecycle, lifecycleEnteredAt, health, healthWeekAgo, signals, segments } = customer;
  return [
    ...[customerId, name ?? null, lifecycle, lifecycleEnteredAt],
    ...[health?.overall ?? null, health?.band ?? null, healthWeekAgo],
    signals.map(({ signalId }) => signalId).join(" "),
    segments.join(" "),
    ...[customer.lastEventAt, customer.setAside?.at ?? null],
  ];
}

const FILTERS = ["search", "lifecycle", "segment", "health", "signal", "inactive", "setAside"] as const;

function isFiltered(query: URLSearchParams): boolean {
  return hasAnyParam(query, [...FILTERS, "trait"]);
}

/** The page of the list that the query asks for, or the error for an invalid query. */
function pageOf(visit: Visit) {
  const cursor = queryParam(visit.query, "cursor");
  return readOn((part) => search(visit, part), { limit: Number(LIMIT), enough: 1, cursor }).catch(expectedRefusal);
}

/** A page of the customers that match the query's filters, in its order. */
function search({ ask, query }: Visit, part: ListPart) {
  const [sort, order] = (queryParam(query, "sort") ?? "").split("-");
  const trait = queryParam(query, "trait");
  const value = queryParam(query, "value");
  if (trait === undefined && value !== undefined)
    throw invalidField("trait", "", `Choose the trait whose value is ${JSON.stringify(value)}.`, "Or empty the value.");
  if (trait !== undefined && value === undefined)
    throw invalidField("value", "", `Type the value of ${trait}, with its capital letters.`, "Or choose no trait.");
  return ask("customers", {
    ...queryParams(query, FILTERS),
    traits: trait === undefined ? undefined : objectFromTexts([[trait, filterOf(value!)]]),
    sort: sort === "" ? undefined : sort,
    reverse: order === "reverse" ? "true" : undefined,
    ...part,
  });
}

/** The JSON for what is typed as the value of a trait: a value, or a bound after `>=` or `<=`. */
function filterOf(typed: string): string {
  const [, sign, bound] = /^([<>]=) *(.+)$/s.exec(typed) ?? [];
  return bound === undefined
    ? valueOf(typed)
    : objectFromTexts([[sign === ">=" ? "atLeast" : "atMost", valueOf(bound)]]);
}

/** The JSON for a typed value of a trait: numbers and booleans as such, which also match the same text; everything else as text. */
function valueOf(text: string): string {
  return /^(true|false|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? text : JSON.stringify(text);
}

function Filters({ visit: { query, model } }: { visit: Visit }) {
  const choose = (label: string, name: string, choices: readonly string[]) =>
    choices.length === 0 && !query.get(name) ? null : (
      <Choose label={label} name={name} query={query} choices={choices} />
    );
  const names = partNames(model);
  return (
    <FilterForm path={PATH} all={isFiltered(query) && <a href={PATH}>All customers</a>}>
      <InputField label="Name or id" name="search" query={query} type="search" />
      {choose("State", "lifecycle", names.states)}
      {choose("Health", "health", names.bands)}
      {choose("Signal", "signal", names.signals)}
      {choose("Segment", "segment", names.segments)}
      <InputField label="Inactive for" name="inactive" query={query} placeholder="14d" />
      {choose("Trait", "trait", names.traits)}
      {names.traits.length === 0 ? null : (
        <InputField label="with the value" name="value" query={query} placeholder="pro, >=1000" />
      )}
      {!query.get("setAside") ? null : (
        <Choose label="Evaluation" name="setAside" query={query} choices={[{ value: "true", text: "set aside" }]} />
      )}
      <OneOf label="Sorted by" name="sort" value={query.get("sort") ?? ""} choices={SORTS} />
    </FilterForm>
  );
}

function NoCustomers({ isFiltered, hasModel }: { isFiltered: boolean; hasModel: boolean }) {
  if (isFiltered) return <>No customers match these filters.</>;
  return (
    <>
      There are no customers yet. A customer appears with the first event or trait that a backend sends for it
      {hasModel ? "." : "; deploy a model to see what its events mean."}
    </>
  );
}

function Download({ query }: { query: URLSearchParams }) {
  return (
    <p>
      <a href={address(`${PATH}.csv`, without(query, "cursor"))}>Download as CSV</a>{" "}
      <span class="hint">all customers found, in this order, but at most {formatNumber(CSV_ROWS_MAX)}</span>
    </p>
  );
}

const COLUMNS: TableColumn<ListedCustomer>[] = [
  ["Customer", (customer) => <Name of={customer} />, "name"],
  ["State", (customer) => <State of={customer} />],
  [
    <>
      Health,
      <br />
      change in a week
    </>,
    (customer) => <Health customer={customer} />,
  ],
  [
    "Signals",
    ({ signals }) => (
      <Tags
        items={signals.map(({ signalId, severity }) => ({
          text: signalId,
          href: address(PATH, { signal: signalId }),
          class: severity,
        }))}
      />
    ),
  ],
  [
    "Segments",
    ({ segments }) => <Tags items={segments.map((segment) => ({ text: segment, href: address(PATH, { segment }) }))} />,
  ],
  [
    "Last event",
    ({ lastEventAt }) => (lastEventAt === null ? <span class="faint">never</span> : <Ago iso={lastEventAt} />),
  ],
];

function Name({ of: { customerId, setAside } }: { of: ListedCustomer }) {
  return (
    <>
      <Customer id={customerId} />
      {setAside === null ? null : <span class="critical"> set aside</span>}
    </>
  );
}

function State({ of: { lifecycle, lifecycleEnteredAt } }: { of: ListedCustomer }) {
  return (
    <>
      {lifecycle === null ? (
        <span class="faint">none</span>
      ) : (
        <TextLink href={address(PATH, { lifecycle })} text={lifecycle} />
      )}{" "}
      {lifecycleEnteredAt === null ? null : (
        <span class="faint">
          <Ago iso={lifecycleEnteredAt} />
        </span>
      )}
    </>
  );
}

/** The score with its band, and its change within a week. */
function Health({ customer: { health, healthWeekAgo } }: { customer: ListedCustomer }) {
  if (health === null) return <span class="faint">none</span>;
  const change = healthWeekAgo === null ? 0 : health.overall - healthWeekAgo;
  return (
    <>
      {formatNumber(health.overall)} <TextLink href={address(PATH, { health: health.band })} text={health.band} />
      {change === 0 ? null : (
        <span class={change < 0 ? "critical" : "good"}>
          {" "}
          {change < 0 ? "↓" : "↑"}
          {formatNumber(Math.abs(change))}
        </span>
      )}
    </>
  );
}

import type { ListedEmission } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { allGiven, type ConsolePage, given, isAnyGiven, expectedRefusal, type Visit } from "../console-page.js";
import {
  At,
  CauseLink,
  Customer,
  emissionHref,
  Empty,
  FoundList,
  PageLinks,
  Payload,
  ProblemNote,
  TextLink,
} from "../parts.js";
import { Choose, Field, FilterForm } from "../forms.js";
import { type Column, Table } from "../tables.js";

const PATH = "emissions";
const LIMIT = "50";

/** What was said of customers: the newest emissions. */
export const emissionsPage: ConsolePage = {
  path: PATH,
  section: "Emissions",
  async answer(visit) {
    const { query } = visit;
    const filters = <Filters query={query} />;
    const found = await listOf(visit);
    if (found instanceof ApiError) {
      return { title: "Emissions", status: found.status, body: [filters, <ProblemNote error={found} key="problem" />] };
    }
    const { data, nextCursor } = found;
    return {
      title: "Emissions",
      customerIds: data.map(({ customerId }) => customerId),
      body: (
        <>
          {filters}
          <FoundList
            list={found}
            limit={Number(LIMIT)}
            none={
              <Empty>
                {isAnyGiven(query, FILTERS)
                  ? "No emission is like this."
                  : "Nothing was emitted yet. An emission comes of each change of a customer, and of rules."}
              </Empty>
            }
          >
            <Table name="Emissions" rows={data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={PATH} query={query} next={nextCursor} />
        </>
      ),
    };
  },
};

const FILTERS = ["eventType", "source", "customer", "since"] as const;
const SOURCES = ["lifecycle", "journey", "segment", "health", "rule", "signal"];

/** The page of the list that the query asks for, or what is wrong with the query. */
function listOf({ ask, query }: Visit) {
  return ask("emissions", { ...allGiven(query, FILTERS), limit: LIMIT, cursor: given(query, "cursor") }).catch(
    expectedRefusal,
  );
}

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={PATH} all={isAnyGiven(query, FILTERS) && <a href={PATH}>All emissions</a>}>
      <Field label="Type" name="eventType" query={query} placeholder="customer.activated" />
      <Choose label="Source" name="source" query={query} choices={SOURCES} />
      <Field label="Customer's id" name="customer" query={query} />
      <Field label="Since" name="since" query={query} placeholder="24h or 2026-03-01" maxLength={64} />
    </FilterForm>
  );
}

const COLUMNS: Column<ListedEmission>[] = [
  ["Happened", ({ timestamp }) => <At iso={timestamp} />],
  ["Type", ({ id, eventType }) => <TextLink href={emissionHref(id)} text={eventType} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Source", ({ source }) => source],
  ["By", ({ cause }) => <CauseLink cause={cause} />],
  ["Details", ({ metadata }) => <Payload value={metadata} />],
];

import type { ListedTransition } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { type ConsolePage, given, expectedRefusal, type Visit } from "../console-page.js";
import { partNames } from "../model.js";
import { At, Customer, Empty, FoundList, PageLinks, ProblemNote, Text } from "../parts.js";
import { Choose, Field, FilterForm } from "../forms.js";
import { type Column, Table } from "../tables.js";
import { causeText } from "./customer/history.js";

const PATH = "transitions";
const LIMIT = "100";
const COLUMNS: Column<ListedTransition>[] = [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["From", ({ from }) => (from === null ? <span class="faint">none</span> : <Text>{from}</Text>)],
  ["To", ({ to }) => <Text>{to}</Text>],
  ["When", ({ at }) => <At iso={at} />],
  ["By", ({ cause }) => causeText(cause.type)],
];

/** Who went from one state of the lifecycle to another: the list behind the arrows of the lifecycle. */
export const transitionsPage: ConsolePage = {
  path: PATH,
  section: null,
  async answer(visit) {
    const { query } = visit;
    const filters = <Filters visit={visit} />;
    const found = await listOf(visit);
    if (found instanceof ApiError) {
      return {
        title: "Transitions",
        status: found.status,
        body: [filters, <ProblemNote error={found} key="problem" />],
      };
    }
    const { data, nextCursor } = found;
    return {
      title: "Transitions",
      customerIds: data.map(({ customerId }) => customerId),
      body: (
        <>
          {filters}
          <FoundList list={found} limit={Number(LIMIT)} none={<Empty>There was no such transition.</Empty>}>
            <Table name="Transitions" rows={data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={PATH} query={query} next={nextCursor} />
        </>
      ),
    };
  },
};

/** The page of the list that the query asks for, or what is wrong with the query. */
function listOf({ ask, query }: Visit) {
  return ask("transitions", {
    entered: given(query, "entered"),
    left: query.has("first") ? "" : given(query, "left"),
    from: given(query, "from"),
    to: given(query, "to"),
    limit: LIMIT,
    cursor: given(query, "cursor"),
  }).catch(expectedRefusal);
}

function Filters({ visit: { query, model } }: { visit: Visit }) {
  const { states } = partNames(model);
  return (
    <FilterForm path={PATH}>
      <Choose label="From state" name="left" query={query} choices={states} />
      <Choose label="To state" name="entered" query={query} choices={states} />
      <Field label="From" name="from" query={query} type="date" />
      <Field label="To" name="to" query={query} type="date" />
      <label class="check">
        <input type="checkbox" name="first" value="true" checked={query.has("first")} /> A customer's first state
      </label>
    </FilterForm>
  );
}

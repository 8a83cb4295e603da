import type { ListedTransition } from "../../http/admin/answers.js";
import { queryParams, type ConsolePage, expectedRefusal, type Visit } from "../console-page.js";
import { partNames } from "../model.js";
import { At, Customer, Text } from "../parts.js";
import { listView } from "../list-page.js";
import { Choose, InputField, FilterForm } from "../forms.js";
import { type TableColumn } from "../tables.js";
import { causeText } from "./customer/history.js";

const PATH = "transitions";
const LIMIT = "100";
const COLUMNS: TableColumn<ListedTransition>[] = [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["From", ({ from }) => (from === null ? <span class="faint">none</span> : <Text>{from}</Text>)],
  ["To", ({ to }) => <Text>{to}</Text>],
  ["When", ({ at }) => <At iso={at} />],
  ["By", ({ cause }) => causeText(cause.type)],
];

/** Transitions of customers between states: the list that the arrows of the lifecycle link to. */
export const transitionsPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { ask, query } = visit;
    const of = {
      ...queryParams(query, ["entered", "left", "from", "to", "cursor"]),
      ...(query.has("first") && { left: "" }),
      limit: LIMIT,
    };
    return listView({
      path: PATH,
      title: "Transitions",
      query,
      filters: <Filters visit={visit} />,
      found: await ask("transitions", of).catch(expectedRefusal),
      limit: LIMIT,
      none: "No transitions match these filters.",
      columns: COLUMNS,
    });
  },
};

function Filters({ visit: { query, model } }: { visit: Visit }) {
  const { states } = partNames(model);
  return (
    <FilterForm path={PATH}>
      <Choose label="From state" name="left" query={query} choices={states} />
      <Choose label="To state" name="entered" query={query} choices={states} />
      <InputField label="From" name="from" query={query} type="date" />
      <InputField label="To" name="to" query={query} type="date" />
      <label class="check">
        <input type="checkbox" name="first" value="true" checked={query.has("first")} /> A customer's first state
      </label>
    </FilterForm>
  );
}

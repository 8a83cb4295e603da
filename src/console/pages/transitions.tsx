import { ApiError } from "../../http/errors.js";
import { type ConsolePage, given, expectedRefusal, type Visit } from "../console-page.js";
import { partNames } from "../model.js";
import { At, Choose, Customer, Empty, FoundList, PageLinks, ProblemNote, Table, Text } from "../parts.js";
import { causeText } from "./customer/history.js";

const PATH = "transitions";
const LIMIT = "100";
const COLUMNS = ["Customer", "From", "To", "When", "By"].map((heading) => ({ heading }));

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
            <Table name="Transitions" columns={COLUMNS}>
              {data.map(({ customerId, from, to, at, cause }) => (
                <tr key={`${customerId} ${at} ${to}`}>
                  <td>
                    <Customer id={customerId} />
                  </td>
                  <td>{from === null ? <span class="faint">none</span> : <Text>{from}</Text>}</td>
                  <td>
                    <Text>{to}</Text>
                  </td>
                  <td>
                    <At iso={at} />
                  </td>
                  <td>{causeText(cause.type)}</td>
                </tr>
              ))}
            </Table>
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
  const value = (name: string) => query.get(name) ?? "";
  const { states } = partNames(model);
  return (
    <search>
      <form class="filters" action={PATH} method="get">
        <Choose label="From state" name="left" value={value("left")} choices={states} />
        <Choose label="To state" name="entered" value={value("entered")} choices={states} />
        <label>
          From
          <input type="date" name="from" value={value("from")} />
        </label>
        <label>
          To
          <input type="date" name="to" value={value("to")} />
        </label>
        <label class="check">
          <input type="checkbox" name="first" value="true" checked={query.has("first")} /> A customer's first state
        </label>
        <button>Show</button>
      </form>
    </search>
  );
}

import type { TransitionTimes, Trends } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { formatNumber, secondsInWords, plural } from "../../words/text.js";
import { StackedArea } from "../charts/stacked-area.js";
import { type DiagramArrow, type DiagramState, StateDiagram } from "../charts/state-diagram.js";
import { type ConsolePage, queryParam, queryParams, expectedRefusal, type Visit } from "../console-page.js";
import { partNames } from "../model.js";
import { address, Day, Empty, IncompleteTrendsNote, Section, Text } from "../parts.js";
import { refused } from "../list-page.js";
import { InputField, FilterForm, OneOf } from "../forms.js";
import { Figure, Table } from "../tables.js";
import { dayIn, lastDayOf, type Every, EVERY } from "../span.js";

const PATH = "lifecycle";

/** The most states times arrows of a diagram: layout blocks other requests, and its time grows faster than their number. */
const DRAWN_MAX = 400;

/** How customers move through the lifecycle: customers in each state, transitions between states, and both over time. */
export const lifecyclePage: ConsolePage = {
  path: PATH,
  section: "Lifecycle",
  async answer(visit) {
    const { model } = visit;
    const filters = <Filters query={visit.query} />;
    const found = await developmentOf(visit);
    if (found instanceof ApiError) return refused("Lifecycle", filters, found);
    const lifecycle = lifecycleOf(found, visit);
    if (lifecycle.states.length === 0) return { title: "Lifecycle", body: <NoLifecycle model={model} /> };
    const { states, arrows, layers, first, last, isNow } = lifecycle;
    const { periods } = found.customers;
    const isDrawn = states.length * arrows.length <= DRAWN_MAX;
    const whole = states.reduce((sum, { customers }) => sum + customers, 0);
    return {
      title: "Lifecycle",
      derived: "states",
      body: (
        <>
          {filters}
          <IncompleteTrendsNote trends={found.customers} />
          <p>
            In the boxes: customers in each state {isNow ? "now" : <>at the end of {<Day day={last} />}</>},{" "}
            {formatNumber(whole)} in all. On the arrows: transitions from <Day day={first} /> to{" "}
            {isNow ? "today" : <Day day={last} />}.
          </p>
          {isDrawn ? (
            <StateDiagram states={states} arrows={arrows} />
          ) : (
            <Empty>
              There is no diagram of {plural(states.length, "state")} and {plural(arrows.length, "transition")}, because
              nobody could read it. The tables have all of them.
            </Empty>
          )}
          <details open={!isDrawn}>
            <summary>{isDrawn ? "The diagram as tables" : "States and transitions"}</summary>
            <States states={states} arrows={arrows} span={{ from: first, to: last }} />
            <Arrows arrows={arrows} />
          </details>
          <Times times={found.times} states={states} />
          <h2>Customers in each state over time</h2>
          {periods.length < 2 ? (
            <Empty>
              There is only one figure for each state in this span. Choose an earlier day to see how they developed.
            </Empty>
          ) : (
            <StackedArea title="Customers in each state over time" periods={periods} layers={layers} />
          )}
        </>
      ),
    };
  },
};

/** The data that the query asks for, or the error for an invalid query. */
async function developmentOf({ ask, query }: Visit) {
  const of = queryParams(query, ["from", "to", "every"]);
  try {
    const [customers, flows, times] = await Promise.all([
      ask("trends", { ...of, what: "lifecycle" }),
      ask("trends", { ...of, what: "flows" }),
      ask("transitions/times"),
    ]);
    return { customers, flows, times };
  } catch (error) {
    return expectedRefusal(error);
  }
}

/** The states and transitions of the model, followed by those that customers had but the model no longer has. */
function lifecycleOf(
  { customers, flows }: { customers: Trends; flows: Trends },
  { model, query, presentation }: Visit,
) {
  const { periods } = customers;
  const first = periods[0]!;
  const last = lastDayOf(periods.at(-1)!, everyIn(query));
  const isNow = last >= dayIn(presentation.now, presentation.timeZone);
  const wentFrom = flows.series.map(({ from = null, to = "", values }) => ({ from, to, transitions: sum(values) }));
  const valuesOf = new Map(
    customers.series.map(({ state = "", values }) => [state, values.map((value) => value ?? 0)]),
  );
  const names = [
    ...new Set([
      ...partNames(model).states,
      ...valuesOf.keys(),
      ...wentFrom.flatMap(({ from, to }) => (from === null ? [to] : [from, to])),
    ]),
  ];
  const listOf = (name: string) => address("customers", { lifecycle: name });
  const layers = names.map((name) => ({
    name,
    href: listOf(name),
    values: valuesOf.get(name) ?? periods.map(() => 0),
  }));
  const states: DiagramState[] = layers.map(({ name, href, values }) => {
    const customers = values.at(-1)!;
    // The list only shows present customers.
    return { name, customers, href: isNow && customers > 0 ? href : null };
  });
  const ways = waysOf(model);
  const isOf = (way: Way) => (other: Way) => other.from === way.from && other.to === way.to;
  const arrows: DiagramArrow[] = [
    ...ways.map((way) => wentFrom.find(isOf(way)) ?? { ...way, transitions: 0 }),
    ...wentFrom.filter((way) => !ways.some(isOf(way))),
  ].map((arrow) => ({ ...arrow, href: transitionsOf(arrow, { from: first, to: last }) }));
  return { states, arrows, layers, first, last, isNow };
}

/** The address of the list of transitions from a state (null: from none), to a state, or both. */
function transitionsOf({ from: left, to: entered }: Partial<Way>, span: { from: string; to: string }): string {
  const states = {
    ...(left === null ? { first: "true" } : left !== undefined && { left }),
    ...(entered !== undefined && { entered }),
  };
  return address("transitions", { ...states, ...span });
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);

function everyIn(query: URLSearchParams): Every {
  return EVERY.find((every) => every === queryParam(query, "every")) ?? "day";
}

type Way = Pick<DiagramArrow, "from" | "to">;

/** The model's transitions, each once. */
function waysOf(model: Snapshot | null): Way[] {
  const lifecycle = model?.lifecycle;
  if (!lifecycle) return [];
  const { initial, states } = lifecycle;
  return [
    { from: null, to: initial },
    ...states.flatMap(({ name, transitions }) =>
      [...new Set(transitions.map(({ to }) => to))].map((to) => ({ from: name, to })),
    ),
  ];
}

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <FilterForm path={PATH} all={query.size === 0 ? null : <a href={PATH}>The last 30 days</a>}>
      <InputField label="From" name="from" query={query} type="date" />
      <InputField label="To" name="to" query={query} type="date" />
      <OneOf label="By" name="every" value={everyIn(query)} choices={EVERY} />
    </FilterForm>
  );
}

function NoLifecycle({ model }: { model: Snapshot | null }) {
  return (
    <Empty>
      {model === null
        ? "No model is deployed yet. Its lifecycle will be shown here."
        : "The model has no lifecycle. Once it declares states and transitions, customers are counted here."}
    </Empty>
  );
}

function States(props: {
  states: readonly DiagramState[];
  arrows: readonly DiagramArrow[];
  span: { from: string; to: string };
}) {
  const { states, arrows, span } = props;
  const moves = (end: "from" | "to", state: string) => (
    <Figure href={transitionsOf({ [end]: state }, span)}>
      {sum(arrows.filter((arrow) => arrow[end] === state).map(({ transitions }) => transitions))}
    </Figure>
  );
  return (
    <Table
      name="States"
      rows={states}
      columns={[
        ["State", ({ name }) => <Text>{name}</Text>],
        ["Customers", ({ customers, href }) => <Figure href={href}>{customers}</Figure>, "number"],
        ["Entered", ({ name }) => moves("to", name), "number"],
        ["Left", ({ name }) => moves("from", name), "number"],
      ]}
    />
  );
}

/** How long customers stay in each state before they leave it, in the order of the diagram. */
function Times({ times, states }: { times: TransitionTimes; states: readonly DiagramState[] }) {
  const known = new Map(times.states.map((each) => [each.state, each]));
  const rows = states.flatMap(({ name }) => known.get(name) ?? []);
  if (rows.length === 0) return null;
  return (
    <Section id="times" title="How long customers stay">
      <Table
        name="Time in each state"
        rows={rows}
        columns={[
          ["State", ({ state }) => <Text>{state}</Text>],
          ["Half leave it within", ({ seconds }) => secondsInWords(seconds.median)],
          ["Departures", ({ left }) => formatNumber(left), "number"],
        ]}
      />
      <p class="hint">
        Based on the {plural(times.transitions, "transition")} that {times.transitions === 1 ? "was" : "were"} stored
        last, so after an import on those of the import; customers that are still in a state are not counted.
      </p>
    </Section>
  );
}

function Arrows({ arrows }: { arrows: readonly DiagramArrow[] }) {
  return (
    <Table
      name="Transitions"
      rows={arrows}
      columns={[
        ["From", ({ from }) => (from === null ? <span class="faint">none</span> : <Text>{from}</Text>)],
        ["To", ({ to }) => <Text>{to}</Text>],
        ["Transitions", ({ transitions, href }) => <Figure href={href}>{transitions}</Figure>, "number"],
      ]}
    />
  );
}

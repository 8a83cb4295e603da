import type { ListPage, ListedSignal, Trends } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import type { Severity, Signal } from "../../model/snapshot/types.js";
import { conditionText } from "../../model/snapshot/words.js";
import { formatNumber, titleOf } from "../../words/text.js";
import { Figures } from "../charts/figures.js";
import { Spark } from "../charts/in-cells.js";
import { type ConsolePage, queryParam, hasAnyParam, expectedRefusal, type View, type Visit } from "../console-page.js";
import { DecidingRules, idsDefinedInList, DefinitionLink } from "../definition.js";
import { partNames } from "../model.js";
import {
  address,
  Ago,
  IncompleteTrendsNote,
  Customer,
  Empty,
  FoundList,
  LinkLine,
  NoPart,
  PageLinks,
  ProblemNote,
  Section,
  Text,
  TextLink,
} from "../parts.js";
import { type ListPart, readOn } from "../read-on.js";
import { displayedColumns } from "../displayed-traits.js";
import { Choose, InputField, FilterForm } from "../forms.js";
import { type TableColumn, Table } from "../tables.js";
import { daysOf, SpanField, trendSpan, presentParts, valuesOf } from "../trends.js";

const PATH = "signals";
const LIMIT = 50;
/** For each severity, if all are shown. */
const LIMIT_EACH = 20;

/** The most severe first. */
export const SEVERITIES = ["critical", "warning", "info"] as const satisfies readonly Severity[];

/** A list of raised signals with its heading. */
interface Raised {
  heading: string;
  /** The page's query for this list alone. */
  query: URLSearchParams;
  found: ListPage<ListedSignal>;
}

/** The signals raised now, the most severe first, and what each signal means. */
export const signalsPage: ConsolePage = {
  path: PATH,
  section: "Signals",
  async answer(visit) {
    const { ask, query, model } = visit;
    const [trends, raised] = await Promise.all([
      ask("trends", { what: "signals", ...trendSpan(visit) }),
      raisedOf(visit).catch(expectedRefusal),
    ]);
    const ids = presentParts(trends, "customers", "signal", partNames(model).signals);
    if (ids.length === 0) return { title: "Signals", body: <NoPart model={model} what="signals" /> };
    const view: View = {
      title: "Signals",
      derived: "signals",
      body: (
        <>
          <Filters query={query} ids={ids} />
          <IncompleteTrendsNote trends={trends} />
          {raised instanceof ApiError ? <ProblemNote error={raised} /> : <Lists raised={raised} visit={visit} />}
          <Meanings visit={visit} ids={ids} trends={trends} />
        </>
      ),
    };
    if (raised instanceof ApiError) return { ...view, status: raised.status };
    return { ...view, customerIds: raised.flatMap(({ found }) => found.data.map(({ customerId }) => customerId)) };
  },
};

/** One list if a signal or severity is chosen; else the latest signals of each severity. */
async function raisedOf({ ask, query }: Visit): Promise<Raised[]> {
  const [signal, severity, since] = ["signal", "severity", "since"].map((name) => queryParam(query, name));
  if (signal !== undefined || severity !== undefined) {
    const cursor = queryParam(query, "cursor");
    const page = (part: ListPart) => ask("signals", { signal, severity, since, ...part });
    const found = await readOn(page, { limit: LIMIT, enough: 1, cursor });
    return [{ heading: "Raised now", query, found }];
  }
  return Promise.all(
    SEVERITIES.map(async (each) => {
      const of = new URLSearchParams({ ...(since !== undefined && { since }), severity: each });
      const found = await readOn((part) => ask("signals", { severity: each, since, ...part }), { limit: LIMIT_EACH });
      return { heading: titleOf(each), query: of, found };
    }),
  );
}

function Filters({ query, ids }: { query: URLSearchParams; ids: readonly string[] }) {
  const isFiltered = hasAnyParam(query, ["signal", "severity", "since"]);
  return (
    <FilterForm path={PATH} all={isFiltered && <a href={PATH}>All signals</a>}>
      <Choose label="Signal" name="signal" query={query} choices={ids} />
      <Choose label="Severity" name="severity" query={query} choices={SEVERITIES} />
      <InputField label="Raised since" name="since" query={query} placeholder="7d or 2026-03-01" maxLength={64} />
      <SpanField days={daysOf({ query })} />
    </FilterForm>
  );
}

function Lists({ raised, visit: { query, model } }: { raised: readonly Raised[]; visit: Visit }) {
  const shown = raised.filter(({ found: { data, nextCursor } }) => data.length > 0 || nextCursor !== null);
  if (shown.length === 0) {
    return (
      <Empty>{queryParam(query, "cursor") === undefined ? "No raised signals match." : "There are no more."}</Empty>
    );
  }
  return shown.map((each) => (
    <Section title={each.heading} key={each.heading}>
      {/* The list of a severity has no next page of which a hint could speak. */}
      <FoundList list={each.found} limit={each.query === query ? LIMIT : 0} none={null}>
        <Table name={each.heading} rows={each.found.data} columns={columnsOf(each.query === query, model)} />
      </FoundList>
      {each.query === query ? (
        <PageLinks path={PATH} query={query} next={each.found.nextCursor} />
      ) : each.found.nextCursor === null ? null : (
        <LinkLine href={address(PATH, each.query)} text={`All ${each.heading.toLowerCase()} signals`} />
      )}
    </Section>
  ));
}

const columnsOf = (saysSeverity: boolean, model: Visit["model"]): TableColumn<ListedSignal>[] => [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Signal", (signal) => <Name of={signal} saysSeverity={saysSeverity} />],
  ["Raised", ({ raisedAt }) => <Ago iso={raisedAt} />],
  ...displayedColumns(model),
  ["Message", ({ message }) => (message === null ? <span class="faint">none</span> : <Text>{message}</Text>)],
];

function Name({ of: { signalId, severity }, saysSeverity }: { of: ListedSignal; saysSeverity: boolean }) {
  return (
    <>
      <TextLink class={severity} href={address(PATH, { signal: signalId })} text={signalId} />{" "}
      {saysSeverity ? <span class="faint">{severity}</span> : null}
    </>
  );
}

/** A signal with its severity, if the model has it. */
export function SignalName({ name, severity }: { name: string; severity: Severity | undefined }) {
  return (
    <>
      <span class={severity}>
        <Text>{name}</Text>
      </span>{" "}
      <span class="faint">{severity}</span>
    </>
  );
}

/** All signals: what each means, for how many customers it is raised, and how that developed. */
function Meanings({ visit, ids, trends }: { visit: Visit; ids: readonly string[]; trends: Trends }) {
  const { model, query } = visit;
  const defined = idsDefinedInList(model?.signals ?? []);
  const isDefined = (id: string) => defined.has(id) || id === query.get("signal");
  const series = ids.map((id) => ({
    name: id,
    values: valuesOf(trends, { metric: "customers", signal: id }),
    signal: model?.signals.find((each) => each.id === id),
  }));
  return (
    <Section title="What signals mean">
      <Table
        name="What signals mean"
        rows={series}
        columns={[
          ["Signal", ({ name, signal }) => <SignalName name={name} severity={signal?.severity} />],
          [
            "Customers",
            ({ name, values }) => <a href={address(PATH, { signal: name })}>{formatNumber(values.at(-1) ?? 0)}</a>,
            "number",
          ],
          [`Last ${daysOf(visit)} days`, ({ values }) => <Spark values={values} />],
          [
            "Raised when",
            ({ name, signal }) =>
              signal === undefined || isDefined(name) ? (
                <Meaning signal={signal} visit={visit} />
              ) : (
                <DefinitionLink href={address(PATH, { signal: name })} />
              ),
            "words",
          ],
        ]}
      />
      <Figures name="Customers with each signal" periods={trends.periods} series={series} />
    </Section>
  );
}

function Meaning({ signal, visit: { model } }: { signal: Signal | undefined; visit: Visit }) {
  if (signal === undefined) return <span class="faint">The active model no longer has this signal.</span>;
  if (signal.when !== undefined) return <Text>{conditionText(signal.when)}</Text>;
  return (
    <>
      <DecidingRules model={model} signal={signal.id} />
      {signal.for === undefined ? null : `; it clears itself after ${signal.for}`}
    </>
  );
}

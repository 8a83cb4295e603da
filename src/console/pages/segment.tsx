import type { SegmentMembers, SegmentStatistics, Trends } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, printable } from "../../words/text.js";
import { SeriesLines } from "../charts/series-lines.js";
import { type ConsolePage, queryParam, expectedRefusal, type View, type Visit } from "../console-page.js";
import { missing, refused } from "../list-page.js";
import { DecidingRules, Definition } from "../definition.js";
import { FirstConditions } from "../first-conditions.js";
import { address, Ago, IncompleteTrendsNote, Customer, Empty, PageLinks, Section, Text } from "../parts.js";
import { displayedColumns } from "../displayed-traits.js";
import { FactList, Table } from "../tables.js";
import { DaysForm, daysOf, trendSpan, nowOf, valuesOf } from "../trends.js";

const PATH = "segment";
const LIMIT = "50";
/** For more customers, computing statistics takes too long for a page. */
const LARGE = 20_000;
const LEFT_OUT: Partial<SegmentMembers> = {};

/** A segment: what it means, who is in it, and how many entered and left. */
export const segmentPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { ask, query, model } = visit;
    const segment = query.get("id") ?? "";
    const cursor = queryParam(query, "cursor");
    const trends = await ask("trends", { what: "segments", ...trendSpan(visit) });
    const size = nowOf(trends, { metric: "members", segment });
    const found =
      size > LARGE && !query.has("all")
        ? LEFT_OUT
        : await ask("segments/:segment", { segment, limit: LIMIT, cursor }).catch((error: unknown) =>
            expectedRefusal(error, "SEGMENT_NOT_FOUND"),
          );
    const title = `Segment ${printable(segment)}`;
    if (found instanceof ApiError) {
      if (found.status === 404) return none(segment);
      return refused(title, null, found, <a href={address(PATH, { id: segment })}>The first page of the segment</a>);
    }
    const { data = [], nextCursor = null, members = size, statistics } = found;
    const declared = model?.segments.find(({ id }) => id === segment);
    return {
      title,
      derived: "segments",
      customerIds: data.map(({ customerId }) => customerId),
      body: (
        <>
          <Section id="meaning" title="Who is in it">
            {declared === undefined ? (
              <p class="faint">The active model no longer has this segment.</p>
            ) : declared.when === undefined ? (
              <p>
                <DecidingRules model={model} segment={segment} />
              </p>
            ) : (
              <div>
                <FirstConditions of={[declared.when]} rest="svc segments inspect">
                  <Definition of={declared.when} />
                </FirstConditions>
              </div>
            )}
          </Section>
          <div class="cards">
            <Section class="card" id="size" title="Customers now">
              <p>
                <a class="big" href={address("customers", { segment })}>
                  {formatNumber(members)}
                </a>
              </p>
            </Section>
            {statistics === undefined || members === 0 ? null : <Statistics of={statistics} segment={segment} />}
          </div>
          <OverTime visit={visit} segment={segment} trends={trends} />
          {found === LEFT_OUT ? (
            <Large segment={segment} />
          ) : (
            <Members data={data} isEmpty={members === 0} model={visit.model} />
          )}
          <PageLinks path={PATH} query={query} next={nextCursor} />
        </>
      ),
    };
  },
};

function none(segment: string): View {
  const says = (
    <p role="alert">
      The active model has no segment "<Text>{segment}</Text>", and no customer is in one of that name.
    </p>
  );
  return missing("No such segment", says, { href: "segments", text: "All segments" });
}

/** Numbers of customers by state and band, linked to the customers, and by when they were last seen. */
function Statistics({ of, segment }: { of: SegmentStatistics; segment: string }) {
  const { lifecycle, health, lastEvent } = of;
  return (
    <>
      {Object.keys(lifecycle).length === 0 ? null : (
        <Counts title="By state" counts={lifecycle} filter="lifecycle" segment={segment} />
      )}
      {health.average === null ? null : (
        <Counts
          title={`By health, ${formatNumber(health.average)} on average`}
          counts={health.bands}
          filter="health"
          segment={segment}
        />
      )}
      <Section class="card" id="seen" title="Last event">
        <FactList
          of={{
            "within a day": formatNumber(lastEvent.within1d),
            "within 7 days": formatNumber(lastEvent.within7d),
            "within 30 days": formatNumber(lastEvent.within30d),
            "longer ago": formatNumber(lastEvent.older),
            never: formatNumber(lastEvent.never),
          }}
        />
      </Section>
    </>
  );
}

interface CountsProps {
  title: string;
  counts: Readonly<Record<string, number>>;
  /** The parameter of the customers page. */
  filter: "lifecycle" | "health";
  segment: string;
}

function Counts({ title, counts, filter, segment }: CountsProps) {
  return (
    <Section class="card" id={filter} title={title}>
      <dl>
        {Object.entries(counts).map(([name, count]) => (
          <>
            <dt>
              <Text>{name}</Text>
            </dt>
            <dd>
              <a href={address("customers", { segment, [filter]: name })}>{formatNumber(count)}</a>
            </dd>
          </>
        ))}
      </dl>
    </Section>
  );
}

function OverTime({ visit, segment, trends }: { visit: Visit; segment: string; trends: Trends }) {
  const series = (metric: string, name: string) => ({ name, values: valuesOf(trends, { metric, segment }) });
  const days = daysOf(visit);
  const { periods } = trends;
  return (
    <Section id="time" title="Over time">
      <DaysForm path={PATH} days={days} hidden={{ id: segment }} />
      <IncompleteTrendsNote trends={trends} />
      <h3>Customers in it</h3>
      <SeriesLines
        id="members"
        title={`Customers in the segment over the last ${days} days`}
        periods={periods}
        lines={[series("members", "customers")]}
      />
      <h3>Entered and left</h3>
      <SeriesLines
        id="moves"
        title={`Customers that entered and left over the last ${days} days`}
        periods={periods}
        lines={[series("entered", "entered"), series("exited", "left")]}
      />
    </Section>
  );
}

function Large({ segment }: { segment: string }) {
  return (
    <Empty>
      To find customers in such a large segment, use <a href={address("customers", { segment })}>filters</a>. You can{" "}
      <a href={address(PATH, { id: segment, all: "true" })}>count them by state, health and last event</a>, which takes
      a moment.
    </Empty>
  );
}

function Members(props: { data: SegmentMembers["data"]; isEmpty: boolean; model: Visit["model"] }) {
  const { data, isEmpty, model } = props;
  return (
    <Section id="list" title="Members">
      {isEmpty ? (
        <Empty>No customer is in it now.</Empty>
      ) : (
        <Table
          name="Customers in the segment"
          rows={data}
          columns={[
            ["Customer", ({ customerId }) => <Customer id={customerId} />],
            ["In it since", ({ enteredAt }) => <Ago iso={enteredAt} />],
            ...displayedColumns(model),
          ]}
        />
      )}
    </Section>
  );
}

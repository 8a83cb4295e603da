import type { Activation, BacktestJob, ConfigVersion, ListPage } from "../../http/admin/answers.js";
import { type ConsolePage, queryParam, type Visit } from "../console-page.js";
import { Ago, At, Empty, PageLinks, Section, Text, versionHref } from "../parts.js";
import { type TableColumn, Table } from "../tables.js";
import { BacktestForm, beginBacktest, FORM_FIELDS } from "./backtests/form.js";
import { Backtests } from "./backtest.js";

const PATH = "model";
const LIMIT = "50";
const BACKTESTS_LIMIT = "10";
/** The parameter with the cursor of the backtests. */
const BACKTESTS = "backtests";

/** The deployed versions, backtests, and which version was active here when. */
export const modelPage: ConsolePage = {
  path: PATH,
  section: "Model",
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const cursor = queryParam(query, "cursor");
    const [versions, activations, backtests] = await Promise.all([
      ask("config-versions", { limit: LIMIT, cursor }),
      ask("activations", { limit: LIMIT }),
      ask("backtests", { limit: BACKTESTS_LIMIT, cursor: queryParam(query, BACKTESTS) }),
    ]);
    return {
      title: "Model",
      body: (
        <>
          {versions.data.length === 0 ? (
            <Empty>
              No version has been deployed yet. <code>svc deploy</code> creates the first.
            </Empty>
          ) : (
            <Table name="Versions" rows={versions.data} columns={VERSION_COLUMNS} />
          )}
          <PageLinks path={PATH} query={query} next={versions.nextCursor} />
          <Foresight visit={visit} backtests={backtests} />
          {activations.data.length === 0 ? null : <Activations activations={activations.data} />}
        </>
      ),
    };
  },
  change: {
    fields: FORM_FIELDS,
    make: ({ tell, form }) => beginBacktest(tell, form),
  },
};

const VERSION_COLUMNS: TableColumn<ConfigVersion>[] = [
  ["Version", ({ version }) => <a href={versionHref(version)}>{version}</a>],
  ["Active in", ({ active }) => active.join(", ")],
  ["Deployed", ({ createdAt }) => <Ago iso={createdAt} />],
  ["By", ({ author }) => <Text>{author}</Text>],
  ["From", ({ provenance }) => <Text>{sourceOf(provenance)}</Text>],
];

/** The commit that a version was deployed from; empty if unknown. */
export function sourceOf(provenance: ConfigVersion["provenance"]): string {
  const { commit, ref } = provenance ?? {};
  return [ref, commit?.slice(0, 12)].filter(Boolean).join(" ");
}

/** The environment's backtests, and the form that starts one of the active version; nothing before the first deploy. */
function Foresight({ visit, backtests }: { visit: Visit; backtests: ListPage<BacktestJob> }) {
  const { activeVersion, model, query } = visit;
  const { data, nextCursor } = backtests;
  if (data.length === 0 && model === null) return null;
  return (
    <Section title="Backtests">
      <p>
        A backtest shows whether a model would have predicted an outcome: it compares what the model said of customers
        in the past year, knowing only what was known then, with whether the outcome followed. It changes nothing.
      </p>
      {activeVersion === null || model === null ? null : (
        <BacktestForm visit={visit} path={PATH} version={activeVersion} model={model} />
      )}
      {data.length === 0 && !query.has(BACKTESTS) ? (
        <Empty>There are no backtests yet.</Empty>
      ) : (
        <Backtests backtests={data} />
      )}
      <PageLinks path={PATH} query={query} next={nextCursor} cursor={BACKTESTS} name="the backtests" />
    </Section>
  );
}

const KINDS: Readonly<Record<Activation["kind"], string>> = {
  deploy: "deployed",
  promote: "promoted",
  rollback: "rolled back to",
};

function Activations({ activations }: { activations: readonly Activation[] }) {
  return (
    <Section id="activations" title="Activations">
      <ul>
        {activations.map(({ version, previousVersion, kind, actor, at }) => (
          <li key={at}>
            <At iso={at} />: {KINDS[kind]}{" "}
            <a href={versionHref(version, previousVersion === null ? {} : { from: previousVersion })}>{version}</a>
            {previousVersion === null ? null : <>, after {previousVersion},</>} by <Text>{actor}</Text>
          </li>
        ))}
      </ul>
    </Section>
  );
}

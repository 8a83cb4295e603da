import type { BacktestJob } from "../../http/admin/answers.js";
import { aucText, backtestFields } from "../../words/backtest.js";
import { plural, printable } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { Ago, LinkLine, Text, TextLink, versionHref } from "../parts.js";
import { backtestHref } from "./backtests/form.js";
import { Report } from "./backtests/report.js";
import { JobFacts, refreshOf, isUnderWay, JobStatus } from "./recomputes/job.js";
import { Table, type TableColumn } from "../tables.js";

/** Whether a model predicted an outcome: the request, its progress, and the report. */
export const backtestPage: ConsolePage = {
  path: "backtest",
  list: "model",
  inService: true,
  async answer({ ask, query, model }) {
    const backtest = await ask("backtests/:backtest", { backtest: query.get("id") ?? "" });
    const { outcome, model: judged, customers, traits, report } = backtest;
    return {
      title: `Does ${judged.configVersion ?? "a model"} predict ${printable(outcome)}?`,
      ...refreshOf(backtest),
      body: (
        <>
          <JobFacts
            job={backtest}
            about={{
              Model: <BacktestModels backtest={backtest} />,
              ...textsOf(report === null ? requestedFields(backtest) : backtestFields({ report, customers, traits })),
            }}
          />
          {report !== null ? (
            <Report backtest={{ report, customers, traits }} model={model} />
          ) : isUnderWay(backtest) ? (
            <p class="note">The report appears once all customers have been examined.</p>
          ) : null}
          <LinkLine href="model" text="Back to the model" />
        </>
      ),
    };
  },
};

const textsOf = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, <Text>{text}</Text>]));

/** The fields of the request, shown as long as there is no report. */
function requestedFields({ outcome, within, every, from, to, customers }: BacktestJob): Record<string, string> {
  return {
    Outcome: `${outcome}, within ${within} after a look`,
    Looks: `every ${every} from ${from.slice(0, 10)} to ${to.slice(0, 10)}`,
    Customers: customers === null ? "all" : `about ${plural(customers, "customer")}, a sample`,
  };
}

const COLUMNS: TableColumn<BacktestJob>[] = [
  ["Requested", ({ requestedAt, requestedBy }) => <Ago iso={requestedAt} by={requestedBy} />],
  ["Outcome", ({ id, outcome }) => <TextLink href={backtestHref(id)} text={outcome} />],
  ["Within", ({ within }) => within],
  ["Model", (backtest) => <BacktestModels backtest={backtest} />],
  ["Status", (backtest) => <JobStatus job={backtest} />],
  ["AUC of the score", ({ report }) => report && aucText(report.models[0]?.health?.auc ?? null)],
];

/** Backtests as a table. */
export function Backtests({ backtests }: { backtests: readonly BacktestJob[] }) {
  return <Table name="Backtests" rows={backtests} columns={COLUMNS} />;
}

const Version = ({ id }: { id: string }) => <a href={versionHref(id)}>{id}</a>;

/** The model that a backtest judges, and the one that it is compared with. */
function BacktestModels({ backtest: { model, against } }: { backtest: BacktestJob }) {
  return (
    <>
      {model.configVersion === null ? "one that is not deployed" : <Version id={model.configVersion} />}
      {against === null ? null : (
        <>
          {" "}
          compared with <Version id={against} />
        </>
      )}
    </>
  );
}

import type { BacktestJob } from "../../../http/admin/answers.js";
import { aucText } from "../../../words/backtest.js";
import { address, Ago, TextLink } from "../../parts.js";
import { type TableColumn, Table } from "../../tables.js";
import { JobStatus } from "../recomputes/status.js";

/** The address of a backtest's page. */
export const backtestHref = (id: string) => address("backtest", { id });

const COLUMNS: TableColumn<BacktestJob>[] = [
  ["Asked for", ({ requestedAt, requestedBy }) => <Ago iso={requestedAt} by={requestedBy} />],
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

const Version = ({ id }: { id: string }) => <a href={address("version", { id })}>{id}</a>;

/** The model that a backtest judges, and the one beside it. */
export function BacktestModels({ backtest: { model, against } }: { backtest: BacktestJob }) {
  return (
    <>
      {model.configVersion === null ? "one that is not deployed" : <Version id={model.configVersion} />}
      {against === null ? null : (
        <>
          {" "}
          beside <Version id={against} />
        </>
      )}
    </>
  );
}

import type { BacktestJob } from "../../../http/admin/answers.js";
import { aucText } from "../../../words/backtest.js";
import { address, Ago, Table, Text, TextLink } from "../../parts.js";
import { JobStatus } from "../recomputes/status.js";

/** The address of a backtest's page. */
export const backtestHref = (id: string) => address("backtest", { id });

const COLUMNS = ["Asked for", "Outcome", "Within", "Model", "Status", "AUC of the score"];

/** Backtests as a table. */
export function Backtests({ backtests }: { backtests: readonly BacktestJob[] }) {
  return (
    <Table name="Backtests" columns={COLUMNS.map((heading) => ({ heading }))}>
      {backtests.map((backtest) => {
        const { id, outcome, within, requestedAt, requestedBy, report } = backtest;
        return (
          <tr key={id}>
            <td>
              <Ago iso={requestedAt} /> by <Text>{requestedBy}</Text>
            </td>
            <td>
              <TextLink href={backtestHref(id)} text={outcome} />
            </td>
            <td>{within}</td>
            <td>
              <BacktestModels backtest={backtest} />
            </td>
            <td>
              <JobStatus job={backtest} />
            </td>
            <td>{report === null ? null : aucText(report.models[0]?.health?.auc ?? null)}</td>
          </tr>
        );
      })}
    </Table>
  );
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

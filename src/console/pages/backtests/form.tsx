import type { BacktestJob } from "../../../http/admin/answers.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import { printable } from "../../../words/text.js";
import type { FormValues, Visit } from "../../console-page.js";
import { partNames } from "../../model.js";
import { OneOf, useSent } from "../../forms.js";
import { ChangeForm, showsForm } from "../../changes.js";
import { address } from "../../parts.js";
import type { ApiMutation } from "../../source.js";

const WITHIN = ["30", "60", "90", "180"].map((days) => ({ value: `${days}d`, text: `${days} days` }));
const EVERY = [
  { value: "1d", text: "day" },
  { value: "7d", text: "week" },
  { value: "28d", text: "four weeks" },
];
const CUSTOMERS = [{ value: "2000", text: "about 2,000" }, { value: "20000", text: "about 20,000" }, "all"];

/** The fields of the form. */
export const FORM_FIELDS = ["as", "version", "against", "outcome", "within", "every", "customers"];

/** The field `as` of the form. */
export const BACKTEST = "backtest";

/** Starts the backtest that a filled form asks for, and returns its page. */
export async function beginBacktest(tell: ApiMutation, form: FormValues): Promise<string> {
  const { id } = (await tell("POST backtests", {}, askedBy(form))) as BacktestJob;
  return backtestHref(id);
}

/** The address of a backtest's page. */
export const backtestHref = (id: string) => address("backtest", { id });

/** The body of the API request for a filled form. */
function askedBy({ version, against, outcome, within, every, customers }: FormValues): object {
  return {
    version,
    outcome,
    within,
    every,
    ...(against !== undefined && { against }),
    ...(customers !== "all" && { customers: Number(customers) }),
  };
}

interface BacktestFormProps {
  visit: Visit;
  /** The page that shows the form. */
  path: string;
  version: string;
  /** The model of the version. */
  model: Snapshot;
  /** The version to compare it with. */
  against?: string | null;
}

/** The form that starts a backtest of a version; nothing for users who may not. */
export function BacktestForm({ visit, path, version, model, against = null }: BacktestFormProps) {
  const { environment } = visit;
  if (!showsForm(visit, "create_backtest")) return null;
  const { states, segments } = partNames(model);
  return (
    <ChangeForm
      visit={visit}
      path={path}
      hidden={{ as: BACKTEST, version, against: against ?? undefined }}
      class="filters"
    >
      <label>
        What {version} should predict in {environment}
        <select name="outcome" required>
          <option value="">choose</option>
          <Outcomes kind="state" label="Enters the state" ids={states} />
          <Outcomes kind="segment" label="Enters the segment" ids={segments} />
          <Outcomes kind="event" label="Sends the event" ids={Object.keys(model.events)} />
        </select>
      </label>
      <OneOf label="Within" name="within" value="60d" choices={WITHIN} />
      <OneOf label="Looking every" name="every" value="7d" choices={EVERY} />
      <OneOf label="Customers" name="customers" choices={CUSTOMERS} />
      <button class="second">Backtest it{against === null ? "" : ` and compare with ${against}`}</button>
    </ChangeForm>
  );
}

function Outcomes({ kind, label, ids }: { kind: string; label: string; ids: readonly string[] }) {
  const sent = useSent("outcome");
  if (ids.length === 0) return null;
  return (
    <optgroup label={label}>
      {ids.map((id) => (
        <option value={`${kind}:${id}`} selected={sent === `${kind}:${id}`} key={id}>
          {printable(id)}
        </option>
      ))}
    </optgroup>
  );
}

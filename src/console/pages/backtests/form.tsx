import type { Snapshot } from "../../../model/snapshot/types.js";
import { printable } from "../../../words/text.js";
import type { FormValues, Visit } from "../../console-page.js";
import { partNames } from "../../model.js";
import { OneOf } from "../../forms.js";
import { ChangeForm } from "../../changes.js";

const WITHIN = ["30", "60", "90", "180"].map((days) => ({ value: `${days}d`, text: `${days} days` }));
const EVERY = [
  { value: "1d", text: "day" },
  { value: "7d", text: "week" },
  { value: "28d", text: "four weeks" },
];
const CUSTOMERS = [{ value: "2000", text: "about 2,000" }, { value: "20000", text: "about 20,000" }, "all"];

/** The fields of the form. */
export const FORM_FIELDS = ["version", "against", "outcome", "within", "every", "customers"];

/** The body of the API request for a filled form. */
export function askedBy({ version, against, outcome, within, every, customers }: FormValues): object {
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
  version: string;
  /** The model of the version. */
  model: Snapshot;
  /** The version to compare it with. */
  against?: string | null;
}

/** The form that starts a backtest of a version; nothing for users who may not. */
export function BacktestForm({ visit, version, model, against = null }: BacktestFormProps) {
  const { environment, may } = visit;
  if (!may("create_backtest")) return null;
  const { states, segments } = partNames(model);
  return (
    <ChangeForm visit={visit} path="backtest" hidden={{ version, against: against ?? undefined }} class="filters">
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
  if (ids.length === 0) return null;
  return (
    <optgroup label={label}>
      {ids.map((id) => (
        <option value={`${kind}:${id}`} key={id}>
          {printable(id)}
        </option>
      ))}
    </optgroup>
  );
}

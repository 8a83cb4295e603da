import type { Snapshot } from "../../../model/snapshot/types.js";
import { printable } from "../../../words/text.js";
import type { Filled, Visit } from "../../console-page.js";
import { partNames } from "../../model.js";

const WITHIN = ["30d", "60d", "90d", "180d"];
const EVERY = { "1d": "day", "7d": "week", "28d": "four weeks" };
const CUSTOMERS = { 2000: "about 2,000", 20000: "about 20,000", all: "all" };

/** The fields of the form. */
export const FORM_FIELDS = ["version", "against", "outcome", "within", "every", "customers"];

/** What a filled form asks the API. */
export function askedBy({ version, against, outcome, within, every, customers }: Filled): object {
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
  /** Of the version. */
  model: Snapshot;
  /** The version that is looked at beside it. */
  against?: string | null;
}

/** Begins a backtest of a version, by whoever may. */
export function BacktestForm({ visit, version, model, against = null }: BacktestFormProps) {
  const { environment, may, token } = visit;
  if (!may("create_backtest")) return null;
  const { states, segments } = partNames(model);
  return (
    <form class="filters" method="post" action="backtest">
      {token}
      <input type="hidden" name="version" value={version} />
      {against === null ? null : <input type="hidden" name="against" value={against} />}
      <label>
        What {version} is to foresee in {environment}
        <select name="outcome" required>
          <option value="">choose</option>
          <Outcomes kind="state" label="Comes to the state" ids={states} />
          <Outcomes kind="segment" label="Enters the segment" ids={segments} />
          <Outcomes kind="event" label="Sends the event" ids={Object.keys(model.events)} />
        </select>
      </label>
      <label>
        Within
        <select name="within">
          {WITHIN.map((days) => (
            <option value={days} selected={days === "60d"} key={days}>
              {parseInt(days)} days
            </option>
          ))}
        </select>
      </label>
      <label>
        Looking every
        <select name="every">
          {Object.entries(EVERY).map(([value, text]) => (
            <option value={value} selected={value === "7d"} key={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Customers
        <select name="customers">
          {Object.entries(CUSTOMERS).map(([value, text]) => (
            <option value={value} key={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <button class="second">Backtest it{against === null ? "" : ` beside ${against}`}</button>
    </form>
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

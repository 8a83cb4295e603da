/** The results of one part of a run. */
import { Tally } from "../attacks/tally.js";

const SHOWN_MAX = 600;
/** Limit of findings shown, because one defect may cause thousands. */
const KEPT_MAX = 20;

/** A request with all that is needed to repeat it. */
export interface Attempt {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

export class Part extends Tally {
  slowestMs = 0;
  lost = 0;
  altered = 0;
  /** Values that were stored without having been accepted, or twice. */
  doubled = 0;
  /** Values that were compared. */
  compared = 0;
  memory = 0;
  findings = 0;
  readonly shown: string[] = [];

  constructor(
    readonly name: string,
    readonly seed: number,
  ) {
    super();
  }

  /** Records a finding. */
  found(what: string, attempt: Attempt | null): void {
    this.findings += 1;
    if (this.shown.length >= KEPT_MAX) return;
    const request = attempt === null ? "" : `\n    ${inWords(attempt)}`;
    this.shown.push(`${this.name}, seed ${this.seed}: ${what}${request}`);
  }
}

function inWords({ method = "POST", path, headers = {}, body }: Attempt): string {
  const shown = Object.entries(headers).filter(([name]) => name !== "authorization");
  const sent = body === undefined ? "" : ` ${shortened(JSON.stringify(body.toString("latin1")))}`;
  return `${method} ${shortened(path)} ${JSON.stringify(Object.fromEntries(shown))}${sent}`;
}

export function shortened(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)`;
}

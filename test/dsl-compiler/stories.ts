import type { Effect, StateDocument } from "../../src/engine/index.js";
import { TestClock } from "../../src/local/clock.js";
import { LocalEngine, type LocalModel, type RequestOperation } from "../../src/local/engine.js";

/** A row of a story: what is sent at an instant, the emissions since the row before, and the customer's state after it. */
export interface StoryRow {
  at: string;
  sent: string;
  emissions: string;
  customer: string;
}

/** A story in docs/recipes.md: a table of one customer's operations under one model. */
export interface Story {
  /** The position of its rows in the page, without the head. */
  start: number;
  end: number;
  rows: StoryRow[];
}

export interface Recipe {
  title: string;
  model: string;
  stories: Story[];
}

const HEAD = /^\| when +\| what is sent +\| emissions +\| the customer then +\|\n\|[-| ]+\|\n/gm;
const YEAR = 2026;
const CUSTOMER = "globex";

/** The recipes of the page: every section with a model. */
export function recipesOf(page: string): Recipe[] {
  const sections = [...page.matchAll(/^### (.+)\n((?:(?!^##).*\n?)*)/gm)];
  return sections.map(({ 1: title, 2: text = "", index, 0: { length } }) => {
    const offset = index + length - text.length;
    const models = [...text.matchAll(/^```ts\n(.*?)^```$/gms)];
    if (models.length !== 1) throw new Error(`${title} has ${models.length} models, not one`);
    return { title: title!, model: models[0]![1]!, stories: storiesOf(text, offset) };
  });
}

function storiesOf(text: string, offset: number): Story[] {
  return [...text.matchAll(HEAD)].map(({ index, 0: head }) => {
    const start = index + head.length;
    const lines = /^(?:\|.*\n)*/.exec(text.slice(start))![0];
    const rows = lines.trimEnd().split("\n").map(rowOf);
    return { start: offset + start, end: offset + start + lines.length, rows };
  });
}

function rowOf(line: string): StoryRow {
  const [, at = "", sent = "", emissions = "", customer = ""] = line.split("|").map((cell) => cell.trim());
  return { at, sent, emissions, customer };
}

/** A row as Markdown; `npx oxfmt` aligns it. */
export const markdownOf = ({ at, sent, emissions, customer }: StoryRow): string =>
  `| ${at} | ${sent} | ${emissions} | ${customer} |\n`;

/** Plays a story in the engine, and returns the rows as they should be. */
export function play(model: LocalModel, { rows }: Story): StoryRow[] {
  const clock = new TestClock(instantOf(rows[0]!.at));
  const engine = new LocalEngine(model, { clock, environment: "test", configVersion: null, settleMs: 30_000 });
  return rows.map(({ at, sent }) => {
    clock.moveTo(instantOf(at));
    const changes = engine.advance();
    const operations = operationsOf(sent);
    if (operations.length > 0) changes.push(...engine.accept(operations, "batch").changes);
    const effects = changes.flatMap((change) => change.effects);
    const emissions = effects.flatMap((effect) => emissionsOf(effect, clock.now())).join(", ");
    return { at, sent, emissions, customer: summaryOf(engine.document(CUSTOMER)!) };
  });
}

/** Parses "03-02 10:00", UTC. */
function instantOf(text: string): number {
  const [, month, day, time] = /^(\d\d)-(\d\d) (\d\d:\d\d(?::\d\d)?)$/.exec(text) ?? [];
  const instant = Date.parse(`${YEAR}-${month}-${day}T${time}Z`);
  if (Number.isNaN(instant)) throw new Error(`${JSON.stringify(text)} is not an instant such as 03-02 10:00`);
  return instant;
}

function shortOf(instant: number): string {
  const iso = new Date(instant).toISOString();
  return `${iso.slice(5, 10)} ${iso.slice(11, 16)}${instant % 60_000 === 0 ? "" : iso.slice(16, 19)}`;
}

/** Parses "3 × `login {"user": "ada"}`, `identify {"plan": "pro"}`, `login` of 03-01 08:00". */
function operationsOf(sent: string): RequestOperation[] {
  const pattern = /(?:(\d+) × )?`(\w+)(?: (\{.*?\}))?`(?: of (\d\d-\d\d \d\d:\d\d))?(?:, |$)/y;
  const operations: RequestOperation[] = [];
  while (pattern.lastIndex < sent.length) {
    const match = pattern.exec(sent);
    if (!match) throw new Error(`cannot read what is sent: ${sent}`);
    const [, times = "1", name = "", json = "{}", of] = match;
    const members = JSON.parse(json) as Record<string, unknown>;
    const timestamp = of === undefined ? {} : { timestamp: new Date(instantOf(of)).toISOString() };
    const operation: RequestOperation =
      name === "identify"
        ? { type: "identify", customerId: CUSTOMER, traits: members }
        : { customerId: CUSTOMER, event: name, properties: members, ...timestamp };
    operations.push(...Array<RequestOperation>(Number(times)).fill(operation));
  }
  return operations;
}

/** Everything that a webhook, the timeline or the log of rules would show. */
function emissionsOf(effect: Effect, now: number): string[] {
  const at = effect.at === now ? "" : ` at ${shortOf(effect.at)}`;
  if (effect.kind === "ruleExecuted") return [`rule ${effect.rule}: ${effect.result}${at}`];
  if (effect.kind !== "emission") return [];
  const { journey, step, segment, signal, new_band: band } = effect.metadata;
  const subject = [journey, segment, signal, band].find((name) => name !== undefined);
  const detail = subject === undefined ? "" : ` ${JSON.stringify(subject).slice(1, -1)}`;
  return [`\`${effect.type}\`${detail}${typeof step === "string" ? `/${step}` : ""}${at}`];
}

/** The derived state of a customer, in one line. */
function summaryOf({ lifecycle, segments, journeys, health, signals, evaluatedThrough }: StateDocument): string {
  if (evaluatedThrough === null) throw new Error("the customer was never evaluated");
  const runs = journeys.map(({ journeyId, status, currentStep }) =>
    status === "active" ? `${journeyId} at ${currentStep}` : `${journeyId} ${status}`,
  );
  const scores = Object.entries(health?.components ?? {}).map(([id, score]) => `${id} ${score}`);
  return [
    ...(lifecycle === null ? [] : [`**${lifecycle}**`]),
    ...(segments.length === 0 ? [] : [`in ${segments.join(", ")}`]),
    ...runs,
    ...(health === null ? [] : [`health ${health.overall} (${health.band}): ${scores.join(", ")}`]),
    ...(signals.length === 0 ? [] : [`raised: ${signals.map(({ signalId }) => signalId).join(", ")}`]),
  ].join("; ");
}

/** Types in words, as far as an author's mistake can be told by them. */

/** The language's own types and those of every model, by the name that the type checker prints. */
const NOUNS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  undefined: "nothing",
  null: "null",
  Condition: "a condition",
  PropertyCondition: "a condition on the event's properties",
  OpenCondition: "a condition",
  OpenSequence: "a condition",
  Sequence: "a sequence without the time that it may take",
  Quantity: "a number that is not compared yet",
  ScopedQuantity: "a number that is not compared yet",
  WindowedQuantity: "a number that is not compared yet",
  Days: "a number of days",
  StateTime: "the time in the state",
  Latest: "the latest value of a property",
  ScopedLatest: "the latest value of a property",
  Calculated: "a number that is not compared yet",
  Comparisons: "a number that is not compared yet",
  Severity: 'one of "info", "warning", "critical"',
  Occasion: "what a rule can wait for",
  Trigger: "what a rule can wait for",
  Action: "what a rule can do",
  StepModel: "a step",
  ManualSegment: "a segment without a condition",
  ManualSignal: "a signal without a condition",
  HealthModel: "a health score",
  BandQuestions: "the health band",
  AnyHealth: "a health score",
  Score: "a score",
  Measure: "a number of the customer's",
  Duration: 'a duration such as "15m", "12h", "7d" or "4w"',
  EventModel: "an event",
  AnyEvent: "an event",
  Occurrences: "occurrences of an event",
  Selection: "an event",
  SegmentModel: "a segment",
  JourneyModel: "a journey",
  SignalModel: "a signal",
  LifecycleModel: "a lifecycle",
  AnyLifecycle: "a lifecycle",
  TraitsModel: "traits",
  AnyTraits: "traits",
  Trait: "a trait",
  TraitOperand: "a trait",
  DisplayModel: "a display",
  Model: "a model",
};

/** What a trait or a property is, by the type of its field. */
const VALUES: Readonly<Record<string, string>> = {
  String: "a text",
  Number: "a number",
  Boolean: "true or false",
  Date: "a date",
  Array: "a list",
  Text: "a text",
  Choice: "a text",
  List: "a list",
};

/** What is longer than this is no longer read. */
const LONGEST = 80;

/** A type as the checker prints it, in words where there are some, and shortened. */
export function inWords(printed: string): string {
  const type = withoutLazy(printed.replace(/ \| undefined$/, ""));
  if (/`\$\{number\}[mhdw]`/.test(type)) return NOUNS["Duration"]!;
  const [, field = ""] = /^Trait(?:Operand)?<(\w+)Field\b/.exec(type) ?? [];
  if (Object.hasOwn(VALUES, field)) return `a trait that is ${VALUES[field]}`;
  const [, operand = ""] = /^(\w+)Operand</.exec(type) ?? [];
  if (Object.hasOwn(VALUES, operand)) return `a property that is ${VALUES[operand]}`;
  const choices = choicesOf(type);
  if (choices.length > 1) return `one of ${choices.slice(0, 12).join(", ")}${choices.length > 12 ? ", …" : ""}`;
  if (isFunction(type)) return "a function that is not called";
  const name = typeName(type);
  if (name !== undefined && Object.hasOwn(NOUNS, name)) return NOUNS[name]!;
  return truncate(withoutDetails(type).replace(/^\w+<…>\[\]$/, "a list […]"));
}

/** What a value is that may also be a function which returns it: `Score` of `Lazy<Score>`. */
export function withoutLazy(type: string): string {
  return /^Lazy<([^]*)>$/.exec(type)?.[1] ?? type;
}

export function isFunction(type: string): boolean {
  return /^(?:<.*?>)?\([^]*\) => /.test(type);
}

/** The name of a type without its arguments: `EventModel` of `EventModel<{ … }>`; undefined for a type that has none. */
export function typeName(type: string): string | undefined {
  return /^([A-Za-z_$][\w$]*)(?:<[^]*>)?$/.exec(type)?.[1];
}

/** The members of a union of texts or numbers, as they are written; empty for any other type. */
export function choicesOf(type: string): string[] {
  const members = type.split(" | ");
  return members.every((member) => /^("(?:[^"\\]|\\.)*"|-?\d+(\.\d+)?)$/.test(member)) ? members : [];
}

/** Leaves out what stands in the braces and brackets of a type. */
function withoutDetails(type: string): string {
  let shown = "";
  let depth = 0;
  // An arrow closes nothing.
  for (const part of type.split(/(=>|[{}<>])/)) {
    if (part === "}" || part === ">") depth -= 1;
    if (depth === 0) shown += part;
    if (part === "{" || part === "<") {
      if (depth === 0) shown += "…";
      depth += 1;
    }
  }
  return shown;
}

/** Shortens a text that nobody would read to its end. */
export function truncate(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

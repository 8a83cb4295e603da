/** Describes types in words that an author understands. */

/** Makes a map from a table whose keys are lists of names, separated by spaces. */
export function byNames<Value>(table: readonly (readonly [names: string, value: Value])[]): ReadonlyMap<string, Value> {
  return new Map(table.flatMap(([names, value]) => names.split(" ").map((name) => [name, value] as const)));
}

const DURATION = 'a duration such as "15m", "12h", "7d" or "4w"';

/** Descriptions of TypeScript's basic types and the language's types, by the name that the type checker prints. */
const NOUNS = byNames([
  ["string", "a text"],
  ["number", "a number"],
  ["boolean", "true or false"],
  ["undefined void", "nothing"],
  ["null", "null"],
  ["Condition OpenCondition OpenSequence", "a condition"],
  ["PropertyCondition", "a condition on the event's properties"],
  ["Sequence", "a sequence without the time that it may take"],
  ["Quantity ScopedQuantity WindowedQuantity Calculated Comparisons", "a number that is not compared yet"],
  ["Days", "a number of days"],
  ["StateTime", "the time in the state"],
  ["Latest ScopedLatest", "the latest value of a property"],
  ["Occasion Trigger", "what a rule can wait for"],
  ["Action", "what a rule can do"],
  ["StepModel", "a step"],
  ["StateDefinition", "a state"],
  ["ManualSegment", "a segment without a condition"],
  ["ManualSignal", "a signal without a condition"],
  ["HealthModel AnyHealth", "a health score"],
  ["BandQuestions", "the health band"],
  ["Score", "a score"],
  ["Measure", "a number of the customer's"],
  ["Duration", DURATION],
  ["Start", '"state" or a journey'],
  ["EventModel AnyEvent Selection", "an event"],
  ["Occurrences", "occurrences of an event"],
  ["SegmentModel", "a segment"],
  ["JourneyModel", "a journey"],
  ["SignalModel", "a signal"],
  ["LifecycleModel AnyLifecycle", "a lifecycle"],
  ["TraitsModel AnyTraits", "traits"],
  ["Trait TraitOperand", "a trait"],
  ["DisplayModel", "a display"],
  ["EmissionText", "an object with a message"],
  ["Model", "a model"],
]);

/** Descriptions of a trait's or property's value, by the type of its field. */
const VALUES = byNames([
  ["Any", "a value"],
  ["Scalar", "a single value"],
  ["String Text Choice", "a text"],
  ["Number", "a number"],
  ["Boolean", "true or false"],
  ["Date", "a date"],
  ["Array List", "a list"],
]);

/** What a value of a field is, by the name of the field's type: "a number" for `NumberField`. */
export function valueInWords(field: string): string | undefined {
  return VALUES.get(field.replace(/Field$/, ""));
}

/** The length from which texts are shortened. */
const LONGEST = 80;

/** Describes a type that the checker printed: in words if possible, otherwise shortened. */
export function inWords(printed: string): string {
  const type = withoutLazy(printed.replace(/ \| undefined$/, ""));
  if (/`\$\{number\}[mhdw]`/.test(type)) return DURATION;
  const [, field = ""] = /^Trait(?:Operand)?<(\w+)Field\b/.exec(type) ?? [];
  if (VALUES.has(field)) return `a trait that is ${VALUES.get(field)}`;
  const [, operand = ""] = /^(\w+)Operand</.exec(type) ?? [];
  if (VALUES.has(operand)) return `a property that is ${VALUES.get(operand)}`;
  const choices = choicesOf(type);
  if (choices.length > 1) return `one of ${choices.slice(0, 12).join(", ")}${choices.length > 12 ? ", …" : ""}`;
  if (isFunction(type)) return "a function that is not called";
  const name = typeName(type) ?? typeName(type.split(" & ", 1)[0]!) ?? "";
  if (name.endsWith("Field") && valueInWords(name) !== undefined) return `the type of ${valueInWords(name)}`;
  if (name.endsWith("Constructor")) return `JavaScript's ${name.replace(/Constructor$/, "")}`;
  const noun = NOUNS.get(name);
  return noun ?? truncate(withoutDetails(type).replace(/^(?:readonly )?(?:\w+(?:<…>)?|\([^()]*\))\[\]$/, "a list […]"));
}

/** The type of a value that may also be given as a function: `Score` of `Lazy<Score>`. */
export function withoutLazy(type: string): string {
  return /^Lazy<([^]*)>$/.exec(type)?.[1] ?? type;
}

export function isFunction(type: string): boolean {
  return /^(?:<.*?>)?\([^]*\) => /.test(type);
}

export function isList(type: string): boolean {
  return type.endsWith("[]") && !isFunction(type);
}

/** The name of a type without its arguments: `EventModel` of `EventModel<{ … }>`; undefined for a type that has none. */
export function typeName(type: string): string | undefined {
  return /^([A-Za-z_$][\w$]*)(?:<[^]*>)?$/.exec(type)?.[1];
}

/** The unions to which the checker gives a name. */
const CHOICES = byNames([
  ["Severity", '"info" | "warning" | "critical"'],
  ["JourneyStatus", '"not_started" | "active" | "complete" | "expired"'],
]);

/** The members of a union of texts or numbers, as they are written; empty for any other type. */
export function choicesOf(type: string): string[] {
  const members = (CHOICES.get(type) ?? type).split(" | ");
  return members.every((member) => /^("(?:[^"\\]|\\.)*"|-?\d+(\.\d+)?)$/.test(member)) ? members : [];
}

/** Replaces the contents of a type's braces and angle brackets by `…`. */
function withoutDetails(type: string): string {
  let shown = "";
  let depth = 0;
  // `=>` is split off as a whole, since its `>` closes nothing.
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

/** Shortens a long text. */
export function truncate(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

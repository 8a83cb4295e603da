import type { CompareOperator, Field, Scalar } from "../snapshot/types.js";

/** What a condition speaks of, and the values that it can have at all. */
export interface Subject {
  /** The same for everything that has the same value at every instant. */
  key: string;
  /** As the beginning of a sentence, such as `the trait "plan"`. */
  label: string;
  /** All its values, where they are few. */
  values?: readonly Scalar[];
  least?: number;
  most?: number;
  integer?: true;
  /** Values are dates, which compare as instants. */
  date?: true;
  /** It always has a value; otherwise a comparison with it may fail, and its negation hold, because it has none. */
  always?: true;
  /** What to say of facts that exclude each other, where "is never … and … at once" is not the way to say it. */
  says?: (facts: string[]) => string;
}

/** That the value of a subject compares like this. */
export interface Fact {
  subject: Subject;
  operator: CompareOperator;
  value: Scalar | readonly Scalar[];
  /** Whether there has to be a value for it to hold. */
  present: boolean;
  /** Said after "is", where the operator and the value do not say it. */
  text?: string;
}

/** Why facts about one subject can never hold together; null where they can. */
export function conflict(facts: Fact[]): string | null {
  const { subject } = facts[0]!;
  if (!subject.always && !facts.some(({ present }) => present)) return null;
  if (possible(facts)) return null;
  const alone = facts.find((fact) => !possible([fact]));
  if (alone) return `${subject.label} is never ${said(alone)}`;
  const texts = [...new Set(facts.map(said))];
  return subject.says?.(texts) ?? `${subject.label} is never ${texts.join(" and ")} at once`;
}

/** Whether a subject that has a value can have one that all these facts are true of. */
function possible(facts: Fact[]): boolean {
  const { subject } = facts[0]!;
  const listed = facts.find(({ operator }) => operator === "eq" || operator === "in")?.value;
  const candidates = subject.values ?? (listed === undefined ? undefined : [listed].flat());
  if (candidates)
    return candidates.some((value) => inDomain(value, subject) && facts.every((fact) => meets(value, fact)));
  const { low, high } = rangeOf(facts);
  if (low.at !== high.at) return low.at < high.at;
  return !low.open && !high.open && !facts.some((fact) => isExcluded(low.at, fact));
}

function inDomain(value: Scalar, { least, most, integer }: Subject): boolean {
  if (typeof value !== "number") return true;
  return value >= (least ?? value) && value <= (most ?? value) && (!integer || Number.isInteger(value));
}

function meets(value: Scalar, { operator, value: compared, subject }: Fact): boolean {
  const left = comparable(value, subject);
  const right = [compared].flat().map((one) => comparable(one, subject));
  switch (operator) {
    case "eq":
    case "in":
      return right.includes(left);
    case "ne":
    case "notIn":
      return !right.includes(left);
    case "lt":
      return left < right[0]!;
    case "lte":
      return left <= right[0]!;
    case "gt":
      return left > right[0]!;
    case "gte":
      return left >= right[0]!;
    case "contains":
      return typeof left !== "string" || left.includes(String(right[0]));
  }
}

function isExcluded(value: number, { operator, value: compared, subject }: Fact): boolean {
  if (operator !== "ne" && operator !== "notIn") return false;
  return [compared].flat().some((one) => comparable(one, subject) === value);
}

function comparable(value: Scalar, { date }: Subject): Scalar {
  return date ? Date.parse(String(value)) : value;
}

interface End {
  at: number;
  open: boolean;
}

/** Between which numbers the value lies, as far as orders and equality say. Whole numbers have closed ends. */
export function rangeOf(facts: Fact[]): { low: End; high: End } {
  const { subject } = facts[0]!;
  const range = {
    low: { at: subject.least ?? -Infinity, open: false },
    high: { at: subject.most ?? Infinity, open: false },
  };
  for (const { operator, value: compared } of facts) {
    const value = Array.isArray(compared) ? Number.NaN : comparable(compared as Scalar, subject);
    if (typeof value !== "number" || Number.isNaN(value)) continue;
    if (operator === "gte" || operator === "eq") raise(range, { at: value, open: false });
    if (operator === "gt") raise(range, subject.integer ? { at: value + 1, open: false } : { at: value, open: true });
    if (operator === "lte" || operator === "eq") lower(range, { at: value, open: false });
    if (operator === "lt") lower(range, subject.integer ? { at: value - 1, open: false } : { at: value, open: true });
  }
  return range;
}

function raise(range: { low: End }, end: End): void {
  if (end.at > range.low.at || (end.at === range.low.at && end.open)) range.low = end;
}

function lower(range: { high: End }, end: End): void {
  if (end.at < range.high.at || (end.at === range.high.at && end.open)) range.high = end;
}

const WORDS: Readonly<Record<CompareOperator, string>> = {
  eq: "",
  in: "one of ",
  ne: "other than ",
  notIn: "none of ",
  lt: "less than ",
  lte: "at most ",
  gt: "more than ",
  gte: "at least ",
  contains: "holding ",
};

/** A fact as it is said after "is". */
export function said({ operator, value, text }: Fact): string {
  if (text !== undefined) return text;
  const values = [value].flat().map((one) => JSON.stringify(one));
  const alone = { in: "", notIn: WORDS.ne } as Partial<typeof WORDS>;
  return `${(values.length === 1 ? alone[operator] : undefined) ?? WORDS[operator]}${values.join(", ")}`;
}

const NEGATED: Readonly<Partial<Record<CompareOperator, CompareOperator>>> = {
  eq: "ne",
  ne: "eq",
  in: "notIn",
  notIn: "in",
  lt: "gte",
  lte: "gt",
  gt: "lte",
  gte: "lt",
};

/** Longer lists are not compared with others. */
const VALUES_MAX = 20;

/** A comparison, or its negation. One that fails for want of a value is negated by that, too. */
export function compares(
  subject: Subject,
  node: { operator: CompareOperator; value: Scalar | readonly Scalar[] },
  holds: boolean,
): Fact[] {
  const operator = holds ? node.operator : NEGATED[node.operator];
  if (operator === undefined || (Array.isArray(node.value) && node.value.length > VALUES_MAX)) return [];
  return [
    {
      subject,
      operator,
      value: node.value,
      present:
        operator !== "ne" && operator !== "notIn" && (holds || node.operator === "ne" || node.operator === "notIn"),
    },
  ];
}

/** Something that is one of a few. */
export function isOneOf(subject: Subject, values: readonly Scalar[], holds: boolean): Fact[] {
  return compares(subject, { operator: "in", value: values }, holds);
}

/** That there is a value, or none; where there may be either, nothing is said. */
export function presence(key: string, label: string, there: boolean | undefined): Fact[] {
  if (there === undefined) return [];
  const subject: Subject = { key: `presence of ${key}`, label, values: [true, false], always: true };
  return [{ subject, operator: "eq", value: there, present: true, text: there ? "there" : "missing" }];
}

/** What a comparison says of its subject, and that the subject has a value. */
export function comparesField(
  subject: Subject,
  node: { operator: CompareOperator; value: Scalar | Scalar[] },
  holds: boolean,
): Fact[] {
  const facts = compares(subject, node, holds);
  return [...facts, ...presence(subject.key, subject.label, facts.some(({ present }) => present) || undefined)];
}

export const isDate = (field: Field | undefined) => (field?.type === "date" ? { date: true as const } : {});

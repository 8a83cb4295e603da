import { given } from "../console-page.js";
import { address } from "../parts.js";
import { HiddenFields } from "../forms.js";

/** Since when runs of journeys began that are counted: within this long, or at any time. */
const SPANS = [
  { value: "30d", text: "30 days" },
  { value: "90d", text: "90 days" },
  { value: "365d", text: "a year" },
  { value: "all", text: "any time" },
];

/** What is counted unless something else is asked for. */
const USUAL = "90d";

export function spanIn(query: URLSearchParams): string {
  return given(query, "since") ?? USUAL;
}

/** As the API takes it. */
export function sinceIn(query: URLSearchParams): string | undefined {
  const span = spanIn(query);
  return span === "all" ? undefined : span;
}

/** The choice of the span, of a page; `hidden` is the rest of its query. */
export function SpanForm(props: { path: string; query: URLSearchParams; hidden?: Readonly<Record<string, string>> }) {
  const { path, query, hidden } = props;
  const span = spanIn(query);
  const isKnown = SPANS.some(({ value }) => value === span);
  return (
    <form class="filters" action={path} method="get">
      <HiddenFields of={hidden} />
      <label>
        Begun within
        <select name="since">
          {[...SPANS, ...(isKnown ? [] : [{ value: span, text: span }])].map(({ value, text }) => (
            <option value={value} selected={value === span} key={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <button>Show</button>
    </form>
  );
}

/** The list of a journey's runs, of the same span. */
export function runsHref(
  journeyId: string,
  query: URLSearchParams,
  filters: Readonly<Record<string, string>> = {},
): string {
  return address("journey-runs", { id: journeyId, ...filters, since: spanIn(query) });
}

import { jsonOf, quoted } from "../../../words/text.js";

/** A finding of the check that the protocol's library makes of a message. */
interface Finding {
  path?: readonly (string | number)[];
  expected?: string;
}

const KINDS: Readonly<Record<string, string>> = { record: "an object", object: "an object", string: "a text" };

/** What the protocol's library says of a malformed message, in words: it says it as JSON. Any other text stays as it is. */
export function malformedInWords(said: string): string {
  const at = said.indexOf("[");
  const findings = at < 0 ? undefined : (jsonOf(said.slice(at)) as Finding[] | undefined);
  if (!Array.isArray(findings)) return said;
  const problems = findings.map(({ path = [], expected = "" }) =>
    path.length === 0
      ? "it is no message of JSON-RPC 2.0"
      : `${quoted(path.join("."))} must be ${KINDS[expected] ?? "as the protocol says"}`,
  );
  return `The message is malformed: ${problems.join("; ")}. Call a tool with {"name": …, "arguments": {…}}; tools/list says what each takes.`;
}

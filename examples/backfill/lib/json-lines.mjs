// JSON Lines: an object on each line.
import { RowProblem } from "./mistake.mjs";

/** The rows of a text that comes in chunks: `{ line, text, row }`, or `{ line, text, problem }`. Empty lines are none. */
export async function* readJsonLines(chunks) {
  let number = 0;
  for await (const line of lines(chunks)) {
    number++;
    const text = line.trim();
    if (text !== "") yield { line: number, text, ...parse(text) };
  }
}

async function* lines(chunks) {
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  yield rest;
}

/** Texts and numbers of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Before a number that is read as a text: no text of the service has this character. */
const MARK = "\u0000";

/**
 * The same row, with whole numbers that JSON.parse would round as BigInt. They are ids most often, and two that are rounded to the same would become one
 * customer, or one event.
 */
function exact(text, row) {
  if (!/\d{16}/.test(text)) return row;
  const isRounded = (token) => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
  const marked = text.replaceAll(TOKEN, (token) => (isRounded(token) ? JSON.stringify(MARK + token) : token));
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && /^\0-?\d+$/.test(value) ? BigInt(value.slice(MARK.length)) : value,
  );
}

function parse(text) {
  try {
    const row = exact(text, JSON.parse(text));
    if (typeof row === "object" && row !== null && !Array.isArray(row)) return { row };
    return { problem: new RowProblem("is not a JSON object") };
  } catch (error) {
    return { problem: new RowProblem(`is not JSON: ${error.message}`) };
  }
}

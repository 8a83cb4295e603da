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

function parse(text) {
  try {
    const row = JSON.parse(text);
    if (typeof row === "object" && row !== null && !Array.isArray(row)) return { row };
    return { problem: new RowProblem("is not a JSON object") };
  } catch (error) {
    return { problem: new RowProblem(`is not JSON: ${error.message}`) };
  }
}

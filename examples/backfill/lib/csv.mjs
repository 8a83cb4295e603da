// CSV after RFC 4180: a header, commas, values in double quotes where they need it, lines that end in LF or CRLF.
import { Mistake, RowProblem } from "./mistake.mjs";
import { count } from "./progress.mjs";

/**
 * The rows of a CSV text that comes in chunks: `{ line, text, row }`, or `{ line, text, problem }` of one with too few or too many values.
 * A row has the columns' texts by name; to ask for a column that there is not throws. Throws a Mistake where rows cannot be told apart.
 */
export async function* readCsv(chunks, name) {
  let columns = null;
  for await (const { line, values } of records(chunks, name)) {
    if (columns === null) {
      columns = header(values, name);
      continue;
    }
    if (values.length !== columns.length) {
      const problem = `has ${count(values.length, "value")}, and the header ${count(columns.length, "column")}`;
      yield { line, text: JSON.stringify(values), problem: new RowProblem(problem) };
      continue;
    }
    const row = Object.fromEntries(columns.map((column, index) => [column, values[index]]));
    yield { line, text: JSON.stringify(row), row: strict(row) };
  }
}

function header(values, name) {
  if (values.some((value) => /\r(?!\n)/.test(value)))
    throw new Mistake(`${name}: its lines end in CR alone; make them end in LF`);
  const twice = values.find((column, index) => values.indexOf(column) !== index);
  if (twice !== undefined) throw new Mistake(`${name}: the header has the column "${twice}" twice`);
  if (values.length === 1 && /[;\t]/.test(values[0]))
    throw new Mistake(`${name}: the header is one column, ${JSON.stringify(values[0])}; separate columns by commas`);
  if (values.includes("")) throw new Mistake(`${name}: a column of the header has no name`);
  return values;
}

/** A misspelt column would be undefined in every row. */
function strict(row) {
  return new Proxy(row, {
    get(target, column) {
      if (typeof column === "string" && !Object.hasOwn(target, column) && column !== "toJSON") {
        throw new RowProblem(`there is no column "${column}"; there are ${Object.keys(target).join(", ")}`);
      }
      return target[column];
    },
  });
}

/** The lines with their values. A value in quotes may hold line breaks, so a record may be longer than a line; empty lines are none. */
async function* records(chunks, name) {
  let values = [];
  let value = "";
  let state = "start"; // of a value; or "plain", "quoted", and "closed" after its closing quote
  let line = 1;
  let begun = 1; // the line on which the record begins
  let opened = 1; // the line on which the last quote was opened
  const fail = (at, what) => {
    throw new Mistake(`${name}:${at}: value ${values.length + 1}: ${what}`);
  };
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (character === "\n") line++;
      if (state === "quoted") {
        if (character === '"') state = "closed";
        else value += character;
      } else if (character === '"') {
        if (state === "plain") fail(line, 'a double quote in a value without quotes; write "a ""b"" c"');
        // Two quotes within quotes are one.
        if (state === "closed") value += character;
        else opened = line;
        state = "quoted";
      } else if (character === ",") {
        values.push(value);
        value = "";
        state = "start";
      } else if (character === "\n") {
        // Of CRLF, the CR was taken for a part of a plain value.
        values.push(state === "plain" && value.endsWith("\r") ? value.slice(0, -1) : value);
        if (values.length > 1 || values[0] !== "" || state === "closed") yield { line: begun, values };
        values = [];
        value = "";
        state = "start";
        begun = line;
      } else if (state === "closed") {
        if (character !== "\r") fail(line, `"${character}" after the closing quote; write "a ""b"" c"`);
      } else {
        value += character;
        state = "plain";
      }
    }
  }
  if (state === "quoted") fail(opened, "the quote that is opened here is never closed");
  values.push(state === "plain" && value.endsWith("\r") ? value.slice(0, -1) : value);
  if (values.length > 1 || values[0] !== "" || state === "closed") yield { line: begun, values };
}

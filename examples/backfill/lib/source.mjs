// Where rows come from: a file, standard input, or a command such as psql.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { readCsv } from "./csv.mjs";
import { readJsonLines } from "./json-lines.mjs";
import { Mistake } from "./mistake.mjs";

/**
 * The rows, numbered from 1: `{ number, line, text, row }`, or with a `problem` instead of the row. `text` is the same whenever the row is.
 * Throws a Mistake where the source cannot be read to its end, and where it has no rows.
 */
export async function* readRows(source) {
  const { name, format } = source;
  const chunks = decode(read(source), name);
  let number = 0;
  for await (const record of format === "csv" ? readCsv(chunks, name) : readJsonLines(chunks)) {
    number++;
    yield { number, ...record };
  }
  if (number === 0) throw new Mistake(`${name} has no rows`);
}

async function* read({ file, command, name }) {
  if (command !== null) return yield* output(command, name);
  if (file === "-") return yield* process.stdin;
  try {
    yield* createReadStream(file);
  } catch (error) {
    throw new Mistake(`cannot read ${file}: ${error.message}`);
  }
}

/** What a command prints. One that fails may have left out rows, which looks like the end. */
async function* output(command, name) {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  closed.catch(() => undefined);
  try {
    yield* child.stdout;
    const [code, signal] = await closed;
    if (code !== 0) throw new Mistake(`the command of ${name} failed (${signal ?? `exit code ${code}`}), see above`);
  } finally {
    // Of no effect where it has ended.
    child.kill();
  }
}

/** Text of UTF-8; a byte order mark is left out. */
async function* decode(bytes, name) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const told = (chunk, options) => {
    try {
      return decoder.decode(chunk, options);
    } catch {
      throw new Mistake(`${name} is not UTF-8 after line ${line}; convert it, with iconv for one`);
    }
  };
  for await (const chunk of bytes) {
    if (line === 1 && chunk[0] === 0x1f && chunk[1] === 0x8b)
      throw new Mistake(`${name} is compressed; uncompress it first, or name --command "gunzip -c …"`);
    // By line, so that the place of a bad byte can be told.
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(0x0a, from);
      const to = end === -1 ? chunk.length : end + 1;
      yield told(chunk.subarray(from, to), { stream: true });
      if (end !== -1) line++;
      from = to;
    }
  }
  yield told(undefined, {});
}

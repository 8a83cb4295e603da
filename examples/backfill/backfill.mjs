// Sends the history that you have to svc: rows of a CSV or JSON Lines file, or of a query, in batches, each row once, however often this is
// killed and started again. It needs nothing but Node.js 20; mapping.mjs is the file to edit. See README.md.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Administration } from "./lib/administration.mjs";
import { readArguments, USAGE } from "./lib/arguments.mjs";
import { readCheckpoint, SourceDigest, targetOf, writeCheckpoint } from "./lib/checkpoint.mjs";
import { lock } from "./lib/lock.mjs";
import { Mistake } from "./lib/mistake.mjs";
import { readOperations } from "./lib/operations.mjs";
import { count, Progress } from "./lib/progress.mjs";
import { Rejects } from "./lib/rejects.mjs";
import { send } from "./lib/sender.mjs";
import { Tally } from "./lib/tally.mjs";

/** Far below what the service takes, for proxies that take less; a request that is lost is not much to send again. */
const BODY_CHARACTERS_MAX = 4_000_000;
const PROBLEMS_SHOWN = 10;

/** To start it again with the same arguments does not help. */
class OtherRows extends Mistake {}

/** Somebody pressed Ctrl+C. */
class Stopped extends Error {}

async function main(options, signal) {
  const toOperation = await loadMapping(options.mapping);
  const total = options.isFile || options.isCheck ? await check(options, toOperation, signal) : options.total;
  if (options.isCheck) return;
  const { admin } = options.target;
  const administration = admin === null ? null : new Administration(options.target, { tries: options.tries, signal });
  const { tally, acceptedBefore, isLocal } = await backfill(options, toOperation, total, administration, signal);
  if (administration === null) {
    // Without an operation there is nothing that a recompute or the console could show.
    if (tally.isEmpty) return;
    const { environment, url } = options.target;
    console.log(
      isLocal
        ? `Next, see where the customers stand now: ${url}/console`
        : `Next, read the histories again, a dry run first:\n  svc recompute --all --dry-run --env ${environment}`,
    );
    return;
  }
  if (options.recompute !== null) {
    await administration.evaluated();
    await administration.recompute(options.recompute);
  }
  await compare(options, administration, tally, acceptedBefore);
}

/** Reads and maps everything before anything is sent. Returns the number of rows. */
async function check(options, toOperation, signal) {
  const problems = [];
  const tally = new Tally(options.sum, { keys: options.isCheck });
  let rows = 0;
  let wrong = 0;
  for await (const record of readOperations(options.source, toOperation, options)) {
    signal.throwIfAborted();
    rows++;
    if (record.problem === undefined) tally.add(record.operation);
    else if (++wrong <= PROBLEMS_SHOWN) problems.push(`  ${place(options, record)}: ${record.problem.message}`);
  }
  if (wrong > 0 && options.skipRejected === null) {
    if (wrong > problems.length) problems.push(`  and ${count(wrong - problems.length)} more`);
    throw new Mistake(
      `${count(wrong)} of ${count(rows, "row")} cannot be sent, so none was:\n${problems.join("\n")}\nCorrect them, or send the others with --skip-rejected <file>`,
    );
  }
  tally.requireSum();
  if (options.isCheck) {
    tally.rejected = wrong;
    console.log(`${options.source.name} can be sent: ${count(rows, "row")}`);
    tell(tally);
  }
  return rows;
}

/** Sends what the checkpoint does not have yet. Returns what the source comes to. */
async function backfill(options, toOperation, total, administration, signal) {
  const { source, target, checkpoint: file } = options;
  await lock(file);
  const identity = { source: source.name, target: targetOf(target.url, target.apiKey) };
  const checkpoint = readCheckpoint(file, identity);
  const { rows: done, digest: doneDigest } = checkpoint;
  const rejects = openRejects(options, checkpoint);
  if (done === 0 && checkpoint.acceptedBefore === null && administration !== null)
    checkpoint.acceptedBefore = (await administration.overview()).events.accepted;
  // Before anything is sent: a checkpoint that cannot be written is noticed now.
  writeCheckpoint(file, checkpoint);
  rejects?.open();

  const tally = new Tally(options.sum);
  const digest = new SourceDigest();
  const progress = new Progress({ unit: "rows", total, first: done });
  let batch = [];
  let characters = 0;
  let rows = 0;

  const reject = (record, reason) => {
    if (rejects === null) throw new Mistake(`${place(options, record)}: ${reason}`);
    rejects.add(record, reason);
  };
  const flush = async () => {
    const onRejected = rejects === null ? null : reject;
    const sending = { ...options, signal, note: (text) => progress.note(text), onRejected };
    if (checkpoint.rows === 0 && checkpoint.acceptedBefore === 0) warnOfTraitsFirst(batch);
    const answer = await send(batch, { ...sending, place: (record) => place(options, record) });
    for (const { operation } of answer.accepted) tally.add(operation);
    checkpoint.isLocal ||= answer.isLocal;
    batch = [];
    characters = 0;
    // Everything up to here has its 202, or is among the rejected rows.
    Object.assign(checkpoint, { rows, digest: digest.value() }, rejects && { rejects: rejects.state() });
    writeCheckpoint(file, checkpoint);
    progress.update(rows);
    signal.throwIfAborted();
  };

  try {
    for await (const record of readOperations(source, toOperation, options)) {
      const { number, text, operation, problem } = record;
      if (number <= done) {
        signal.throwIfAborted();
        rows = number;
        digest.add(text);
        if (number === done) goOn(options, digest.value() === doneDigest, done, total);
        if (problem === undefined && !rejects?.rows.has(number)) tally.add(operation);
        continue;
      }
      const length = operation ? JSON.stringify(operation).length : 0;
      if (batch.length === options.batch || characters + length > BODY_CHARACTERS_MAX) await flush();
      rows = number;
      digest.add(text);
      if (problem !== undefined) reject(record, problem.message);
      else if (operation === null) tally.add(null);
      else {
        batch.push(record);
        characters += length;
      }
    }
    if (rows < done) goOn(options, false, done, total);
    await flush();
  } catch (error) {
    progress.end();
    const mayGoOn = error instanceof Stopped || (error instanceof Mistake && !(error instanceof OtherRows));
    throw mayGoOn ? tellPlace(error, checkpoint, total) : error;
  } finally {
    rejects?.close();
  }
  progress.end();
  tally.rejected = rejects?.rows.size ?? 0;
  console.log(`Done: ${count(rows, "row")}${total === null || total === rows ? "" : ` (${count(total)} expected)`}`);
  tell(tally);
  if (tally.rejected > 0) console.log(`  see ${options.skipRejected}`);
  return { tally, acceptedBefore: checkpoint.acceptedBefore, isLocal: checkpoint.isLocal };
}

/** A customer that begins with traits begins now. So its history, when it comes, is late, and is evaluated as if it happened now. */
function warnOfTraitsFirst(batch) {
  if (batch.length > 0 && batch.every(({ operation }) => operation.type === "identify"))
    console.error(
      "backfill: warning: no customer has events yet, so a history that follows these traits comes late; send events first",
    );
}

function openRejects({ skipRejected }, checkpoint) {
  // Of no rejected rows it binds no file either.
  const { rejects: known } = checkpoint;
  if (known?.rows.length === 0 && known.file !== resolve(skipRejected ?? "")) checkpoint.rejects = null;
  if (skipRejected === null) {
    if (checkpoint.rejects !== null)
      throw new Mistake(`rows were rejected before; name their file again: --skip-rejected ${checkpoint.rejects.file}`);
    return null;
  }
  const rejects = new Rejects(skipRejected, checkpoint.rejects);
  checkpoint.rejects = { ...rejects.state() };
  return rejects;
}

/** Says from where it goes on. Throws a Mistake where the rows before are not those that were sent. */
function goOn({ source, checkpoint }, isSame, done, total) {
  if (isSame) {
    console.log(`Going on after row ${count(done)}${total === null ? "" : ` of ${count(total)}`}`);
    return;
  }
  throw new OtherRows(
    `the first ${count(done)} rows of ${source.name} are not those that ${checkpoint} tells of; put the source back as it was, or remove the checkpoint to begin again`,
  );
}

/** Adds to the message from where it will go on. */
function tellPlace(error, { rows }, total) {
  const all = total === null ? "" : ` of ${count(total)}`;
  error.message += `${error.message === "" ? "Stopped" : "\nStopped"} after row ${count(rows)}${all}; start it again with the same arguments to go on`;
  return error;
}

/** What the service has now. Of other senders it knows no difference, so theirs count, too. */
async function compare({ target }, administration, tally, before) {
  const { events, customers } = await administration.overview();
  const waiting = events.pending - events.ahead;
  const notYet = `so far: ${count(waiting, "operation")} ${waiting === 1 ? "is" : "are"} not evaluated yet`;
  console.log(`${target.admin.project} in ${target.environment}`);
  if (before !== null) {
    const more = `${count(events.accepted - before)} more than before the backfill`;
    const same =
      events.accepted - before === tally.events ? "as many as were sent" : `${count(tally.events)} were sent`;
    console.log(`  ${"events".padEnd(15)} ${count(events.accepted)}, ${more}: ${same}`);
  } else console.log(`  ${"events".padEnd(15)} ${count(events.accepted)}`);
  console.log(`  ${"customers".padEnd(15)} ${count(customers)}${waiting > 0 ? ` ${notYet}` : ""}`);
}

function tell(tally) {
  for (const [name, value] of tally.figures()) console.log(`  ${name.padEnd(15)} ${value}`);
}

function place({ source }, { line }) {
  return `${source.name}:${line}`;
}

async function loadMapping(file) {
  try {
    const { toOperation } = await import(pathToFileURL(file).href);
    if (typeof toOperation === "function") return toOperation;
  } catch (error) {
    throw new Mistake(`cannot load the mapping ${file}: ${error.message}`);
  }
  throw new Mistake(`the mapping ${file} exports no function toOperation(row)`);
}

const stop = new AbortController();
// The request under way is waited for. Pressed again, it ends at once, which is as safe.
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stop.abort(new Stopped("")));

try {
  const options = readArguments(process.argv.slice(2), process.env);
  if (options.help) console.log(USAGE);
  else await main(options, stop.signal);
} catch (error) {
  if (!(error instanceof Mistake || error instanceof Stopped)) throw error;
  if (error instanceof Stopped) console.log(error.message || "Stopped");
  else console.error(`backfill: ${error.message}`);
  process.exitCode = error instanceof Stopped ? 130 : 1;
}

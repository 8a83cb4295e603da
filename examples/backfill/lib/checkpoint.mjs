// How far a backfill came, in a small file. It is written when everything before it has been accepted, and never half.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Mistake } from "./mistake.mjs";

const FORMAT = "svc backfill checkpoint 1";
const BEGIN_AGAIN = "remove it to begin again; what was sent is recognized by its keys";

/**
 * The checkpoint in `file`, or a new one: `{ source, target, rows, digest, rejects, acceptedBefore, isLocal }`. `rows` are done, `digest`
 * is what SourceDigest makes of them, `isLocal` says that `svc dev` took them. Throws a Mistake where the file tells of rows of another source
 * or another target, or is no checkpoint.
 */
export function readCheckpoint(file, { source, target }) {
  const found = read(file);
  if (found === null) {
    const digest = new SourceDigest().value();
    return { format: FORMAT, source, target, rows: 0, digest, rejects: null, acceptedBefore: null, isLocal: false };
  }
  const isOther = found.source !== source || found.target !== target;
  // Of no rows it binds nothing: a key, an address or a name that is corrected is no other backfill.
  if (found.rows === 0 && isOther) return { ...found, source, target, acceptedBefore: null };
  if (found.source !== source) {
    throw new Mistake(
      `${file} is the checkpoint of "${found.source}", not of "${source}"; name another with --checkpoint, or ${BEGIN_AGAIN}`,
    );
  }
  if (found.target !== target) {
    throw new Mistake(
      `${file} is the checkpoint of a backfill to ${found.target}, not to ${target}; name another with --checkpoint, or ${BEGIN_AGAIN}`,
    );
  }
  return found;
}

function read(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw new Mistake(`cannot read the checkpoint ${file}: ${error.message}`);
  }
  try {
    const found = JSON.parse(text);
    if (isCheckpoint(found)) return found;
  } catch {
    // Said below.
  }
  throw new Mistake(`${file} is no checkpoint, or a damaged one; ${BEGIN_AGAIN}`);
}

function isCheckpoint({ format, rows, digest, rejects, acceptedBefore }) {
  const isRejects = (known) =>
    typeof known.file === "string" && Number.isInteger(known.bytes) && Array.isArray(known.rows);
  return (
    format === FORMAT &&
    Number.isInteger(rows) &&
    rows >= 0 &&
    typeof digest === "string" &&
    (rejects === null || isRejects(rejects)) &&
    (acceptedBefore === null || Number.isInteger(acceptedBefore))
  );
}

/** Replaces the file: a crash leaves the one before or this one, whole and on the disk. */
export function writeCheckpoint(file, checkpoint) {
  const next = `${file}.next`;
  try {
    const descriptor = openSync(next, "w", 0o600);
    try {
      writeFileSync(descriptor, `${JSON.stringify(checkpoint, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, file);
    syncDirectory(dirname(file));
  } catch (error) {
    throw new Mistake(
      `cannot write the checkpoint ${file}: ${error.message}; what was accepted is safe, so make room and start again`,
    );
  }
}

function syncDirectory(directory) {
  // Windows has no such thing, and does not need it.
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A digest of the rows so far: tells the same rows from others, wherever they come from. */
export class SourceDigest {
  #hash = createHash("sha256");

  add(text) {
    this.#hash.update(text).update("\n");
  }

  value() {
    return this.#hash.copy().digest("hex");
  }
}

/** Names service, environment and key. Not the key itself: the checkpoint is no secret. */
export function targetOf(url, apiKey) {
  const [beginning = ""] = /^svc_(test|live)_/.exec(apiKey) ?? [];
  return `${url} with the key ${beginning}… (${createHash("sha256").update(apiKey).digest("hex").slice(0, 8)})`;
}

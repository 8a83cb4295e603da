import { randomBytes } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { link, lstat, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure, UserError } from "../core/errors.js";
import { cancellable } from "./interruption.js";

/**
 * Creates a directory and its parents, and returns the outermost one that it created; undefined if all existed. Not with `recursive`, which
 * never ends on a file system that takes no directories, such as /proc (Node.js 20).
 */
export function makeDirectory(directory: string, mode = 0o777): string | undefined {
  if (isDirectory(directory)) return undefined;
  const above = makeDirectory(path.dirname(directory), mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (isDirectory(directory)) return above;
    throw error;
  }
  return above ?? directory;
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

type Parts = AsyncIterable<Uint8Array> | Iterable<string>;

/**
 * Writes a temporary file beside the target, so that nobody ever reads a partial file; removes it on failure. Its name cannot be guessed,
 * and an existing file is never written to: a link could lead elsewhere, and a file could be readable by others.
 * `place` moves the complete file to its target.
 */
export async function writeBeside(
  file: string,
  parts: Parts,
  mode: number,
  place: (partial: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const name = `.${path.basename(file)}.${randomBytes(6).toString("hex")}.partial`;
  const partial = path.join(path.dirname(file), name);
  const handle = await open(partial, "wx", mode);
  try {
    try {
      await writeFile(handle, parts, { signal });
      await handle.sync();
    } finally {
      await handle.close();
    }
    signal?.throwIfAborted();
    await place(partial);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Writes a file atomically, over an existing one, and creates its folder. @throws {UserError} FILE_NOT_WRITTEN; CANCELLED if interrupted */
export async function replaceFile(file: string, text: string): Promise<void> {
  const place = (partial: string) => rename(partial, file);
  await cancellable((signal) =>
    writing(file, async () => {
      makeDirectory(path.dirname(file));
      await writeBeside(file, [text], 0o666, place, signal);
    }),
  );
}

/** The mark that some editors put before a text; it is not part of the text. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Replaces a file's text atomically, keeping its mode, if the file still contains the text that was read. @returns whether it did
 * @throws {UserError} FILE_NOT_WRITTEN; CANCELLED if interrupted
 */
export async function replaceUnchanged(file: string, before: string, after: string): Promise<boolean> {
  let isUnchanged = false;
  const replace = async (signal: AbortSignal): Promise<void> => {
    // A symbolic link stays one.
    const target = await realpath(file);
    const { mode } = await stat(target);
    const mark = (await readFile(target, "utf8")).startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const place = async (partial: string): Promise<void> => {
      // As late as possible: an editor may save the file meanwhile.
      isUnchanged = (await readFile(target, "utf8")) === mark + before;
      await (isUnchanged ? rename(partial, target) : rm(partial));
    };
    await writeBeside(target, [mark + after], mode & 0o777, place, signal);
  };
  const outcome = { state: "it is unchanged", fix: "make room, or make it and its folder writable for you" };
  await cancellable((signal) => writing(file, () => replace(signal), outcome));
  return isUnchanged;
}

/**
 * Writes a new file part by part, readable by its owner only; it appears once complete. @throws {UserError} FILE_EXISTS, FILE_NOT_WRITTEN;
 * what parts throw
 */
export async function createFile(file: string, parts: Parts, signal?: AbortSignal): Promise<void> {
  await refuseExisting(file);
  const place = async (partial: string): Promise<void> => {
    try {
      await link(partial, file);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw exists(file);
      if (!NO_LINKS.has(code)) throw error;
      await refuseExisting(file);
      return rename(partial, file);
    }
    await rm(partial);
  };
  await writing(file, () => writeBeside(file, parts, 0o600, place, signal));
}

/** @throws {UserError} FILE_EXISTS if something of that name exists. */
export async function refuseExisting(file: string): Promise<void> {
  if (await lstat(file).catch(() => null)) throw exists(file);
}

const NOTHING_LEFT = { state: "nothing was left there", fix: "make room, or name a place that you may write to" };

/** Runs work that writes a file. @param outcome the file's state after a failure, and what to do */
async function writing(file: string, work: () => Promise<void>, outcome = NOTHING_LEFT): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `${file} could not be written (${code ?? message}); ${outcome.state}`;
    throw failure("FILE_NOT_WRITTEN", reason, outcome.fix, error);
  }
}

function exists(file: string): UserError {
  return failure("FILE_EXISTS", `${file} already exists`, "name another file, or remove it");
}

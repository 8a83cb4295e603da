import { randomBytes } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { link, lstat, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure, UserError } from "../core/errors.js";
import { cancellable } from "./interruption.js";

/**
 * Makes a directory and those above it, and returns the outermost one that it made; undefined where all were there. Not by `recursive`, which
 * never ends where the file system takes no directories, as in /proc (Node.js 20).
 */
export function makeDirectory(directory: string, mode = 0o777): string | undefined {
  if (isDirectory(directory)) return undefined;
  const above = makeDirectory(path.dirname(directory), mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Somebody else may have made it in between.
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
 * Writes a file beside the one that it is to be, so that nobody ever reads a part of it; leaves nothing where that fails. Nobody can know
 * its name before, and what is there already is not written to: a link would lead elsewhere, a file be readable for others.
 * `place` puts the file, which is whole then, where it belongs.
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

/** File systems that know no hard links say so by one of these. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Writes a file and its folder as a whole or not at all, over what was there. @throws {UserError} FILE_NOT_WRITTEN; CANCELLED where it was interrupted */
export async function replaceFile(file: string, text: string): Promise<void> {
  const place = (partial: string) => rename(partial, file);
  await cancellable((signal) =>
    writing(file, async () => {
      makeDirectory(path.dirname(file));
      await writeBeside(file, [text], 0o666, place, signal);
    }),
  );
}

/** The mark that some editors put before a text, which is not part of it. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Writes a text over a file as a whole, with its mode, if the file still holds the one that was read. @returns whether it did
 * @throws {UserError} FILE_NOT_WRITTEN; CANCELLED where it was interrupted
 */
export async function replaceUnchanged(file: string, before: string, after: string): Promise<boolean> {
  let isUnchanged = false;
  const replace = async (signal: AbortSignal): Promise<void> => {
    // A link stays one.
    const target = await realpath(file);
    const { mode } = await stat(target);
    const mark = (await readFile(target, "utf8")).startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const place = async (partial: string): Promise<void> => {
      // As late as can be: an editor may save it meanwhile.
      isUnchanged = (await readFile(target, "utf8")) === mark + before;
      await (isUnchanged ? rename(partial, target) : rm(partial));
    };
    await writeBeside(target, [mark + after], mode & 0o777, place, signal);
  };
  const outcome = { left: "it is as it was", fix: "make room, or let yourself write to it and to its folder" };
  await cancellable((signal) => writing(file, () => replace(signal), outcome));
  return isUnchanged;
}

/** Writes a new file part by part, for its owner only; it is there once all parts are. @throws {UserError} FILE_EXISTS, FILE_NOT_WRITTEN; what parts throw */
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

/** @throws {UserError} FILE_EXISTS where there is something of that name. */
export async function refuseExisting(file: string): Promise<void> {
  const isThere = await lstat(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw exists(file);
}

const NOTHING_LEFT = { left: "nothing was left there", fix: "make room, or name a place that you may write to" };

/** Does what writes a file. @param outcome what becomes of the file where that fails, and what to do */
async function writing(file: string, work: () => Promise<void>, outcome = NOTHING_LEFT): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const what = `${file} could not be written (${code ?? message}); ${outcome.left}`;
    throw failure("FILE_NOT_WRITTEN", what, outcome.fix, error);
  }
}

function exists(file: string): UserError {
  return failure("FILE_EXISTS", `${file} is there already`, "name another file, or remove it");
}

import { link, lstat, rename, rm } from "node:fs/promises";
import path from "node:path";

import { UserError } from "./errors.js";
import type { LocalCode } from "./errors.js";
import { cancellable } from "./interruption.js";
import { makeDirectory } from "./make-directory.js";
import { writeBeside } from "./write-beside.js";

/** File systems that know no hard links say so by one of these. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Writes a file and its folder as a whole or not at all, over what was there.
 *
 * @throws {UserError} FILE_NOT_WRITTEN; CANCELLED where it was interrupted
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const place = (partial: string): Promise<void> => rename(partial, file);
  await cancellable(async (signal) => {
    try {
      makeDirectory(path.dirname(file));
    } catch (error) {
      throw notWritten(file, error);
    }
    await written(file, [text], { mode: 0o666, place, signal });
  });
}

/**
 * Writes a file part by part, readable for its owner only; it is there once all parts are. What is there already stays as it is.
 *
 * @param signal ends the writing
 * @throws {UserError} FILE_EXISTS, FILE_NOT_WRITTEN; what the parts throw
 */
export async function createFile(file: string, parts: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
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
  await written(file, parts, { mode: 0o600, place, signal });
}

/** @throws {UserError} FILE_EXISTS where there is something of that name. */
export async function refuseExisting(file: string): Promise<void> {
  const isThere = await lstat(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw exists(file);
}

/** Writes the file as a whole, and says where that fails. */
async function written(
  file: string,
  parts: AsyncIterable<Uint8Array> | Iterable<string>,
  beside: Parameters<typeof writeBeside>[2],
): Promise<void> {
  // What the parts throw is no failure of the file.
  let failure: { of: unknown } | undefined;
  async function* told() {
    try {
      yield* parts;
    } catch (error) {
      failure = { of: error };
      throw error;
    }
  }
  try {
    await writeBeside(file, told(), beside);
  } catch (error) {
    if (failure !== undefined) throw failure.of;
    throw error instanceof UserError ? error : notWritten(file, error);
  }
}

function exists(file: string): UserError {
  return new UserError(
    "FILE_EXISTS" satisfies LocalCode,
    `${file} is there already`,
    "name another file, or remove it",
  );
}

function notWritten(file: string, error: unknown): UserError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new UserError(
    "FILE_NOT_WRITTEN" satisfies LocalCode,
    `${file} could not be written (${code ?? message}); nothing was left there`,
    "make room, or name a place that you may write to",
    {},
    error,
  );
}

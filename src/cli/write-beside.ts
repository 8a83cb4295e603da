import { randomBytes } from "node:crypto";
import { open, rm, writeFile } from "node:fs/promises";
import path from "node:path";

interface Beside {
  /** Of the file. */
  mode: number;
  /** Puts the file, which is whole then, where it belongs. */
  place: (partial: string) => Promise<void>;
  /** Ends the writing. */
  signal?: AbortSignal | undefined;
}

/**
 * Writes a file beside the one that it is to be, so that nobody ever reads a part of it; leaves nothing where that fails. Nobody can know
 * its name before, and what is there already is not written to: a link would lead elsewhere, a file be readable for others.
 */
export async function writeBeside(
  file: string,
  parts: AsyncIterable<Uint8Array | string> | Iterable<string>,
  { mode, place, signal }: Beside,
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

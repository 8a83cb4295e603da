/** A small disk for the data directory, which can be filled. */
import { execFile } from "node:child_process";
import { open, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** What is left to fill is given away in pieces of this size, and then of one byte. */
const PIECE = 1024 * 1024;

export class SmallDisk {
  private constructor(private readonly directory: string) {}

  /** Mounts one of so many bytes at a directory; answers why, where that cannot be had. */
  static async mount(directory: string, bytes: number): Promise<SmallDisk | string> {
    if (process.platform !== "linux" || process.getuid?.() !== 0)
      return "a file system of a size is mounted by root only";
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0711`, "tmpfs", directory]);
    } catch (error) {
      const said = (error as { stderr?: string }).stderr?.trim();
      return `mount failed: ${said === undefined || said === "" ? (error as Error).message : said}`;
    }
    return new SmallDisk(directory);
  }

  /** Takes all that is free. */
  async fill(): Promise<void> {
    const file = await open(this.#filler, "a");
    try {
      for (let piece = PIECE; piece >= 1; piece = piece > 1 ? Math.floor(piece / 16) : 0)
        while (await written(file.write(Buffer.alloc(piece))));
    } finally {
      await file.close();
    }
  }

  async free(): Promise<void> {
    await rm(this.#filler, { force: true });
  }

  async unmount(): Promise<void> {
    await run("umount", [this.directory]);
  }

  get #filler(): string {
    return path.join(this.directory, "filler");
  }
}

/** Whether something was written; false once the disk is full. */
async function written(writing: Promise<{ bytesWritten: number }>): Promise<boolean> {
  try {
    return (await writing).bytesWritten > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}

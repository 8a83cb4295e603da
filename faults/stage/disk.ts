/** A small disk for the data directory, which can be filled. */
import { execFile } from "node:child_process";
import { open, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** The disk is filled in pieces of this size, then in smaller ones down to a byte. */
const PIECE = 1024 * 1024;

export class SmallDisk {
  private constructor(private readonly directory: string) {}

  /** Mounts a disk of `bytes` at a directory; returns the reason if that is impossible. */
  static async mount(directory: string, bytes: number): Promise<SmallDisk | string> {
    if (process.platform !== "linux" || process.getuid?.() !== 0)
      return "only root can mount a file system of limited size";
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0711`, "tmpfs", directory]);
    } catch (error) {
      const output = (error as { stderr?: string }).stderr?.trim();
      return `mount failed: ${output === undefined || output === "" ? (error as Error).message : output}`;
    }
    return new SmallDisk(directory);
  }

  /** Uses all free space. */
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

// Rows that were not sent, each on a line with the reason, for whoever corrects them.
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Mistake } from "./mistake.mjs";

/**
 * The file, as the checkpoint knows it: `{ file, bytes, rows }`, what was rejected until then. What a run wrote after its last checkpoint
 * is cut off, because it comes again. Throws a Mistake where the file is not the one that the checkpoint tells of.
 */
export class Rejects {
  #descriptor;
  #bytes;

  constructor(name, known) {
    const file = resolve(name);
    const { bytes = 0, rows = [] } = known ?? {};
    if (known !== null && known.file !== file)
      throw new Mistake(`rejected rows are in ${known.file}; name the same file again`);
    const size = existsSync(file) ? statSync(file).size : 0;
    if (known === null && size > 0) throw new Mistake(`${name} is there already; name a new file for rejected rows`);
    if (size < bytes)
      throw new Mistake(`${name} has lost rejected rows since the checkpoint; remove the checkpoint to begin again`);
    this.file = file;
    this.rows = new Set(rows);
    this.#bytes = bytes;
  }

  /** To be called once the checkpoint knows of the file. */
  open() {
    this.#writing(() => {
      this.#descriptor = openSync(this.file, "a");
      ftruncateSync(this.#descriptor, this.#bytes);
    });
  }

  add({ number, line, text }, reason) {
    this.rows.add(number);
    const json = `${JSON.stringify({ row: number, line, reason, source: text })}\n`;
    this.#writing(() => writeFileSync(this.#descriptor, json));
    this.#bytes += Buffer.byteLength(json);
  }

  /** What the checkpoint is to know. Everything is on the disk then. */
  state() {
    if (this.#descriptor !== undefined) this.#writing(() => fsyncSync(this.#descriptor));
    return { file: this.file, bytes: this.#bytes, rows: [...this.rows] };
  }

  #writing(write) {
    try {
      write();
    } catch (error) {
      throw new Mistake(`cannot write rejected rows to ${this.file}: ${error.message}`);
    }
  }

  /** Leaves no file where nothing was rejected. */
  close() {
    closeSync(this.#descriptor);
    if (this.#bytes === 0) rmSync(this.file, { force: true });
  }
}

// How far it is: one line that is written anew on a terminal, otherwise a line every few seconds.
const EVERY_MS = 5_000;

export class Progress {
  #begun = performance.now();
  #told = performance.now();
  #done = 0;
  #noted = "";
  #isOpen = false;

  /** @param unit what is counted, in the plural @param total how many there are; null where nobody knows @param first how many were done before */
  constructor({ output = process.stdout, unit = "", total = null, first = 0 } = {}) {
    Object.assign(this, { output, unit, total, first });
    this.#done = first;
  }

  update(done) {
    this.#done = done;
    this.show(this.#text());
  }

  show(text) {
    if (this.output.isTTY) {
      // A line that is longer than the terminal could not be written anew.
      this.output.write(`\r\u001b[2K${text.slice(0, (this.output.columns ?? 80) - 1)}`);
      this.#isOpen = true;
    } else if (performance.now() - this.#told >= EVERY_MS) {
      this.#told = performance.now();
      this.output.write(`${text}\n`);
    }
  }

  /** Something that slows it down. The same is not told twice in a row. */
  note(text) {
    if (text === this.#noted) return;
    this.#noted = text;
    this.end();
    this.output.write(`${text}\n`);
  }

  /** To be called before anything else is printed: the cursor is at the beginning of a line then. */
  end() {
    if (this.#isOpen) this.output.write("\n");
    this.#isOpen = false;
  }

  #text() {
    const seconds = (performance.now() - this.#begun) / 1_000;
    const rate = (this.#done - this.first) / Math.max(seconds, 0.001);
    const parts = [`${count(this.#done)}${this.total === null ? "" : ` of ${count(this.total)}`} ${this.unit}`];
    if (this.total !== null) parts.push(`${Math.floor((this.#done / Math.max(1, this.total)) * 100)} %`);
    parts.push(`${count(Math.round(rate))} a second`);
    const left = (this.total ?? 0) - this.#done;
    if (left > 0 && rate > 0) parts.push(`about ${duration(left / rate)} left`);
    return parts.join(", ");
  }
}

/** 12345 as 12,345; with a unit as 12,345 rows, or 1 row. */
export function count(number, unit) {
  const text = number.toLocaleString("en-US");
  return unit === undefined ? text : `${text} ${unit}${number === 1 ? "" : "s"}`;
}

function duration(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
